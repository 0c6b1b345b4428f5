#include "instrument/runtime/core/row_words.h"

#include <bit>

namespace kcheck::runtime {

KCHECK_VECTORS void addressesOf(const Word* words, Address* at) {
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) at[lane] = words[lane] & kAddressBits;
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

KCHECK_VECTORS FirstSegment firstSegment(const Word* words, std::uint32_t active) {
  constexpr std::uint32_t none = ~std::uint32_t{0};
  std::uint32_t number[kWarpSize], mask = 0, segment = none, next = none;
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane)
    number[lane] = active >> lane & 1 ? static_cast<std::uint32_t>(words[lane] >> 48) : none;
  for (std::uint32_t one : number) segment = one < segment ? one : segment;
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
    bool isFirst = number[lane] == segment;
    mask |= static_cast<std::uint32_t>(isFirst) << lane;
    std::uint32_t other = isFirst ? none : number[lane];
    next = other < next ? other : next;
  }
  return {segment, next, mask};
}

KCHECK_VECTORS bool sameSegment(const Word* words, std::uint32_t active) {
  Word first = words[std::countr_zero(active)], different = 0;
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane)
    different |= active >> lane & 1 ? words[lane] ^ first : 0;
  return different >> 48 == 0;
}

} // namespace kcheck::runtime
