// Whether a polynomial is never negative, from the ranges of its atoms and from known inequalities: a small
// Fourier-Motzkin search, greedy and bounded.
#pragma once

#include "analyzer/decide/poly.h"
#include "analyzer/expr/range.h"

namespace kcheck::analyzer {

/// Bounds of a polynomial; `kUnbounded` beyond the numbers that matter.
struct Bounds {
  Int lo = 0, hi = 0;
};
inline constexpr Int kUnbounded = Int(1) << 120;

class Inequalities {
public:
  using RangeOf = std::function<Range(const Atom&)>;
  Inequalities(RangeOf rangeOf, std::vector<const Poly*> known)
      : rangeOf(std::move(rangeOf)), known(std::move(known)) {}

  Bounds bounds(const Monomial& m) const;
  Bounds bounds(const Poly& p) const;
  /// True only when p >= 0 whenever the known inequalities hold.
  bool provesNonNegative(const Poly& p) const;

private:
  RangeOf rangeOf;
  std::vector<const Poly*> known;
};

} // namespace kcheck::analyzer
