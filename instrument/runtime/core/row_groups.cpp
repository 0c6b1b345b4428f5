#include "instrument/runtime/core/row_groups.h"

#include "instrument/runtime/core/vectors.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace kcheck::runtime {

namespace {

constexpr std::uint32_t kNowhere = ~std::uint32_t{0};
constexpr std::uint32_t kMostFollowed = 1u << 15; ///< groups

/// Where the lanes are that are followed.
struct Followed {
  std::uint32_t at[kWarpSize], used[kWarpSize]; ///< rows
  std::uint32_t after[kWarpSize];               ///< 1 + the segment that the lane has been at last; 0: none
  std::uint32_t key[kWarpSize];                 ///< the least comes next; its low half is the segment
};

/// The lanes that go on next.
struct Chosen {
  std::uint32_t segment, mask;
};

/// Keys of all lanes are found faster than those of some.
const bool kGathersWell = hasConflicts();

/// Lanes that have come back to a segment, in a loop, wait for those that are still in the same turn of it.
/// Else the first segment of the code comes first.
KCHECK_INLINE std::uint32_t keyOf(std::uint32_t lane, const Word* rows, const Followed& lanes,
                                  const abi::LogSegment* segments) {
  const auto* words = reinterpret_cast<const std::byte*>(rows);
  const auto* table = reinterpret_cast<const std::byte*>(segments);
  const bool active = lanes.at[lane] < lanes.used[lane];
  const std::uint32_t row = active ? lanes.at[lane] : 0;
  std::uint32_t upper, end;
  std::memcpy(&upper, words + (std::size_t{row * abi::kLogLanes + lane} * sizeof(Word) + 4), 4);
  const std::uint32_t segment = active ? upper >> 16 : 0;
  std::memcpy(
      &end, table + (std::size_t{segment} * sizeof(abi::LogSegment) + offsetof(abi::LogSegment, loopEnd)), 4);
  const std::uint32_t turn = segment >= lanes.after[lane] ? 2 * segment : 2 * end + 1;
  return active ? turn << 16 | segment : kNowhere;
}

/// The same for all lanes, without a look at the table for each: those that have come back are mostly at one
/// segment.
KCHECK_INLINE void findKeys(const Word* rows, Followed& lanes, const abi::LogSegment* segments) {
  const auto* words = reinterpret_cast<const std::byte*>(rows);
  std::uint32_t number[kWarpSize];
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
    const std::uint32_t row = lanes.at[lane] < lanes.used[lane] ? lanes.at[lane] : 0;
    std::uint32_t upper;
    std::memcpy(&upper, words + (std::size_t{row * abi::kLogLanes + lane} * sizeof(Word) + 4), 4);
    number[lane] = upper >> 16;
  }
  EachLane segment, at, used, after;
  load(segment, number);
  load(at, lanes.at);
  load(used, lanes.used);
  load(after, lanes.after);
  const auto active = at < used, isBack = segment < after;
  EachLane key = 2 * segment << 16 | segment;
  std::uint32_t back = bitsOf(active & isBack);
  while (back) {
    const std::uint32_t one = number[std::countr_zero(back)];
    const auto isHere = segment == one;
    key = isHere & isBack ? EachLane((2 * segments[one].loopEnd + 1) << 16 | one) : key;
    back &= ~bitsOf(isHere);
  }
  key = active ? key : EachLane(kNowhere);
  std::memcpy(lanes.key, &key, sizeof lanes.key);
}

KCHECK_INLINE Chosen choose(const Followed& lanes) {
  EachLane keys;
  load(keys, lanes.key);
  const std::uint32_t least = __builtin_reduce_min(keys);
  return {least == kNowhere ? kNowhere : least & 0xFFFF, bitsOf(keys == least)};
}

/// The lanes that were chosen go on by so many rows, and others, or the same ones, are chosen. `row`: where
/// all were.
KCHECK_VECTORS Chosen advance(Followed& lanes, Chosen chosen, std::uint32_t by, const Word* rows,
                              const abi::LogSegment* segments, std::uint16_t* row) {
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
    row[lane] = static_cast<std::uint16_t>(lanes.at[lane]);
    const bool goes = chosen.mask >> lane & 1;
    lanes.at[lane] += goes ? by : 0;
    lanes.after[lane] = goes ? chosen.segment + 1 : lanes.after[lane];
  }
  if (kGathersWell) {
    findKeys(rows, lanes, segments);
  } else {
    for (std::uint32_t mask = chosen.mask; mask; mask &= mask - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
      lanes.key[lane] = keyOf(lane, rows, lanes, segments);
    }
  }
  return choose(lanes);
}

KCHECK_VECTORS Chosen start(Followed& lanes, const Word* rows, const abi::LogSegment* segments) {
  findKeys(rows, lanes, segments);
  return choose(lanes);
}

/// The rows of the lanes in the mask.
KCHECK_VECTORS void takeRows(std::uint16_t* to, const std::uint16_t* from, std::uint32_t mask) {
  using Rows = std::uint16_t __attribute__((ext_vector_type(32)));
  Rows old, fresh;
  std::memcpy(&old, to, sizeof old);
  std::memcpy(&fresh, from, sizeof fresh);
  old = -__builtin_convertvector(std::bit_cast<LaneBits>(mask), Rows) ? fresh : old;
  std::memcpy(to, &old, sizeof old);
}

} // namespace

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

bool RowGroups::follow(const Word* rows, const std::uint32_t* ends, std::uint32_t from,
                       const abi::LogSegment* segments) {
  if (met.size() > 1u << 15) return false; // keys would have no room
  Followed lanes;
  std::fill_n(lanes.at, kWarpSize, from);
  std::copy_n(ends, kWarpSize, lanes.used);
  std::fill_n(lanes.after, kWarpSize, 0u);
  for (Chosen chosen = start(lanes, rows, segments); chosen.segment != kNowhere;) {
    Met& here = met[chosen.segment];
    if (here.round != round) {
      here.round = round;
      here.always = kNowhere;
      here.apart = false;
      here.first = kNoGroup;
    }
    if (chosen.mask & ~here.always) here.apart = true;
    here.always &= chosen.mask;
    if (used == kMostFollowed) return false;
    RowGroup& group = groups[makeGroup(chosen.segment)];
    group.mask = chosen.mask;
    chosen = advance(lanes, chosen, segments[chosen.segment].rows, rows, segments, group.row);
  }
  return countApart();
}

/// Of segments that lanes have not been at together each time, groups of what counts as one request.
bool RowGroups::countApart() {
  constexpr std::uint32_t most = 64;
  followed = used;
  for (std::uint32_t i = 0; i < followed; ++i) {
    const std::uint32_t segment = groups[i].segment;
    Met& here = met[segment];
    if (!here.apart) continue;
    std::uint32_t left = groups[i].mask, last = kNoGroup, walked = 0;
    for (std::uint32_t group = here.first; left; group = groups[group].next) {
      if (++walked > most) return false;
      if (group == kNoGroup) {
        group = makeGroup(segment);
        (last == kNoGroup ? here.first : groups[last].next) = group;
      }
      RowGroup& nth = groups[group];
      const std::uint32_t fresh = left & ~nth.mask;
      nth.mask |= fresh;
      takeRows(nth.row, groups[i].row, fresh);
      left &= ~fresh;
      last = group;
    }
  }
  return true;
}

} // namespace kcheck::runtime
