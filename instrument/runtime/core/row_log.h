// The log itself (rows.h): what device code has written into it, and going through that access by access.
#pragma once

#include "instrument/runtime/core/block_pattern.h"
#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/known_rows.h"
#include "instrument/runtime/core/row_cells.h"
#include "instrument/runtime/core/row_groups.h"
#include "instrument/runtime/core/row_repeats.h"
#include "instrument/runtime/core/row_words.h"

#include <vector>

namespace kcheck::runtime {

Word* mapRows();

/// A write as replay() takes it back and does it again.
struct Content {
  Address address;
  std::uint32_t bytes;
  std::byte content[16];
};

/// What a warp has logged between two of its waits.
struct RowLog {
  Word* rows = mapRows();
  Word* spill =
      mapRows(); ///< where a lane goes on whose rows are used up; what lies there is checked, not counted
  ThreadState* lanes = nullptr;
  std::uint32_t count = 0;
  std::uint8_t order[kWarpSize];
  std::uint32_t checked[kWarpSize]; ///< rows, in `rows` and then in `spill`
  bool spills = false;              ///< some lane has gone on in `spill`; what follows is known only then
  std::uint32_t kept[kWarpSize];    ///< rows in `rows` of each such lane; kNotFull
  std::uint64_t lost[kWarpSize];    ///< accesses that are not counted
  bool stopped = false;             ///< the warp has, and `end` tells where its logs end
  bool even = false;                ///< and they have all used as many rows
  const Word* end[kWarpSize];
  bool settled = false;           ///< some rows have been checked before the warp stopped
  ThreadState* partial = nullptr; ///< is within a segment at `partialAt`, of which `partialDone` are logged
  const Word* partialAt = nullptr;
  std::uint32_t partialDone = 0;
  std::vector<Content> contents;

  static constexpr std::uint32_t kNotFull = ~std::uint32_t{0};

  bool withinSegment() const { return partial && partialAt == (stopped ? end[partial->lane] : partial->log); }
  bool spilled(std::uint32_t lane) const { return spills && kept[lane] != kNotFull; }
  std::uint32_t rowsFrom(const Word* start, std::uint32_t lane) const {
    return static_cast<std::uint32_t>(((stopped ? end[lane] : lanes[lane].log) - start) / abi::kLogLanes);
  }
  /// The warp has stopped: keeps where its logs end and clears them. Whether there is anything in them.
  bool stop() {
    const Word* first = lanes->log;
    bool uneven = spills;
    for (std::uint32_t lane = 1; lane < count; ++lane) uneven |= lanes[lane].log != first + lane;
    even = !uneven;
    stopped = true;
    for (std::uint32_t lane = 0; lane < count; ++lane) end[lane] = uneven ? lanes[lane].log : first + lane;
    if (even && first == rows) return settled || partial;
    for (std::uint32_t lane = 0; lane < count; ++lane) lanes[lane].log = rows + lane;
    return true;
  }
  std::uint32_t used(std::uint32_t lane) const { return spilled(lane) ? kept[lane] : rowsFrom(rows, lane); }
};

/// What the fast way through logs needs besides them, and how it fares.
struct RowChecks {
  RowCells cells;
  RowGroups groups;
  std::vector<RowInStep> inStep;
  RowLanes lanes{~std::uint32_t{0}}; ///< those of the last row
  KnownRows known;
  SeriesTable series;
  RowRepeats repeats;
  BlockPattern pattern;
  std::uint32_t apart = 0;             ///< warps of this launch whose lanes had to be followed
  std::uint32_t lost = 0;              ///< and those of them for which that was in vain
  std::uint64_t tried = 0, failed = 0; ///< warps of this launch, and those that had to be replayed
  /// The fast way is not worth trying.
  bool hopeless() const { return failed > 16 && 2 * failed > tried; }
  bool follows() const { return apart && (lost < 4 || 4 * lost < apart); }
};

inline const abi::ModuleEntry& module() { return *context().modules.front(); }

inline const abi::LogSegment& segmentAt(Word word) { return module().segments[word >> 48]; }

/// Of an access: what lies between its address and the logged one.
inline Address distanceOf(const abi::LoggedAccess& access, const LaunchState& launch) {
  return launch.distances[access.distance] + static_cast<Address>(std::int64_t{access.offset});
}

inline Address addressOf(const abi::LoggedAccess& access, const Word* segment, const LaunchState& launch) {
  return (segment[std::size_t{access.row} * abi::kLogLanes] & kAddressBits) + distanceOf(access, launch);
}

/// The accesses of one lane from row `from` to `to`, in their order: visit(access, row of the segment).
template <class Visit>
void eachAccess(const Word* column, std::uint32_t from, std::uint32_t to, Visit visit) {
  for (std::uint32_t row = from; row < to;) {
    const Word* at = column + std::size_t{row} * abi::kLogLanes;
    const abi::LogSegment& segment = segmentAt(*at);
    for (std::uint32_t i = 0; i < segment.count; ++i) visit(module().accesses[segment.first + i], at);
    row += segment.rows;
  }
}

inline std::uint64_t accessesIn(const Word* column, std::uint32_t rows) {
  std::uint64_t count = 0;
  eachAccess(column, 0, rows, [&](const abi::LoggedAccess&, const Word*) { ++count; });
  return count;
}

/// Everything unchecked, one by one, with memory as it was at each of them.
void replay(RowLog& log);
/// Memory as it was before what is unchecked.
void takeBack(RowLog& log);

/// The fast way: the checks when `checking`, and what the accesses cost when `counting`. False: the log needs
/// a replay.
bool checkRows(LaunchState& launch, RowChecks& checks, const RowLog& log, const RowWindow& window,
               bool checking, SiteTraffics* counting);
} // namespace kcheck::runtime
