// Which numbers of a row none before them equals, for machines without an instruction for it.
#pragma once

#include "instrument/runtime/core/vectors.h"

#include <cstdint>

namespace kcheck::runtime {

/// Whether none of 32 values before this position is the same.
template <class Value> KCHECK_INLINE bool isFirst(const Value* values, std::uint32_t position) {
  std::uint32_t known = 0;
  for (std::uint32_t i = 0; i < 32; ++i)
    known |=
        static_cast<std::uint32_t>(i < position) & static_cast<std::uint32_t>(values[i] == values[position]);
  return !known;
}

/// Of the first `count` (not 0) of 32: the positions whose number none before them has. Each writes its
/// position where a table has its hash, the first ones last: who finds another one's there has the same
/// number or, seldom, met a stranger.
KCHECK_INLINE std::uint32_t firstOnes(const std::uint32_t* values, std::uint32_t count) {
  constexpr std::uint32_t bits = 11, width = 32;
  std::uint8_t table[1u << bits], found[width]; // what is read has been written
  std::uint32_t hash[width];
  for (std::uint32_t i = 0; i < width; ++i) hash[i] = values[i] * 0x9E37'79B1u >> (32 - bits);
  for (std::uint32_t i = width; i-- > 0;) table[hash[i]] = static_cast<std::uint8_t>(i);
  for (std::uint32_t i = 0; i < width; ++i) found[i] = table[hash[i]];
  std::uint32_t others = 0;
  for (std::uint32_t i = 0; i < width; ++i) others |= static_cast<std::uint32_t>(found[i] != i) << i;
  const std::uint32_t valid = ~std::uint32_t{0} >> (width - count);
  std::uint32_t firsts = ~others & valid;
  for (others &= valid; others; others &= others - 1) {
    const auto i = static_cast<std::uint32_t>(__builtin_ctz(others));
    if (values[found[i]] != values[i]) firsts |= static_cast<std::uint32_t>(isFirst(values, i)) << i;
  }
  return firsts;
}

} // namespace kcheck::runtime
