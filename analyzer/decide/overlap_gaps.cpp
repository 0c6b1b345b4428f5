// Elimination by gaps (mixed radix with constant bases) and by symbolic radix (`row * pitch + column`).
#include "analyzer/decide/overlap.h"

#include <algorithm>
#include <bit>

namespace kcheck::analyzer {

namespace {

Int ceilDivide(Int a, Int b) { return -floorDivide(-a, b); }
bool isUnbounded(Int v) { return v >= kUnbounded / 4 || v <= -kUnbounded / 4; }

/// coefficient * bound, for sums of such; unbounded stays so.
Int extent(Int coefficient, Int bound) {
  if (bound == 0) return 0;
  if (isUnbounded(bound) || coefficient > kUnbounded / 64 / (bound < 0 ? -bound : bound))
    return bound < 0 ? -kUnbounded : kUnbounded;
  return coefficient * bound;
}

Int plus(Int x, Int y) {
  if (isUnbounded(x)) return x;
  if (isUnbounded(y)) return y;
  return x + y;
}

} // namespace

std::vector<PairSystem::Term> PairSystem::termsOf(const Poly& p) {
  // x#1 and x#2 with opposite coefficients (and the same uniform factors) are one term, the difference.
  struct Pair {
    Monomial shared;
    Expr node = nullptr;
    Int coefficient[3] = {};
  };
  std::map<std::pair<Monomial, Expr>, Pair> pairs;
  std::vector<Term> result;
  auto addTerm = [&](Int coefficient, Int lo, Int hi, Poly poly, Expr difference, std::uint64_t maybe) {
    if (coefficient < 0) {
      coefficient = -coefficient;
      std::swap(lo, hi);
      lo = -lo;
      hi = -hi;
    }
    // Multiples of a power of two count in units of that.
    unsigned zeros = maybe ? unsigned(std::countr_zero(maybe)) : 0;
    if (zeros > 0 && zeros < 40 && coefficient < (Int(1) << 60)) {
      Int unit = Int(1) << zeros;
      coefficient *= unit;
      if (!isUnbounded(lo)) lo = ceilDivide(lo, unit);
      if (!isUnbounded(hi)) hi = floorDivide(hi, unit);
    }
    result.push_back({coefficient, lo, hi, std::move(poly), difference});
  };
  auto alone = [&](const Monomial& m, Int coefficient) {
    Poly poly;
    poly.add(m, coefficient);
    Bounds bounds = boundsOf([&] {
      Poly unit;
      unit.add(m, 1);
      return unit;
    }());
    std::uint64_t maybe = m.size() == 1 ? rangeOf(m[0]).maybe : ~0ull;
    addTerm(coefficient, bounds.lo, bounds.hi, std::move(poly), nullptr, maybe);
  };
  for (auto& [monomial, coefficient] : p.terms) {
    if (monomial.empty()) continue;
    Monomial shared;
    const Atom* own = nullptr;
    unsigned privates = 0;
    for (const Atom& atom : monomial) {
      if (atom.thread == 0) {
        shared.push_back(atom);
      } else {
        own = &atom;
        ++privates;
      }
    }
    if (privates != 1) {
      alone(monomial, coefficient);
      continue;
    }
    Pair& pair = pairs[{shared, own->node}];
    pair.shared = shared;
    pair.node = own->node;
    pair.coefficient[own->thread] = coefficient;
  }
  for (auto& [key, pair] : pairs) {
    auto monomial = [&](std::uint8_t thread) {
      Monomial m = pair.shared;
      m.push_back(Atom{pair.node, thread});
      std::sort(m.begin(), m.end());
      return m;
    };
    Poly factor;
    factor.add(pair.shared, 1);
    Bounds scale = boundsOf(factor);
    if (pair.coefficient[1] != -pair.coefficient[2] || scale.lo < 0) {
      for (std::uint8_t t : {1, 2})
        if (pair.coefficient[t] != 0) alone(monomial(t), pair.coefficient[t]);
      continue;
    }
    Range x = rangeOf({pair.node, 1}), y = rangeOf({pair.node, 2});
    Int lo = x.lo - y.hi, hi = x.hi - y.lo;
    if (!pair.shared.empty()) {
      lo = lo < 0 ? extent(scale.hi, lo) : extent(scale.lo, lo);
      hi = hi > 0 ? extent(scale.hi, hi) : extent(scale.lo, hi);
    }
    Poly poly;
    poly.add(monomial(1), pair.coefficient[1]);
    poly.add(monomial(2), pair.coefficient[2]);
    std::uint64_t maybe = pair.shared.empty() ? x.maybe | y.maybe : ~0ull;
    addTerm(pair.coefficient[1], lo, hi, std::move(poly), scale.lo >= 1 ? pair.node : nullptr, maybe);
  }
  std::sort(result.begin(), result.end(),
            [](const Term& x, const Term& y) { return x.coefficient > y.coefficient; });
  return result;
}

/// While the smaller summands together cannot fill the gap between two values of the greater ones, the sum of
/// the greater ones is known.
void PairSystem::eliminateByGaps(const Equation& e) {
  std::vector<Term> terms = termsOf(e.poly);
  Int constant = e.poly.constant(), lo = e.lo - constant, hi = e.hi - constant;
  std::size_t n = terms.size(), first = 0;
  std::vector<Int> restLo(n + 1, 0), restHi(n + 1, 0);
  for (std::size_t i = n; i-- > 0;) {
    restLo[i] = plus(restLo[i + 1], extent(terms[i].coefficient, terms[i].lo));
    restHi[i] = plus(restHi[i + 1], extent(terms[i].coefficient, terms[i].hi));
  }
  while (first < n) {
    bool advanced = false;
    Int g = 0, groupLo = 0, groupHi = 0;
    Poly group;
    for (std::size_t j = first; j < n && !advanced; ++j) {
      g = gcd(g, terms[j].coefficient);
      groupLo = plus(groupLo, extent(terms[j].coefficient, terms[j].lo));
      groupHi = plus(groupHi, extent(terms[j].coefficient, terms[j].hi));
      group.add(terms[j].poly);
      if (isUnbounded(restLo[j + 1]) || isUnbounded(restHi[j + 1])) continue;
      Int least = ceilDivide(lo - restHi[j + 1], g), most = floorDivide(hi - restLo[j + 1], g);
      if (!isUnbounded(groupLo)) least = std::max(least, ceilDivide(groupLo, g));
      if (!isUnbounded(groupHi)) most = std::min(most, floorDivide(groupHi, g));
      if (least > most) {
        contradiction = true;
        return;
      }
      if (least != most) continue;
      if (j == first && least == 0 && terms[j].difference)
        markEqual(terms[j].difference);
      else if (n > 1 || e.lo != e.hi)
        addEquation(group, g * least, g * least);
      lo -= g * least;
      hi -= g * least;
      first = j + 1;
      advanced = true;
    }
    if (!advanced) break;
  }
  if (contradiction) return;
  if (first == n) {
    if (lo > 0 || hi < 0) contradiction = true;
    return;
  }
  if (first == 0) return;
  Poly rest;
  for (std::size_t i = first; i < n; ++i) rest.add(terms[i].poly);
  addEquation(std::move(rest), lo, hi);
}

/// c * (P * high + low) near 0 with |low| < P means that high is 0 and low is near 0.
void PairSystem::splitByRadix(const Equation& e) {
  Poly p = e.poly;
  Int content = p.content();
  if (content == 0) return;
  Int constant = p.constant(), lo = ceilDivide(e.lo - constant, content),
      hi = floorDivide(e.hi - constant, content);
  if (lo > hi) {
    contradiction = true;
    return;
  }
  constexpr std::size_t kMostSummands = 40;
  if (p.terms.size() > kMostSummands) return;
  Poly reduced;
  for (auto& [monomial, coefficient] : p.terms)
    if (!monomial.empty()) reduced.add(monomial, coefficient / content);
  if (lo == hi && (content != 1 || constant != 0)) addEquation(reduced, lo, hi);
  std::vector<Atom> factors;
  for (auto& [monomial, coefficient] : reduced.terms)
    for (const Atom& atom : monomial)
      if (atom.thread == 0 && std::find(factors.begin(), factors.end(), atom) == factors.end())
        factors.push_back(atom);
  for (const Atom& factor : factors) {
    // Rows of `P + 8` elements: `row * P + 8 * row + column`.
    constexpr std::size_t kMostMargins = 4;
    std::vector<Int> margins{0};
    for (auto& [monomial, coefficient] : reduced.terms) {
      auto at = std::find(monomial.begin(), monomial.end(), factor);
      if (at == monomial.end() || margins.size() == kMostMargins) continue;
      Monomial rest = monomial;
      rest.erase(rest.begin() + (at - monomial.begin()));
      auto same = reduced.terms.find(rest);
      if (rest.empty() || same == reduced.terms.end() || same->second % coefficient != 0) continue;
      const Int margin = same->second / coefficient;
      if (std::find(margins.begin(), margins.end(), margin) == margins.end()) margins.push_back(margin);
    }
    for (Int margin : margins)
      if (splitAt(reduced, lo, hi, factor, margin)) break;
    if (contradiction) return;
  }
  splitAtProducts(reduced, lo, hi);
}

/// Rows of `w * h` elements: whose lengths are what both threads have alike, all of it.
void PairSystem::splitAtProducts(const Poly& p, Int lo, Int hi) {
  constexpr std::size_t kMost = 4;
  std::vector<Monomial> products;
  for (auto& [monomial, coefficient] : p.terms) {
    Monomial common = monomial;
    std::erase_if(common, [](const Atom& atom) { return atom.thread != 0; });
    if (common.size() < 2 || common.size() == monomial.size() || products.size() == kMost) continue;
    if (std::find(products.begin(), products.end(), common) == products.end()) products.push_back(common);
  }
  for (const Monomial& product : products) {
    Poly high, low, radix;
    for (auto& [monomial, coefficient] : p.terms) {
      Monomial rest;
      std::set_difference(monomial.begin(), monomial.end(), product.begin(), product.end(),
                          std::back_inserter(rest));
      const bool isRow = rest.size() + product.size() == monomial.size();
      (isRow ? high : low).add(isRow ? rest : monomial, coefficient);
    }
    radix.add(product, 1);
    if (high.isConstant() || low.terms.empty()) continue;
    if (splitInto(radix, high, low, lo, hi) || contradiction) return;
  }
}

/// Rows of `factor + more` elements. True where that tells rows and columns apart.
bool PairSystem::splitAt(const Poly& p, Int lo, Int hi, const Atom& factor, Int more) {
  Poly high, low;
  for (auto& [monomial, coefficient] : p.terms) {
    auto at = std::find(monomial.begin(), monomial.end(), factor);
    if (at == monomial.end()) {
      low.add(monomial, coefficient);
      continue;
    }
    Monomial rest = monomial;
    rest.erase(rest.begin() + (at - monomial.begin()));
    high.add(rest, coefficient);
  }
  if (high.terms.empty()) return false;
  if (more != 0) low.add(high, -more);
  Poly radix{factor};
  radix.add(Monomial{}, more);
  return splitInto(radix, high, low, lo, hi) ||
         (rangeOf(factor).lo < 0 && splitInto(radix.scaled(-1), high, low, lo, hi));
}

/// lo <= radix * high + low <= hi, or with -radix.
bool PairSystem::splitInto(const Poly& radix, const Poly& high, const Poly& low, Int lo, Int hi) {
  // In `2 * row * P + column` the columns may go up to 2 * P.
  Int step = 0;
  for (auto& [monomial, coefficient] : high.terms) step = gcd(step, coefficient);
  // hi - low <= unit - 1 and low - lo <= unit - 1; together they make unit >= 1.
  Poly above = radix.scaled(step), below = above;
  above.add(low);
  above.add(Monomial{}, -hi - 1);
  below.add(low, -1);
  below.add(Monomial{}, lo - 1);
  if (!proves(below) || !proves(above)) return false;
  addEquation(high, 0, 0);
  addEquation(low, lo, hi);
  return true;
}

} // namespace kcheck::analyzer
