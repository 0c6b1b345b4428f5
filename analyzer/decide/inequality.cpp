// Bounds of polynomials and the search for a combination of inequalities.
#include "analyzer/decide/inequality.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

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

/// The bounds of a product of which one factor lies within `a` and the other within `b`.
Bounds product(const Bounds& a, const Bounds& b) {
  Int corners[4] = {times(a.lo, b.lo), times(a.lo, b.hi), times(a.hi, b.lo), times(a.hi, b.hi)};
  return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}

Bounds sum(const Bounds& a, const Bounds& b) {
  const bool unboundedBelow = a.lo <= -kUnbounded || b.lo <= -kUnbounded;
  const bool unboundedAbove = a.hi >= kUnbounded || b.hi >= kUnbounded;
  return {unboundedBelow ? -kUnbounded : saturate(a.lo + b.lo),
          unboundedAbove ? kUnbounded : saturate(a.hi + b.hi)};
}

Bounds scaled(const Bounds& b, Int factor) {
  const Int one = times(b.lo, factor), other = times(b.hi, factor);
  return {std::min(one, other), std::max(one, other)};
}

/// A monomial as one number: the places of its factors in the order of atoms, the first in front, none as 0.
/// Such numbers compare as the monomials do.
using Factors = std::uint64_t;
constexpr unsigned kBits = 12;
static_assert(kBits * Poly::kMostFactors <= 64);
constexpr Factors kFactor = (Factors(1) << kBits) - 1;
constexpr unsigned kFront = kBits * (Poly::kMostFactors - 1);

unsigned factorAt(Factors m, unsigned i) { return unsigned(m >> (kFront - kBits * i) & kFactor); }

/// The factors one by one from the front; nothing where there are too many.
class Collected {
public:
  void add(unsigned factor) {
    if (count == Poly::kMostFactors)
      fits = false;
    else
      factors |= Factors(factor) << (kFront - kBits * count++);
  }
  std::optional<Factors> result() const { return fits ? std::optional(factors) : std::nullopt; }

private:
  Factors factors = 0;
  unsigned count = 0;
  bool fits = true;
};

std::optional<Factors> product(Factors a, Factors b) {
  Collected both;
  unsigned i = 0, j = 0;
  const auto at = [](Factors m, unsigned i) { return i < Poly::kMostFactors ? factorAt(m, i) : 0; };
  for (unsigned x = at(a, 0), y = at(b, 0); x || y;) {
    const bool isFirst = x && (!y || x <= y);
    both.add(isFirst ? x : y);
    if (isFirst)
      x = at(a, ++i);
    else
      y = at(b, ++j);
  }
  return both.result();
}

/// m / divisor, when the divisor's factors are all among m's.
std::optional<Factors> quotient(Factors m, Factors divisor) {
  Collected rest;
  unsigned next = 0;
  for (unsigned i = 0; i < Poly::kMostFactors && factorAt(m, i); ++i)
    if (next < Poly::kMostFactors && factorAt(divisor, next) == factorAt(m, i))
      ++next;
    else
      rest.add(factorAt(m, i));
  if (next < Poly::kMostFactors && factorAt(divisor, next)) return std::nullopt;
  return rest.result();
}

struct Term {
  Factors factors = 0;
  Int coefficient = 0;
};
using Terms = std::vector<Term>; ///< in the order of their factors, no coefficient 0

/// The search for one polynomial: what it and the known inequalities are made of is numbered once.
class Search {
public:
  Search(const Inequalities::RangeOf& rangeOf, const std::vector<const Poly*>& known, const Poly& p)
      : rangeOf(rangeOf) {
    for (const Poly* fact : known) number(*fact);
    number(p);
    std::sort(atoms.begin(), atoms.end());
    atoms.erase(std::unique(atoms.begin(), atoms.end()), atoms.end());
    ranges.resize(atoms.size());
    for (const Poly* fact : known)
      if (auto terms = termsOf(*fact)) facts.push_back(std::move(*terms));
    start = termsOf(p);
  }

  bool provesNonNegative() {
    constexpr unsigned kDepth = 6;
    return start && search(*start, kDepth);
  }

private:
  void number(const Poly& p) {
    for (auto& [monomial, coefficient] : p.terms) atoms.insert(atoms.end(), monomial.begin(), monomial.end());
  }

  std::optional<Terms> termsOf(const Poly& p) const {
    if (!p.valid || atoms.size() >= kFactor) return std::nullopt;
    Terms terms;
    for (auto& [monomial, coefficient] : p.terms) {
      Collected factors;
      for (const Atom& a : monomial)
        factors.add(unsigned(std::lower_bound(atoms.begin(), atoms.end(), a) - atoms.begin()) + 1);
      if (!factors.result()) return std::nullopt;
      terms.push_back({*factors.result(), coefficient});
    }
    return terms;
  }

  const Bounds& boundsOf(Factors m) {
    auto [entry, isNew] = boundsSoFar.try_emplace(m, Bounds{1, 1});
    if (!isNew) return entry->second;
    for (unsigned i = 0; i < Poly::kMostFactors && factorAt(m, i); ++i) {
      std::optional<Bounds>& range = ranges[factorAt(m, i) - 1];
      if (!range) {
        const Range r = rangeOf(atoms[factorAt(m, i) - 1]);
        range = Bounds{r.lo, r.hi};
      }
      entry->second = product(entry->second, *range);
    }
    return entry->second;
  }

  bool search(const Terms& p, unsigned depth) {
    // An inequality that has a monomial with the same sign removes it; those that pull the bound down first.
    std::vector<std::pair<Int, Term>> order;
    Bounds b;
    for (const Term& term : p) {
      const Bounds own = scaled(boundsOf(term.factors), term.coefficient);
      b = sum(b, own);
      if (term.factors) order.emplace_back(own.lo, term);
    }
    if (b.lo >= 0 && b.lo < kUnbounded) return true;
    if (b.hi < 0 || depth == 0 || budget == 0) return false;
    --budget;
    std::sort(order.begin(), order.end(), [](auto& x, auto& y) {
      return x.first != y.first ? x.first < y.first : x.second.factors < y.second.factors;
    });
    const bool anyNegative = !order.empty() && order.front().first < 0;
    for (auto& [least, term] : order) {
      if (anyNegative && least >= 0) break;
      if (removeBy(term, p, depth)) return true;
      if (anyNegative || budget == 0) break; // what is unbounded must go, so there is no second choice
    }
    return false;
  }

  /// Tries every inequality that can remove the monomial from p.
  bool removeBy(const Term& target, const Terms& p, unsigned depth) {
    for (const Terms& fact : facts)
      for (const Term& by : fact) {
        if (!by.factors || (by.coefficient < 0) != (target.coefficient < 0)) continue;
        const std::optional<Factors> rest = quotient(target.factors, by.factors);
        if (!rest || (*rest && boundsOf(*rest).lo < 0)) continue;
        // |k| p - |coefficient| rest fact > -|k| implies p >= 0, since p is a whole number.
        const Int g = gcd(by.coefficient, target.coefficient);
        const Int up = (by.coefficient < 0 ? -by.coefficient : by.coefficient) / g;
        const Int down = (target.coefficient < 0 ? -target.coefficient : target.coefficient) / g;
        const std::optional<Terms> next = combined(p, up, fact, *rest, down);
        if (next && search(*next, depth - 1)) return true;
        if (budget == 0) return false;
      }
    return false;
  }

  /// up p - down rest fact + up - 1; nothing where a number grows beyond reason.
  static std::optional<Terms> combined(const Terms& p, Int up, const Terms& fact, Factors rest, Int down) {
    constexpr Int kMost = Int(1) << 62; // one such number times another, some of them added, fits
    const auto isLarge = [](Int v) { return v > kMost || v < -kMost; };
    if (isLarge(up) || isLarge(down)) return std::nullopt;
    Terms less;
    less.reserve(fact.size() + 1);
    for (const Term& term : fact) {
      const std::optional<Factors> factors = product(term.factors, rest);
      if (!factors || isLarge(term.coefficient)) return std::nullopt;
      less.push_back({*factors, -down * term.coefficient});
    }
    std::ranges::sort(less, {}, &Term::factors);
    Terms result;
    result.reserve(p.size() + less.size() + 1);
    const auto add = [&result](Factors factors, Int coefficient) {
      if (result.empty() || result.back().factors != factors)
        result.push_back({factors, coefficient});
      else
        result.back().coefficient += coefficient;
      if (result.back().coefficient == 0) result.pop_back();
    };
    add(0, up - 1);
    std::size_t i = 0, j = 0;
    while (i < p.size() || j < less.size())
      if (j == less.size() || (i < p.size() && p[i].factors <= less[j].factors)) {
        if (isLarge(p[i].coefficient) && up != 1) return std::nullopt;
        add(p[i].factors, up * p[i].coefficient);
        ++i;
      } else {
        add(less[j].factors, less[j].coefficient);
        ++j;
      }
    constexpr Int kGreatest = Int(1) << 90;
    for (const Term& term : result)
      if (term.coefficient > kGreatest || term.coefficient < -kGreatest) return std::nullopt;
    return result;
  }

  const Inequalities::RangeOf& rangeOf;
  std::vector<Atom> atoms; ///< in their order
  std::vector<std::optional<Bounds>> ranges;
  std::vector<Terms> facts;
  std::optional<Terms> start;
  std::unordered_map<Factors, Bounds> boundsSoFar;
  unsigned budget = 240;
};

} // namespace

Bounds Inequalities::bounds(const Monomial& m) const {
  Bounds b{1, 1};
  for (const Atom& a : m) {
    const Range r = rangeOf(a);
    b = product(b, {r.lo, r.hi});
  }
  return b;
}

Bounds Inequalities::bounds(const Poly& p) const {
  Bounds all;
  for (auto& [monomial, coefficient] : p.terms) all = sum(all, scaled(bounds(monomial), coefficient));
  return all;
}

bool Inequalities::provesNonNegative(const Poly& p) const {
  if (!p.valid) return false;
  const Bounds b = bounds(p);
  if (b.lo >= 0 && b.lo < kUnbounded) return true;
  if (b.hi < 0 || known.empty()) return false;
  return Search(rangeOf, known, p).provesNonNegative();
}

} // namespace kcheck::analyzer
