// What follows when both threads have the same value of an expression.
#include "analyzer/decide/overlap.h"

#include "analyzer/expr/fold.h"

#include <algorithm>
#include <bit>

namespace kcheck::analyzer {

/// Whether both threads are known to have the same value of e.
bool PairSystem::isEqual(Expr e) {
  auto found = equalMemo.find(e);
  if (found != equalMemo.end()) return found->second;
  bottomUp(
      e, [&](Expr n) { return equalMemo.count(n) != 0; },
      [&](Expr n) {
        bool same = equal.count(n) || !kernel.isPrivate(n, relation);
        if (!same && !n->operands.empty()) {
          bool ownFunction = n->op == Op::Apply &&
                             n->function->varies >=
                                 (relation == Relation::DifferentBlocks ? Varies::ByBlock : Varies::ByThread);
          same = !ownFunction &&
                 std::all_of(n->operands.begin(), n->operands.end(), [&](Expr o) { return equalMemo.at(o); });
        }
        if (!same) {
          Range x = a.ranges.of(n), y = b.ranges.of(n);
          same = x.isConstant() && y.isConstant() && x.lo == y.lo;
        }
        equalMemo.emplace(n, same);
      });
  return equalMemo.at(e);
}

void PairSystem::markEqual(Expr e) {
  if (isConst(e)) return;
  Range x = a.ranges.of(e), y = b.ranges.of(e);
  if (x.hi < y.lo || y.hi < x.lo) {
    contradiction = true;
    return;
  }
  if (!equal.insert(e).second) return;
  equalMemo.clear();
  factsStale = true;
  if (followed.insert(e).second) follow(e);
}

Poly PairSystem::differenceOf(Expr e) {
  return instance(a.linear.of(e), relation, 1) - instance(b.linear.of(e), relation, 2);
}

/// The difference is a multiple of the modulus; when it is also smaller, it is 0.
void PairSystem::congruent(const Poly& difference, Int modulus, Expr symbolicModulus) {
  Poly d = canonical(difference);
  if (!d.valid) return;
  if (symbolicModulus) {
    Poly m = canonical(instance(a.linear.of(symbolicModulus), relation, 1));
    Poly below = m - d, above = m;
    above.add(d);
    below.add(Monomial{}, -1);
    above.add(Monomial{}, -1);
    if (proves(below) && proves(above)) addEquation(d, 0, 0);
    return;
  }
  Bounds bounds = boundsOf(d);
  if (bounds.hi < modulus && bounds.lo > -modulus)
    addEquation(d, 0, 0);
  else
    congruences.emplace_back(std::move(d), modulus);
}

/// Both threads have the same wrapped sum or product.
void PairSystem::followSum(Expr e) {
  Expr x = e->operands[0], y = e->operands[1];
  Int period = powerOfTwo(e->width);
  if (e->op == Op::Add) {
    if (isEqual(x)) markEqual(y);
    if (isEqual(y)) markEqual(x);
    Poly sum = differenceOf(x);
    sum.add(differenceOf(y));
    if (a.ranges.isExact(e) && b.ranges.isExact(e))
      addEquation(sum, 0, 0);
    else
      congruent(sum, period, nullptr);
    return;
  }
  if (a.ranges.isExact(e) && b.ranges.isExact(e)) { // a product with a common factor other than 0
    if (isEqual(x) && (rangeOf({x, 0}).lo > 0)) markEqual(y);
    if (isEqual(y) && (rangeOf({y, 0}).lo > 0)) markEqual(x);
  }
  if (!isConst(y) || y->value == 0) return;
  unsigned zeros = unsigned(std::countr_zero(zeroExtend(y->value, e->width)));
  if (zeros == 0)
    markEqual(x); // odd factors permute the numbers of a width
  else
    congruent(differenceOf(x), powerOfTwo(e->width - zeros), nullptr);
}

void PairSystem::follow(Expr e) {
  if (e->operands.empty() || e->width == 1) return;
  Expr x = e->operands[0], y = e->operands.size() > 1 ? e->operands[1] : nullptr;
  switch (e->op) {
  case Op::ZExt:
  case Op::SExt:
    if (x->width > 1) markEqual(x);
    return;
  case Op::Trunc:
    if (a.ranges.isExact(e) && b.ranges.isExact(e))
      markEqual(x);
    else
      congruent(differenceOf(x), powerOfTwo(e->width), nullptr);
    return;
  case Op::Add:
  case Op::Mul: followSum(e); return;
  case Op::Xor:
    if (isEqual(y)) markEqual(x);
    if (isEqual(x)) markEqual(y);
    return;
  case Op::Or: { // of bits that do not meet
    const auto ofX = std::uint64_t(a.ranges.of(x).maybe | b.ranges.of(x).maybe),
               ofY = std::uint64_t(a.ranges.of(y).maybe | b.ranges.of(y).maybe);
    if (!(ofX & ofY & zeroExtend(-1, e->width))) {
      markEqual(x);
      markEqual(y);
    }
    return;
  }
  case Op::And:
    if (isConst(y) && y->value > 0 && isPowerOfTwo(std::uint64_t(y->value) + 1))
      congruent(differenceOf(x), Int(y->value) + 1, nullptr);
    if (isConst(y) && y->value < 0 && isPowerOfTwo(0 - std::uint64_t(y->value))) { // all but the lowest bits
      const int low = std::countr_zero(std::uint64_t(y->value));
      markEqual(kernel.context.binary(Op::LShr, x, kernel.context.constant(e->width, low)));
    }
    return;
  case Op::URem:
  case Op::SRem: {
    bool nonNegative = a.ranges.of(x).lo >= 0 && b.ranges.of(x).lo >= 0;
    if (!nonNegative) return;
    if (isConst(y) && y->value > 0)
      congruent(differenceOf(x), y->value, nullptr);
    else if (isEqual(y) && rangeOf({y, 0}).lo >= 0)
      congruent(differenceOf(x), 0, y);
    return;
  }
  case Op::Apply:
    // An injective function that both threads share. Room begins where no other does that is not empty.
    if ((e->function->injective || isRoomOfBoth(e)) &&
        e->function->varies < (relation == Relation::DifferentBlocks ? Varies::ByBlock : Varies::ByThread)) {
      numbered.push_back(e);
      followNumbers();
    }
    return;
  default: return;
  }
}

/// Whether this is room of which both threads have taken some.
bool PairSystem::isRoomOfBoth(Expr e) {
  return e->function->isRoom && a.ranges.of(e->operands.back()).lo > 0 &&
         b.ranges.of(e->operands.back()).lo > 0;
}

/// Whether the paths of both threads show a comparison.
bool PairSystem::holdsForBoth(Expr condition) {
  auto holds = [&](AccessView& view, std::uint8_t thread, Expr part) {
    const auto known = conjunctsOf(view.condition);
    if (isTrue(part) || std::find(known.begin(), known.end(), part) != known.end()) return true;
    const bool isNegated = part->op == Op::Xor && isTrue(part->operands[1]);
    Expr c = isNegated ? part->operands[0] : part;
    if (c->op != Op::Slt && c->op != Op::Sle) return false;
    Poly more = view.linear.of(c->operands[1]) - view.linear.of(c->operands[0]);
    if (isNegated) more = more.scaled(-1);
    if ((c->op == Op::Slt) != isNegated) more.add(Monomial{}, -1);
    return proves(canonical(instance(more, relation, thread)));
  };
  const auto parts = conjunctsOf(condition);
  return std::all_of(parts.begin(), parts.end(),
                     [&](Expr part) { return holds(a, 1, part) && holds(b, 2, part); });
}

/// Whether an equation says of the difference of e that it is 0, which its parts need not be: `row * pitch +
/// column`.
bool PairSystem::equationsMakeEqual(Expr e) {
  const Poly difference = canonical(differenceOf(e));
  if (!difference.valid || difference.terms.empty()) return difference.valid;
  return std::any_of(equations.begin(), equations.end(), [&](const Equation& equation) {
    if (equation.lo != equation.hi) return false;
    Poly p = canonical(equation.poly);
    if (!p.valid) return false;
    p.add(Monomial{}, -equation.lo);
    if (p.terms.size() != difference.terms.size()) return false;
    const auto& [monomial, coefficient] = *difference.terms.begin();
    auto same = p.terms.find(monomial);
    if (same == p.terms.end()) return false;
    p = p.scaled(coefficient);
    p.add(difference, -same->second);
    return p.valid && p.terms.empty();
  });
}

namespace {

struct Slice {
  Expr base = nullptr;
  std::uint64_t mask = 0; ///< of the bits of base that the expression shows
};

/// e as some bits of another expression, moved to the right.
Slice sliceOf(Expr e) {
  unsigned shift = 0;
  std::uint64_t mask = zeroExtend(-1, e->width);
  Expr base = e;
  while (base->op == Op::LShr || (base->op == Op::And && base->width > 1) || base->op == Op::ZExt) {
    if (base->op == Op::ZExt) {
      base = base->operands[0];
      mask &= zeroExtend(-1, base->width) >> std::min(shift, 63u);
      continue;
    }
    if (!isConst(base->operands[1])) break;
    if (base->op == Op::LShr) {
      shift += unsigned(base->operands[1]->value);
      if (shift >= base->width) return {};
      mask &= zeroExtend(-1, base->width) >> shift;
    } else {
      mask &= zeroExtend(base->operands[1]->value, base->width) >> shift;
    }
    base = base->operands[0];
  }
  if (base == e) return {};
  return {base, mask << shift};
}

} // namespace

/// Whether all its bits are some of equal parts of another expression.
bool PairSystem::isShown(Expr e) {
  const Slice wanted = sliceOf(e);
  if (!wanted.base) return false;
  std::uint64_t shown = 0;
  for (Expr part : equal)
    if (const Slice slice = sliceOf(part); slice.base == wanted.base) shown |= slice.mask;
  return (wanted.mask & ~shown) == 0;
}

/// The same number of an injective function, where its keys are the same.
void PairSystem::followNumbers() {
  for (std::size_t i = 0; i < numbered.size(); ++i) {
    Expr e = numbered[i];
    if (!e || !std::all_of(e->operands.begin(), e->operands.begin() + e->function->keys, [&](Expr key) {
          return isEqual(key) || isShown(key) || equationsMakeEqual(key) ||
                 (key->op == Op::Ite && isEqual(key->operands[1]) && holdsForBoth(key->operands[0]));
        }))
      continue;
    numbered[i] = nullptr;
    for (Expr o : e->operands) markEqual(o);
  }
}

/// Equal parts make an equal whole: bit slices, and quotient with remainder.
void PairSystem::followSlices() {
  for (int round = 0; round < 3; ++round) {
    std::unordered_map<Expr, std::uint64_t> shown;
    std::vector<Expr> now(equal.begin(), equal.end());
    std::sort(now.begin(), now.end(), [](Expr x, Expr y) { return x->id < y->id; });
    for (Expr e : now) {
      Slice s = sliceOf(e);
      if (s.base) shown[s.base] |= s.mask;
      // The whole of an equal quotient and an equal remainder, by the same divisor.
      const bool isRemainder = e->op == Op::URem || e->op == Op::SRem;
      if (!isRemainder || !isEqual(e->operands[1])) continue;
      const Op division = e->op == Op::URem ? Op::UDiv : Op::SDiv;
      for (Expr other : now)
        if (other->op == division && isEqual(other->operands[1]) &&
            a.isQuotientOf(other, e->operands[0], e->operands[1]) &&
            b.isQuotientOf(other, e->operands[0], e->operands[1]))
          markEqual(e->operands[0]);
    }
    for (auto& [base, mask] : shown) {
      std::uint64_t possible = a.ranges.of(base).maybe | b.ranges.of(base).maybe;
      if (!(possible & zeroExtend(-1, base->width) & ~mask)) markEqual(base);
    }
    if (equal.size() == now.size() || contradiction) return;
  }
}

} // namespace kcheck::analyzer
