// The words of a row of the log, all lanes at once.
#pragma once

#include "instrument/runtime/core/row_groups.h"
#include "instrument/runtime/core/vectors.h"

namespace kcheck::runtime {

inline constexpr std::uint64_t kAddressBits = (std::uint64_t{1} << 48) - 1;

/// The addresses in a row of words.
void addressesOf(const Word* words, Address* at);
/// Those of some lanes, side by side.
void addressesOf(const Word* words, const RowLanes& lanes, Address* at);
/// The words of some lanes for one logged address, side by side.
template <class WordOf> KCHECK_INLINE void addressesOf(std::uint32_t count, WordOf wordOf, Address* at) {
  for (std::uint32_t i = 0; i < count; ++i) at[i] = wordOf(i) & kAddressBits;
  for (std::uint32_t i = count; i < kWarpSize; ++i) at[i] = at[count - 1];
}

void shifted(const Address* from, Address offset, Address* at);

/// Each address the same distance behind the other row's, a number of sectors: what holds of one holds of
/// both.
bool sameBesides(const Address* from, const Address* to);
/// False of most rows of which that is false.
inline bool sameAtEnds(const Address* from, const Address* to) {
  constexpr std::uint32_t last = kWarpSize - 1;
  return to[last] - from[last] == to[0] - from[0];
}

/// How far the addresses of a row reach; `odd` has the low bits that any of them has.
struct Reach {
  Address low, high, odd;
  /// Whether accesses of so many bytes so far behind are known to be aligned.
  bool isAligned(Address offset, std::uint32_t bytes) const { return !((odd | offset) & (bytes - 1u)); }
};
Reach reachOf(const Address* at);

/// Of the rows that each lane of a warp has used: which lanes have any, and the most and the fewest of those.
struct RowExtent {
  std::uint32_t lanes, longest, shortest;
};
RowExtent extentOf(const std::uint32_t* used);
/// The lanes that have used more than `rows`.
std::uint32_t lanesBeyond(const std::uint32_t* used, std::uint32_t rows);

/// The lanes by how many rows they have, fewer than 2^16: the most first, of equal ones the first lane.
void longestFirst(const std::uint32_t* rows, std::uint8_t* order);

/// Of the lanes in `active` (not 0): those at the segment with the lowest number, and the next lowest.
struct FirstSegment {
  std::uint32_t segment, next, mask;
};
FirstSegment firstSegment(const Word* words, std::uint32_t active);

/// Of a number for each lane: which lanes have the lowest.
struct LowestLanes {
  std::uint32_t value, mask;
};
LowestLanes lowestLanes(const std::uint32_t* values);

/// The lanes in `active` (not 0) are all at one segment.
bool sameSegment(const Word* words, std::uint32_t active);

} // namespace kcheck::runtime
