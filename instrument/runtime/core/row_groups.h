// Brings the lanes of a warp that went different ways together again: the other half of rows.h's order.
#pragma once

#include "instrument/runtime/core/rows.h"

#include <vector>

namespace kcheck::runtime {

using Word = std::uint64_t; ///< of the log

/// Lanes that have been at one segment equally often: one row of a warp whose lanes went different ways.
struct RowGroup {
  std::uint32_t segment, mask;
  const Word* at[kWarpSize];
};

/// Brings the segments of diverged lanes together by how often each lane has been there.
class RowGroups {
public:
  void begin(std::size_t segments) {
    if (met.size() < segments) met.resize(segments);
    used = 0;
    inOrder = true;
    metAgain = false;
    ++round;
  }
  /// Some lanes have been at the segment together already: adding it makes meetsAgain() true.
  void take(std::uint32_t segment) { met[segment].taken = round; }
  bool meetsAgain() const { return metAgain; }
  void beginLane() {
    ++laneRound;
    last = 0;
  }
  void add(std::uint32_t lane, std::uint32_t segment, const Word* at) {
    Met& here = met[segment];
    metAgain |= here.taken == round;
    if (here.round != round) {
      here.round = round;
      here.groups.clear();
    }
    if (here.lane != laneRound) {
      here.lane = laneRound;
      here.times = 0;
    }
    std::uint32_t time = here.times++;
    if (time == here.groups.size()) {
      here.groups.push_back(used);
      if (used == groups.size()) groups.emplace_back();
      groups[used].segment = segment;
      groups[used++].mask = 0;
    }
    std::uint32_t group = here.groups[time];
    inOrder &= group >= last;
    last = group + 1;
    groups[group].mask |= 1u << lane;
    groups[group].at[lane] = at;
  }
  /// Each lane's segments are in the order of the groups.
  bool keepsOrder() const { return inOrder; }
  const RowGroup* begin() const { return groups.data(); }
  const RowGroup* end() const { return groups.data() + used; }

private:
  struct Met {
    std::uint64_t round = 0, lane = 0, taken = 0;
    std::uint32_t times = 0;
    std::vector<std::uint32_t> groups;
  };
  std::vector<Met> met; ///< by segment
  std::vector<RowGroup> groups;
  std::uint64_t round = 0, laneRound = 0;
  std::uint32_t used = 0, last = 0;
  bool inOrder = true, metAgain = false;
};

/// Lanes of a warp that are still at the same row of the log.
struct RowInStep {
  std::uint32_t row, mask;
};

} // namespace kcheck::runtime
