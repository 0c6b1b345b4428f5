// Brings the lanes of a warp that went different ways together again: the other half of rows.h's order.
#pragma once

#include "instrument/runtime/core/rows.h"

#include <vector>

namespace kcheck::runtime {

using Word = std::uint64_t; ///< of the log

/// Lanes that have been at one segment equally often: one row of a warp whose lanes went different ways.
struct RowGroup {
  std::uint32_t segment, mask;
  std::uint32_t next;           ///< of those that have been there once more; kNoGroup
  std::uint16_t row[kWarpSize]; ///< of the log, by lane
};
static_assert(abi::kLogBytes / abi::kLogRowBytes + abi::kLargestSegment <= 1 << 16);
inline constexpr std::uint32_t kNoGroup = ~std::uint32_t{0};

/// Brings the segments of diverged lanes together by how often each lane has been there.
class RowGroups {
public:
  void begin(std::size_t segments) {
    if (met.size() < segments) met.resize(segments);
    used = 0;
    inOrder = true;
    metAgain = someMatter = false;
    ++round;
  }
  /// Some lanes have been at the segment together already: adding it makes meetsAgain() true.
  void take(std::uint32_t segment) { met[segment].taken = round; }
  bool meetsAgain() const { return metAgain; }
  /// All that the lane has logged from row `from` on; `column` is its first word.
  void addLane(std::uint32_t lane, const Word* column, std::uint32_t from, std::uint32_t to,
               const abi::LogSegment* segments);
  /// All that lanes have logged from row `from` on, by following them through the code together, those first
  /// that are behind: each lane's segments are in order. False, and of no use, where that does not count as
  /// addLane() does.
  bool follow(const Word* rows, const std::uint32_t* ends, std::uint32_t from,
              const abi::LogSegment* segments);
  /// After follow(): the groups before this one are in order, and do not count where countsApart().
  std::uint32_t inOrderUpTo() const { return followed; }
  bool countsApart(std::uint32_t segment) const { return met[segment].apart; }
  /// The segment does something whose order matters.
  void takeNote(std::uint32_t segment) {
    met[segment].matters = round;
    someMatter = true;
  }
  bool matters(std::uint32_t segment) const { return met[segment].matters == round; }
  bool anyMatters() const { return someMatter; }
  /// Each lane's segments are in the order of the groups.
  bool keepsOrder() const { return inOrder; }
  const RowGroup* begin() const { return groups.data(); }
  const RowGroup* end() const { return groups.data() + used; }

private:
  struct Met {
    std::uint64_t round = 0, lane = 0, taken = 0, matters = 0;
    std::uint32_t first, last; ///< group; of the lane's visits so far
    std::uint32_t always;      ///< follow(): the lanes that have been there each time
    bool apart;                ///< follow(): some lane has not, and came again
  };
  std::vector<Met> met; ///< by segment
  std::vector<RowGroup> groups;
  std::uint64_t round = 0, laneRound = 0;
  std::uint32_t used = 0, followed = 0;
  bool inOrder = true, metAgain = false, someMatter = false;
  std::uint32_t makeGroup(std::uint32_t segment);
  bool countApart();
};

/// Lanes of a warp that are still at the same row of the log.
struct RowInStep {
  std::uint32_t row, mask;
};

} // namespace kcheck::runtime
