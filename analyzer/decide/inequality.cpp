// Bounds of polynomials and the search for a combination of inequalities.
#include "analyzer/decide/inequality.h"

#include <algorithm>

namespace kcheck::analyzer {

namespace {

Int saturate(Int v) { return std::clamp(v, -kUnbounded, kUnbounded); }

Int times(Int a, Int b) {
  if (a == 0 || b == 0) return 0;
  Int x = a < 0 ? -a : a, y = b < 0 ? -b : b;
  bool negative = (a < 0) != (b < 0);
  if (x >= kUnbounded || y >= kUnbounded || x > kUnbounded / y) return negative ? -kUnbounded : kUnbounded;
  return a * b;
}

/// m / divisor, when the divisor's atoms are all among m's.
bool quotient(const Monomial& m, const Monomial& divisor, Monomial& result) {
  result.clear();
  std::size_t next = 0;
  for (const Atom& a : m) {
    if (next < divisor.size() && divisor[next] == a)
      ++next;
    else
      result.push_back(a);
  }
  return next == divisor.size();
}

} // namespace

Bounds Inequalities::bounds(const Monomial& m) const {
  Bounds b{1, 1};
  for (const Atom& a : m) {
    Range r = rangeOf(a);
    Int corners[4] = {times(b.lo, r.lo), times(b.lo, r.hi), times(b.hi, r.lo), times(b.hi, r.hi)};
    b = {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
  }
  return b;
}

Bounds Inequalities::bounds(const Poly& p) const {
  Bounds sum;
  for (auto& [monomial, coefficient] : p.terms) {
    Bounds b = bounds(monomial);
    Int lo = times(b.lo, coefficient), hi = times(b.hi, coefficient);
    if (lo > hi) std::swap(lo, hi);
    bool unboundedBelow = sum.lo <= -kUnbounded || lo <= -kUnbounded;
    bool unboundedAbove = sum.hi >= kUnbounded || hi >= kUnbounded;
    sum = {unboundedBelow ? -kUnbounded : saturate(sum.lo + lo),
           unboundedAbove ? kUnbounded : saturate(sum.hi + hi)};
  }
  return sum;
}

bool Inequalities::provesNonNegative(const Poly& p) const {
  unsigned budget = 240;
  return p.valid && search(p, 6, budget);
}

bool Inequalities::search(const Poly& p, unsigned depth, unsigned& budget) const {
  if (!p.valid) return false;
  Bounds b = bounds(p);
  if (b.lo >= 0 && b.lo < kUnbounded) return true;
  if (b.hi < 0 || depth == 0 || budget == 0) return false;
  --budget;
  // An inequality that has a monomial with the same sign removes it; those that pull the bound down first.
  std::vector<std::pair<Int, const Monomial*>> order;
  for (auto& [monomial, k] : p.terms) {
    if (monomial.empty()) continue;
    Bounds mb = bounds(monomial);
    order.emplace_back(std::min(times(mb.lo, k), times(mb.hi, k)), &monomial);
  }
  std::sort(order.begin(), order.end(), [](auto& x, auto& y) { return x.first < y.first; });
  bool anyNegative = !order.empty() && order.front().first < 0;
  for (auto& [least, monomial] : order) {
    if (anyNegative && least >= 0) break;
    if (removeBy(*monomial, p, depth, budget)) return true;
    if (anyNegative || budget == 0) break; // what is unbounded must go, so there is no second choice
  }
  return false;
}

/// Tries every inequality that can remove the monomial from p.
bool Inequalities::removeBy(const Monomial& target, const Poly& p, unsigned depth, unsigned& budget) const {
  Int coefficient = p.terms.at(target);
  for (const Poly* fact : known) {
    for (auto& [monomial, k] : fact->terms) {
      Monomial rest;
      if (monomial.empty() || (k < 0) != (coefficient < 0) || !quotient(target, monomial, rest)) continue;
      if (!rest.empty() && bounds(rest).lo < 0) continue;
      // |k| p - |coefficient| rest fact > -|k| implies p >= 0, since p is a whole number.
      Poly product, factor;
      factor.add(rest, 1);
      if (!Poly::multiply(*fact, factor, product)) continue;
      Int g = gcd(k, coefficient), up = (k < 0 ? -k : k) / g;
      Int down = (coefficient < 0 ? -coefficient : coefficient) / g;
      Poly next = p.scaled(up);
      next.add(product, -down);
      next.add(Monomial{}, up - 1);
      if (search(next, depth - 1, budget)) return true;
      if (budget == 0) return false;
    }
  }
  return false;
}

} // namespace kcheck::analyzer
