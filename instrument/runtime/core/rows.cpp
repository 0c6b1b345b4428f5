// The fast way through the log of a warp: row by row, all lanes of a row at once.
#include "instrument/runtime/core/rows.h"

#include "instrument/runtime/core/access.h"
#include "instrument/runtime/core/metrics.h"
#include "instrument/runtime/core/row_log.h"
#include "instrument/runtime/core/row_words.h"
#include "instrument/runtime/core/share.h"

#include <algorithm>
#include <bit>

namespace kcheck::runtime {

namespace {

/// Goes over the rows of a warp that has stopped: their checks when `checking`, and what they cost.
class Rows {
public:
  Rows(LaunchState& launch, RowChecks& checks, const RowLog& log, const RowWindow& window, bool checking,
       SiteTraffics* counting)
      : launch(launch), work(checks), log(log), segments(module().segments), accesses(module().accesses),
        window(window), checking(checking), counting(counting) {}

  /// False when the checks need a replay.
  bool run() {
    work.repeats.forget();
    measure();
    RowLanes& lanes = work.lanes;
    std::uint32_t row = 0;
    while (row < longest) {
      std::uint32_t active = row < shortest ? all : lanesBeyond(used, row);
      const Word* words = log.rows + std::size_t{row} * abi::kLogLanes;
      if (!sameSegment(words, active)) break;
      if (lanes.mask != active) lanes = RowLanes(active);
      const abi::LogSegment& segment = segments[words[std::countr_zero(active)] >> 48];
      visitSegment(segment, words, lanes);
      row += segment.rows;
    }
    if (row < longest) diverge(row);
    if (checking && !failed) work.cells.commit();
    if (failed) work.cells.undo();
    return !failed;
  }

private:
  LaunchState& launch;
  RowChecks& work;
  const RowLog& log;
  const abi::LogSegment* segments;
  const abi::LoggedAccess* accesses;
  RowWindow window;
  bool checking, failed = false;
  SiteTraffics* counting;                           ///< null: what the accesses cost is nobody's question
  bool allQuiet = false;                            ///< all accesses of the group so far, if that is of use
  std::uint32_t used[kWarpSize]{};                  ///< rows, by lane
  std::uint32_t all = 0, longest = 0, shortest = 0; ///< of the lanes that use any
  double weight = 1;

  void measure() {
    for (std::uint32_t lane = 0; lane < log.count; ++lane) used[lane] = log.used(lane);
    RowExtent extent = extentOf(used);
    all = extent.lanes;
    longest = extent.longest;
    shortest = extent.shortest;
    if (!log.spills) return;
    std::uint64_t lost = 0, kept = 0;
    for (std::uint32_t lane = 0; lane < log.count; ++lane) {
      lost += log.lost[lane];
      kept += accessesIn(log.rows + lane, used[lane]);
    }
    weight = 1 + double(lost) / double(kept);
  }

  /// One segment of lanes that are together.
  void visitSegment(const abi::LogSegment& segment, const Word* words, const RowLanes& lanes) {
    visit(
        segment, lanes,
        [&](std::uint32_t row, Address* at) {
          const Word* here = words + std::size_t{row} * abi::kLogLanes;
          if (lanes.count == kWarpSize) return addressesOf(here, at);
          addressesOf(here, lanes, at);
        },
        checking, true);
  }

  void visitGroup(const RowGroup& group, bool checks, bool costs) {
    const RowLanes lanes(group.mask);
    const Word* words[kWarpSize];
    for (std::uint32_t i = 0; i < lanes.count; ++i) {
      std::uint32_t lane = lanes.lane[i];
      words[i] = log.rows + std::size_t{group.row[lane]} * abi::kLogLanes + lane;
    }
    visit(
        segments[group.segment], lanes,
        [&](std::uint32_t row, Address* at) {
          std::size_t distance = std::size_t{row} * abi::kLogLanes;
          addressesOf(lanes.count, [&](std::uint32_t i) { return words[i][distance]; }, at);
        },
        checks, costs);
  }

  /// `addressesOf` (row, at) gives the addresses logged in one row of the segment. Accesses that share one
  /// share its shape.
  template <class AddressesOf>
  void visit(const abi::LogSegment& segment, const RowLanes& lanes, AddressesOf addressesOf, bool checks,
             bool costs) {
    const SegmentSeries& series =
        work.series.of(static_cast<std::uint32_t>(&segment - segments), runtime::module());
    SeriesDone done;
    if (!series.all().empty()) done = visitSeries(series, lanes, addressesOf, checks, costs);
    KnownRows& known = work.known;
    known.begin();
    const KnownRow* scattered = nullptr; ///< the last one that was looked at closely
    for (std::uint32_t i = 0; i < segment.count; ++i) {
      std::uint64_t bit = series.of(i) < 64 ? std::uint64_t{1} << series.of(i) : 0;
      bool toCheck = checks && !failed && !(done.checked & bit),
           toCount = costs && counting && !(done.counted & bit);
      if (!toCheck && !toCount && !allQuiet) continue;
      const abi::LoggedAccess& access = accesses[segment.first + i];
      if (!toCount && isPlainlyQuiet(access, lanes, addressesOf)) continue;
      KnownRow& row = known.row(segment, access.row);
      if (!known.isRead(row, segment, access.row)) {
        if (scattered == &row) scattered = nullptr;
        addressesOf(access.row, row.room());
        take(row, segment, access, lanes, scattered);
      } else if (row.bytes != access.bytes) {
        look(row, lanes, access.bytes, scattered);
      }
      const Address* at = row.at();
      alignas(64) Address moved[kWarpSize];
      if (Address distance = distanceOf(access, launch)) {
        shifted(row.at(), distance, moved);
        at = moved;
      }
      allQuiet = allQuiet && access.kind == abi::SiteKind::Read && isQuiet(access, at, lanes, row.shape);
      if (toCheck && !isQuiet(access, at, lanes, row.shape)) check(access, at, lanes, row.shape);
      if (!toCount) continue;
      addCost(access, at, lanes,
              known.costOf(access, segment.first + i, row, [&] { return costOf(access, row, at, lanes); }),
              1);
    }
  }

  /// The row is the one whose addresses lie in its room. In most kernels it has the shape of the last one.
  void take(KnownRow& row, const abi::LogSegment& segment, const abi::LoggedAccess& access,
            const RowLanes& lanes, const KnownRow*& other) {
    bool same = row.segment == &segment && row.number == access.row && row.mask == lanes.mask &&
                row.bytes == access.bytes && row.liesTheSame();
    row.take();
    row.repeats = same;
    work.known.markRead(row);
    if (same) {
      row.shape.origin = row.at()[0];
      return;
    }
    row.segment = &segment;
    row.number = access.row;
    row.mask = lanes.mask;
    look(row, lanes, access.bytes, other);
  }

  /// Finds the row's shape: that of `other` where it lies in the same way, as arrays with one index do.
  void look(KnownRow& row, const RowLanes& lanes, std::uint32_t bytes, const KnownRow*& other) {
    work.known.newPattern(row);
    row.repeats = false;
    if (other && other->bytes == bytes && sameAtEnds(other->at(), row.at()) &&
        sameBesides(other->at(), row.at())) {
      row.bytes = other->bytes;
      row.shape = other->shape;
      row.shape.origin = row.at()[0];
      row.costKnown = other->costKnown;
      row.cost = other->cost;
      return;
    }
    row.bytes = static_cast<std::uint8_t>(bytes);
    classify(row.shape, row.at(), lanes, bytes);
    row.costKnown = false;
    if (row.shape.shape == RowShape::Other) other = &row;
  }

  static KnownCost costOf(const abi::LoggedAccess& access, KnownRow& row, const Address* at,
                          const RowLanes& lanes) {
    // Banks go round: words of shared memory cost the same at any distance. Others do at some sectors'
    // distance.
    bool shared = inShared(at[0]);
    Address unit = shared ? 4 : kSector;
    if (at != row.at() && (shared != inShared(row.at()[0]) || (at[0] - row.at()[0]) % unit))
      return {costOfRow(at, lanes, access.bytes, shared, row.shape), turnsAt(access, at, lanes, row.shape)};
    if (!row.costKnown)
      row.cost = !shared && row.shape.shape == RowShape::Other && row.shape.isAligned(at[0], access.bytes)
                     ? costOfScattered(row.shape, access.bytes)
                     : costOfRow(at, lanes, access.bytes, shared, row.shape);
    row.costKnown = true;
    return {row.cost, turnsAt(access, at, lanes, row.shape)};
  }

  /// Series, by number.
  struct SeriesDone {
    std::uint64_t checked = 0, counted = 0;
  };

  /// What can be said of all reads of a series at once: those of shared memory, whose banks go round, so that
  /// all cost the same.
  template <class AddressesOf>
  SeriesDone visitSeries(const SegmentSeries& all, const RowLanes& lanes, AddressesOf addressesOf,
                         bool checks, bool costs) {
    SeriesDone done;
    std::uint64_t bit = 1;
    for (const RowSeries& series : all.all()) {
      alignas(64) Address at[kWarpSize];
      addressesOf(series.first->row, at);
      Reach reach = reachOf(at);
      Address low = reach.low + static_cast<Address>(std::int64_t{series.lowest}),
              high =
                  reach.high + static_cast<Address>(std::int64_t{series.highest}) + series.first->bytes - 1;
      bool aligned =
          reach.isAligned(static_cast<Address>(std::int64_t{series.first->offset}), series.first->bytes);
      if (inShared(low) && inShared(high) && low <= high && aligned) {
        RowClass shape;
        classify(shape, at, lanes, series.first->bytes);
        if (checks && !failed) {
          auto result = work.cells.checkSeries(window, series, at, lanes, shape);
          failed = result == RowCells::SeriesCheck::Failed;
          if (result == RowCells::SeriesCheck::Settled) done.checked |= bit;
        }
        // Where accesses were lost, each one is weighed by itself.
        if (costs && counting && weight == 1) {
          addCost(*series.first, at, lanes,
                  {costOfRow(at, lanes, series.first->bytes, inShared(at[0]), shape), 0}, series.count);
          done.counted |= bit;
        }
      }
      if (!(bit <<= 1)) break;
    }
    return done;
  }

  /// Of an atomic: how many lanes meet at the address where most do.
  static std::uint32_t turnsAt(const abi::LoggedAccess& access, const Address* at, const RowLanes& lanes,
                               const RowClass& shape) {
    const abi::SiteInfo* site = access.kind == abi::SiteKind::Atomic ? context().site(access.site) : nullptr;
    if (!site || site->kind != abi::SiteKind::Atomic) return 0;
    std::uint32_t positions = ~std::uint32_t{0} >> (kWarpSize - lanes.count);
    bool apart = shape.shape == RowShape::Other && shape.first == positions; // often no two lanes meet
    return apart ? 1 : turnsOf(at, positions);
  }

  void addCost(const abi::LoggedAccess& access, const Address* at, const RowLanes& lanes,
               const KnownCost& cost, std::uint32_t times) {
    addTraffic(*counting, slotsOf(launch), access.site, at[0], cost.request, cost.turns, lanes.count,
               access.bytes, weight, times);
  }

  /// Whether the access needs no look at the shadow.
  bool isQuiet(const abi::LoggedAccess& access, const Address* at, const RowLanes& lanes,
               const RowClass& shape) {
    if (!launch.quiet.any()) return false;
    bool isRun = shape.shape == RowShape::Contiguous || shape.shape == RowShape::Uniform ||
                 (shape.shape == RowShape::Other && shape.ascending && shape.isAligned(at[0], access.bytes));
    if (access.kind == abi::SiteKind::Read) return launch.quiet.cover(at, lanes.count, access.bytes, isRun);
    launch.quiet.noteWrite(at, lanes.count, access.bytes, isRun);
    return false;
  }

  /// The same without a look at the row's shape.
  template <class AddressesOf>
  bool isPlainlyQuiet(const abi::LoggedAccess& access, const RowLanes& lanes, AddressesOf addressesOf) {
    if (access.kind != abi::SiteKind::Read || !launch.quiet.any()) return false;
    alignas(64) Address at[kWarpSize];
    addressesOf(access.row, at);
    if (Address distance = distanceOf(access, launch)) shifted(at, distance, at);
    return launch.quiet.cover(at, lanes.count, access.bytes, false);
  }

  void check(const abi::LoggedAccess& access, const Address* at, const RowLanes& lanes,
             const RowClass& shape) {
    if (access.kind == abi::SiteKind::Read) {
      if (shape.shape == RowShape::Other && work.repeats.again(access, at, lanes)) return;
    } else {
      work.repeats.forget();
    }
    if (access.kind == abi::SiteKind::Atomic) rememberScope(access);
    failed = launch.share ? !launch.share->check(window, access, at, lanes, shape)
                          : !work.cells.check(window, access, at, lanes, shape);
  }

  void rememberScope(const abi::LoggedAccess& access) {
    std::vector<std::uint8_t>& scopes = launch.atomicScope;
    std::uint16_t site = narrowSite(access.site);
    if (scopes.size() <= site) scopes.resize(site + 1u);
    scopes[site] = static_cast<std::uint8_t>(AtomicOrder{access.order}.scope());
  }

  /// From here on lanes go different ways. Those that stay longest in what comes first in the code, a loop,
  /// are in step as before; the others wait for them.
  void diverge(std::uint32_t row) {
    std::uint32_t from[kWarpSize];
    work.groups.begin(module().segmentCount);
    goOn(row, from);
    group(from);
    if (work.groups.meetsAgain()) { // lanes that waited come by the same place: it is one request for all
      work.inStep.clear();
      work.groups.begin(module().segmentCount);
      std::fill_n(from, kWarpSize, row);
      group(from);
    }
    RowLanes& lanes = work.lanes;
    for (const RowInStep& step : work.inStep) {
      const Word* words = log.rows + std::size_t{step.row} * abi::kLogLanes;
      if (lanes.mask != step.mask) lanes = RowLanes(step.mask);
      visitSegment(segments[words[lanes.lane[0]] >> 48], words, lanes);
    }
    bool outOfOrder = checking && !failed && !work.groups.keepsOrder();
    for (const RowGroup& group : work.groups) {
      allQuiet = outOfOrder;
      visitGroup(group, checking && !outOfOrder, true);
      if (outOfOrder && !allQuiet) work.groups.takeNote(group.segment);
    }
    allQuiet = false;
    if (!outOfOrder || !work.groups.anyMatters()) return;
    bool wereQuiet = launch.quiet.any();
    checkInOrder(from);
    // A write has led into one of the arrays: reads of it may matter.
    if (wereQuiet && !launch.quiet.any()) failed = true;
  }

  /// Fills log.inStep from `row` on, and says where each lane goes on after that.
  void goOn(std::uint32_t row, std::uint32_t* from) {
    constexpr std::uint32_t none = ~std::uint32_t{0};
    work.inStep.clear();
    std::fill_n(from, kWarpSize, row);
    std::uint32_t active = lanesBeyond(used, row);
    std::uint32_t waiting = none; ///< the first segment that somebody waits at
    auto leave = [&](std::uint32_t leaving) {
      for (; leaving; leaving &= leaving - 1) from[std::countr_zero(leaving)] = row;
    };
    while (active) {
      const Word* words = log.rows + std::size_t{row} * abi::kLogLanes;
      FirstSegment first = firstSegment(words, active);
      if (first.segment >= waiting) return leave(active);
      waiting = std::min(waiting, first.next);
      leave(active & ~first.mask);
      work.inStep.push_back({row, first.mask});
      work.groups.take(first.segment);
      row += segments[first.segment].rows;
      active = first.mask & lanesBeyond(used, row);
      leave(first.mask & ~active);
    }
  }

  /// Counts what the lanes do from there on by segment and how often a lane has been there. Checked the same
  /// way where that keeps the order of each lane's accesses.
  void group(const std::uint32_t* from) {
    // The longest first: what its loop does after the others have left then comes before what follows the
    // loop.
    std::uint32_t rows[kWarpSize]{};
    std::uint8_t order[kWarpSize];
    for (std::uint32_t lane = 0; lane < log.count; ++lane) rows[lane] = used[lane] - from[lane];
    longestFirst(rows, order);
    for (std::uint32_t lane : order) {
      if (!rows[lane]) return;
      work.groups.addLane(lane, log.rows + lane, from[lane], used[lane], segments);
    }
  }

  /// Where the groups do not keep the order of what matters: lanes that are at the same segment take it
  /// together, the first segment of the code first, so that those who went another way can catch up. `at`:
  /// where each lane is.
  void checkInOrder(std::uint32_t* at) {
    constexpr std::uint32_t kDone = ~std::uint32_t{0};
    std::uint32_t segment[kWarpSize];
    auto look = [&](std::uint32_t lane) {
      for (; at[lane] < used[lane]; at[lane] += segments[segment[lane]].rows) {
        const Word* word = log.rows + std::size_t{at[lane]} * abi::kLogLanes + lane;
        segment[lane] = static_cast<std::uint32_t>(*word >> 48);
        if (work.groups.matters(segment[lane])) return;
      }
      segment[lane] = kDone;
    };
    for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) look(lane);
    RowGroup group;
    while (!failed) {
      const LowestLanes lowest = lowestLanes(segment);
      if (lowest.value == kDone) return;
      group.segment = lowest.value;
      group.mask = lowest.mask;
      const abi::LogSegment& taken = segments[group.segment];
      for (std::uint32_t left = group.mask; left; left &= left - 1) {
        auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        group.row[lane] = static_cast<std::uint16_t>(at[lane]);
        at[lane] += taken.rows;
        look(lane);
      }
      visitGroup(group, true, false);
    }
  }
};

} // namespace

bool checkRows(LaunchState& launch, RowChecks& checks, const RowLog& log, const RowWindow& window,
               bool checking, SiteTraffics* counting) {
  return Rows(launch, checks, log, window, checking, counting).run();
}

} // namespace kcheck::runtime
