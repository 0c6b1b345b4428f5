#include "instrument/runtime/core/row_words.h"

#include <algorithm>
#include <bit>

namespace kcheck::runtime {

KCHECK_VECTORS void addressesOf(const Word* words, Address* at) {
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) at[lane] = words[lane] & kAddressBits;
}

namespace {

#ifdef KCHECK_HAS_CONFLICTS
/// The same as below without a detour through memory.
KCHECK_CONFLICTS void pack(const Word* words, const std::uint8_t* lane, Address* at) {
  const __m512i bits = _mm512_set1_epi64(static_cast<long long>(kAddressBits));
  __m512i from[4];
  for (int i = 0; i < 4; ++i) from[i] = _mm512_and_si512(_mm512_loadu_si512(words + 8 * i), bits);
  for (int i = 0; i < 4; ++i) {
    __m512i index = _mm512_cvtepu8_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(lane + 8 * i)));
    __m512i low = _mm512_permutex2var_epi64(from[0], index, from[1]),
            high = _mm512_permutex2var_epi64(from[2], index, from[3]);
    __mmask8 isHigh = _mm512_test_epi64_mask(index, _mm512_set1_epi64(16));
    _mm512_storeu_si512(at + 8 * i, _mm512_mask_blend_epi64(isHigh, low, high));
  }
}
const bool hasPermutes = hasConflicts();
#endif

KCHECK_INLINE bool areTogether(const Word* words, std::uint32_t active) {
  Word first = words[std::countr_zero(active)], different = 0;
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane)
    different |= active >> lane & 1 ? words[lane] ^ first : 0;
  return different >> 48 == 0;
}

} // namespace

void addressesOf(const Word* words, const RowLanes& lanes, Address* at) {
#ifdef KCHECK_HAS_CONFLICTS
  if (hasPermutes) return pack(words, lanes.lane, at);
#endif
  addressesOf(lanes.count, [&](std::uint32_t i) { return words[lanes.lane[i]]; }, at);
}

KCHECK_VECTORS void shifted(const Address* from, Address offset, Address* at) {
  for (std::uint32_t i = 0; i < kWarpSize; ++i) at[i] = from[i] + offset;
}

KCHECK_VECTORS bool sameBesides(const Address* from, const Address* to) {
  constexpr Address sector = 32;
  Address distance = to[0] - from[0], wrong = distance % sector;
  for (std::uint32_t i = 0; i < kWarpSize; ++i) wrong |= (to[i] - from[i]) ^ distance;
  return !wrong && inShared(to[0]) == inShared(from[0]);
}

KCHECK_VECTORS Reach reachOf(const Address* at) {
  Reach reach{at[0], at[0], 0};
  for (std::uint32_t i = 0; i < kWarpSize; ++i) {
    reach.low = at[i] < reach.low ? at[i] : reach.low;
    reach.high = at[i] > reach.high ? at[i] : reach.high;
    reach.odd |= at[i];
  }
  return reach;
}

KCHECK_VECTORS RowExtent extentOf(const std::uint32_t* used) {
  EachLane rows;
  load(rows, used);
  const auto isUsed = rows != 0;
  return {bitsOf(isUsed), __builtin_reduce_max(rows),
          __builtin_reduce_min(isUsed ? rows : EachLane(~std::uint32_t{0}))};
}

KCHECK_VECTORS std::uint32_t lanesBeyond(const std::uint32_t* used, std::uint32_t rows) {
  EachLane all;
  load(all, used);
  return bitsOf(all > rows);
}

KCHECK_VECTORS void longestFirst(const std::uint32_t* rows, std::uint8_t* order) {
  std::uint32_t key[kWarpSize], rank[kWarpSize]{};
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) key[lane] = ((0xFFFF - rows[lane]) << 8) | lane;
  for (std::uint32_t one : key)
    for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) rank[lane] += one < key[lane];
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) order[rank[lane]] = static_cast<std::uint8_t>(lane);
}

KCHECK_VECTORS FirstSegment firstSegment(const Word* words, std::uint32_t active) {
  constexpr std::uint32_t none = ~std::uint32_t{0};
  if (areTogether(words, active))
    return {static_cast<std::uint32_t>(words[std::countr_zero(active)] >> 48), none, active};
  std::uint32_t number[kWarpSize];
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane)
    number[lane] = active >> lane & 1 ? static_cast<std::uint32_t>(words[lane] >> 48) : none;
  EachLane all;
  load(all, number);
  const std::uint32_t segment = __builtin_reduce_min(all);
  const auto isFirst = all == segment;
  return {segment, __builtin_reduce_min(isFirst ? EachLane(none) : all), bitsOf(isFirst)};
}

KCHECK_VECTORS LowestLanes lowestLanes(const std::uint32_t* values) {
  EachLane all;
  load(all, values);
  const std::uint32_t least = __builtin_reduce_min(all);
  return {least, bitsOf(all == least)};
}

KCHECK_VECTORS bool sameSegment(const Word* words, std::uint32_t active) {
  return areTogether(words, active);
}

} // namespace kcheck::runtime
