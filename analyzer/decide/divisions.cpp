// Quotients and remainders by sizes that are no constants: how large they are, and what they make together.
#include "analyzer/decide/view.h"

#include "analyzer/expr/fold.h"

#include <algorithm>

namespace kcheck::analyzer {

namespace {

bool isRemainder(Expr e) { return e->op == Op::URem || e->op == Op::SRem; }
bool isQuotient(Expr e) { return e->op == Op::UDiv || e->op == Op::SDiv; }
bool isUnsigned(Expr e) { return e->op == Op::URem || e->op == Op::UDiv; }

/// A quotient of a product of several unknowns: `t * n / threads`.
bool isOfProduct(Expr quotient) {
  return anyNode(quotient->operands[0], [](Expr n) { return n->op == Op::Mul && !isConst(n->operands[1]); });
}

/// m / divisor, where all of the divisor's factors are among m's.
bool divide(const Monomial& m, const Monomial& divisor, Monomial& rest) {
  rest = m;
  for (const Atom& atom : divisor) {
    auto at = std::find(rest.begin(), rest.end(), atom);
    if (at == rest.end()) return false;
    rest.erase(at);
  }
  return true;
}

/// p / divisor, where every term has it as a factor; else invalid.
Poly divide(const Poly& p, const Monomial& divisor) {
  Poly result;
  result.valid = p.valid && !p.terms.empty();
  for (auto& [monomial, coefficient] : p.terms) {
    Monomial rest;
    if (!divide(monomial, divisor, rest)) {
      result.valid = false;
      return result;
    }
    result.add(rest, coefficient);
  }
  return result;
}

Monomial product(const Monomial& a, const Monomial& b) {
  Monomial result = a;
  result.insert(result.end(), b.begin(), b.end());
  std::sort(result.begin(), result.end());
  return result;
}

} // namespace

/// A remainder is nearer to 0 than the divisor, on the dividend's side.
void AccessView::addRemainderFacts(Expr remainder, bool positiveDivisor, bool positiveDividend) {
  Poly size = linear.of(remainder->operands[1]).scaled(positiveDivisor ? 1 : -1);
  Poly self = linear.of(remainder).scaled(positiveDividend ? 1 : -1);
  Poly below = size - self;
  below.add(Monomial{}, -1);
  facts.nonNegative.push_back(std::move(below));
  facts.nonNegative.push_back(std::move(self));
}

/// Rounding down, or towards 0, takes away less than the divisor.
void AccessView::addQuotientFacts(Expr quotient) {
  const Range divisor = ranges.of(quotient->operands[1]), dividend = ranges.of(quotient->operands[0]);
  if (divisor.lo < 1) return;
  const Poly size = linear.of(quotient->operands[1]), whole = linear.of(quotient->operands[0]);
  Poly product;
  if (!Poly::multiply(linear.of(quotient), size, product)) return;
  Poly rest = whole - product, more = product - whole; // the rest is not negative, or not positive
  const bool isAbove = dividend.lo >= 0, isBelow = dividend.hi <= 0;
  for (Poly* least : {&rest, &more}) {
    const bool isExact = least == &rest ? isAbove : isBelow;
    if (!isExact) {
      least->add(size);
      least->add(Monomial{}, -1);
    }
    facts.nonNegative.push_back(*least);
  }
}

/// A shift to the right rounds down.
void AccessView::addShiftFacts(Expr shifted) {
  const Int by = powerOfTwo(unsigned(shifted->operands[1]->value));
  Poly rest = linear.of(shifted->operands[0]) - linear.of(shifted).scaled(by), more = rest.scaled(-1);
  more.add(Monomial{}, by - 1);
  facts.nonNegative.push_back(std::move(rest));
  facts.nonNegative.push_back(std::move(more));
}

/// What quotients and remainders by a size that is no constant satisfy.
void AccessView::collectDivisionFacts(KernelView& kernel) {
  std::vector<Expr> divisions;
  std::unordered_set<Expr> shifts;
  auto hasQuotientFacts = [&](Expr n) { // of products, and of what is the same for all: half of a width
    return isQuotient(n) &&
           (isOfProduct(n) || (isConst(n->operands[1]) && kernel.variesOf(n->operands[0]) == Varies::Never));
  };
  for (Expr e : {condition, offset, size})
    if (e)
      anyNode(e, [&](Expr n) {
        if ((isQuotient(n) || isRemainder(n)) && n->width > 1 &&
            (!isConst(n->operands[1]) || hasQuotientFacts(n)) &&
            std::find(divisions.begin(), divisions.end(), n) == divisions.end())
          divisions.push_back(n);
        const bool isShift = n->op == Op::AShr || (n->op == Op::LShr && ranges.of(n->operands[0]).lo >= 0);
        if (isShift && isConst(n->operands[1]) && n->operands[1]->value < n->width - 1 &&
            kernel.variesOf(n->operands[0]) == Varies::Never && shifts.insert(n).second)
          addShiftFacts(n);
        return false;
      });
  constexpr std::size_t kMostDivisions = 12;
  if (divisions.size() > kMostDivisions) divisions.resize(kMostDivisions);
  for (Expr n : divisions) {
    Expr x = n->operands[0], y = n->operands[1];
    const Range divisor = ranges.of(y), dividend = ranges.of(x);
    if (isUnsigned(n) && (divisor.lo < 0 || dividend.lo < 0)) continue;
    if (divisor.lo < 1 && divisor.hi > -1) continue;
    if (hasQuotientFacts(n)) addQuotientFacts(n);
    if (isConst(y)) continue;
    if (isRemainder(n)) {
      if (dividend.lo >= 0 || dividend.hi <= 0) addRemainderFacts(n, divisor.lo >= 1, dividend.lo >= 0);
      continue;
    }
    if (dividend.lo < 0) continue;
    // x < y * h makes the quotient less than h, or, where y is negative, greater.
    const Poly divisorPoly = linear.of(y), self = linear.of(n);
    if (divisorPoly.terms.size() != 1) continue;
    const auto& [factor, coefficient] = *divisorPoly.terms.begin();
    if (coefficient != 1 || factor.empty()) continue;
    const Poly dividendPoly = linear.of(x);
    auto addLess = [&](const Poly& bound) {
      Poly rows = divide(bound, factor);
      if (!rows.valid) return;
      Poly below = divisor.lo >= 1 ? rows - self : self - rows;
      below.add(Monomial{}, -1);
      facts.nonNegative.push_back(std::move(below));
    };
    for (Expr c : conjunctsOf(kernel.context.logicalAnd(kernel.facts1, condition))) {
      bool isLess = c->op == Op::Slt || (c->op == Op::Ult && ranges.of(c->operands[1]).lo >= 0);
      if (isLess && c->operands[0]->width > 1 && (linear.of(c->operands[0]) - dividendPoly).terms.empty())
        addLess(linear.of(c->operands[1]));
    }
    if (!isRemainder(x) || isConst(x->operands[1])) continue;
    const Range outer = ranges.of(x->operands[1]);
    if (outer.lo >= 1)
      addLess(linear.of(x->operands[1]));
    else if (outer.hi <= -1 && !isUnsigned(x))
      addLess(linear.of(x->operands[1]).scaled(-1));
  }
}

bool AccessView::isQuotientOf(Expr quotient, Expr dividend, Expr divisor) {
  if (!isQuotient(quotient) || quotient->width != dividend->width) return false;
  if (quotient->operands[0] == dividend && quotient->operands[1] == divisor) return true;
  // Truncation in two steps is truncation in one, where the product of the divisors is the mathematical one.
  if (dividend->op != quotient->op || quotient->operands[0] != dividend->operands[0]) return false;
  Expr first = dividend->operands[1];
  if (isUnsigned(quotient) && (ranges.of(first).lo < 0 || ranges.of(divisor).lo < 0)) return false;
  Poly both;
  if (!Poly::multiply(linear.of(first), linear.of(divisor), both)) return false;
  const Poly whole = linear.of(quotient->operands[1]);
  return whole.valid && both.valid && whole.terms == both.terms;
}

/// `i / n * n + i % n` is i. True where something was put together.
bool AccessView::putOneTogether(Poly& p) {
  std::vector<Atom> quotients;
  for (auto& [monomial, coefficient] : p.terms)
    for (const Atom& atom : monomial)
      if (isQuotient(atom.node)) quotients.push_back(atom);
  if (quotients.empty()) return false;
  for (auto& [monomial, coefficient] : p.terms)
    for (const Atom& atom : monomial) {
      if (!isRemainder(atom.node)) continue;
      Expr x = atom.node->operands[0], y = atom.node->operands[1];
      if (isUnsigned(atom.node) && (ranges.of(x).lo < 0 || ranges.of(y).lo < 0)) continue;
      const Poly divisor = linear.of(y), whole = linear.of(x);
      if (!divisor.valid || !whole.valid || divisor.terms.size() != 1) continue;
      const auto& [factor, scale] = *divisor.terms.begin();
      Monomial rest;
      divide(monomial, {atom}, rest);
      for (const Atom& quotient : quotients) {
        if (isUnsigned(quotient.node) != isUnsigned(atom.node) || !isQuotientOf(quotient.node, x, y))
          continue;
        const Monomial partner = product(product(rest, {quotient}), factor);
        auto found = p.terms.find(partner);
        if (found == p.terms.end() || found->second != coefficient * scale) continue;
        Poly unit, together, result = p;
        unit.add(rest, coefficient);
        if (!Poly::multiply(whole, unit, together)) continue;
        result.add(monomial, -coefficient);
        result.add(partner, -coefficient * scale);
        result.add(together);
        if (!result.valid) continue;
        p = std::move(result);
        return true;
      }
    }
  return false;
}

Poly AccessView::putTogether(Poly p) {
  constexpr int kMostRounds = 8;
  for (int round = 0; p.valid && round < kMostRounds && putOneTogether(p); ++round) {
  }
  return p;
}

} // namespace kcheck::analyzer
