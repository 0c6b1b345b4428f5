// What the rules for ranges share: the range of a width, and what fits in it.
#pragma once

#include "analyzer/expr/fold.h"
#include "analyzer/expr/range.h"

#include <bit>

namespace kcheck::analyzer {

inline std::uint64_t allBits(unsigned width) { return zeroExtend(-1, width); }

inline Range fullRange(unsigned width) {
  if (width == 1) return {0, 1, 1};
  return {signedMin(width), signedMax(width), allBits(width)};
}

/// Those that a number from 0 to `hi` can set.
inline std::uint64_t bitsUpTo(Int hi) {
  if (hi <= 0) return 0;
  return hi > Int(signedMax(64)) ? ~0ull : ~0ull >> std::countl_zero(std::uint64_t(hi));
}

inline bool fits(Int lo, Int hi, unsigned width) { return lo >= signedMin(width) && hi <= signedMax(width); }

} // namespace kcheck::analyzer
