#include "instrument/runtime/core/row_groups.h"

namespace kcheck::runtime {

std::uint32_t RowGroups::makeGroup(std::uint32_t segment) {
  if (used == groups.size()) groups.emplace_back();
  RowGroup& group = groups[used];
  group.segment = segment;
  group.mask = 0;
  group.next = kNoGroup;
  return used++;
}

void RowGroups::addLane(std::uint32_t lane, const Word* column, std::uint32_t from, std::uint32_t to,
                        const abi::LogSegment* segments) {
  ++laneRound;
  std::uint32_t least = 0; // where the next group has to be for the order to be kept
  bool ordered = inOrder, again = metAgain;
  for (std::uint32_t row = from; row < to;) {
    std::uint32_t at = row;
    auto segment = static_cast<std::uint32_t>(column[std::size_t{at} * abi::kLogLanes] >> 48);
    row += segments[segment].rows;
    Met& here = met[segment];
    again |= here.taken == round;
    if (here.round != round) {
      here.round = round;
      here.first = kNoGroup;
    }
    bool isFirst = here.lane != laneRound;
    std::uint32_t group = isFirst ? here.first : groups[here.last].next;
    if (group == kNoGroup) {
      group = makeGroup(segment);
      (isFirst ? here.first : groups[here.last].next) = group;
    }
    here.lane = laneRound;
    here.last = group;
    ordered &= group >= least;
    least = group + 1;
    groups[group].mask |= 1u << lane;
    groups[group].row[lane] = static_cast<std::uint16_t>(at);
  }
  inOrder = ordered;
  metAgain = again;
}

} // namespace kcheck::runtime
