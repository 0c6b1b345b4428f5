#include "analyzer/decide/linearizer.h"

#include "analyzer/expr/fold.h"

namespace kcheck::analyzer {

Poly Linearizer::atom(Expr e) { return Poly(Atom{e, std::uint8_t(kernel->variesOf(e))}); }

Poly Linearizer::of(Expr e) {
  auto found = memo.find(e);
  if (found != memo.end()) return found->second;
  Poly p = compute(e);
  if (!p.valid || p.terms.size() > Poly::kMostTerms) p = atom(e);
  memo.emplace(e, p);
  return p;
}

Poly Linearizer::ofUnsigned(Expr e) {
  if (e->width == 1 || e->width == 64 || ranges->of(e).lo >= 0) return of(e);
  Expr wide = kernel->context.extend(Op::ZExt, 64, e);
  return wide->op == Op::ZExt ? atom(wide) : of(wide);
}

/// (c * whole + rest) / c is whole + rest / c, and its remainder that of the rest, where the rest is one
/// number that is not negative: `(blockIdx.x * 128 + threadIdx.x) / 32` is `blockIdx.x * 4 + threadIdx.x /
/// 32`.
Poly Linearizer::divided(Expr e) {
  Expr x = e->operands[0], y = e->operands[1];
  if (e->width == 1 || !isConst(y) || y->value < 0 || ranges->of(x).lo < 0) return atom(e);
  const bool isShift = e->op == Op::LShr || e->op == Op::AShr, isMask = e->op == Op::And;
  if (isShift && y->value >= e->width - 1) return atom(e);
  if (isMask && !isPowerOfTwo(std::uint64_t(y->value) + 1)) return atom(e);
  const Int by = isShift ? powerOfTwo(unsigned(y->value)) : Int(y->value) + isMask;
  if (by == 0) return atom(e);
  const Poly all = of(x);
  Poly whole;
  std::vector<Atom> rest;
  for (auto& [monomial, coefficient] : all.terms) {
    if (coefficient % by == 0)
      whole.add(monomial, coefficient / by);
    else if (coefficient == 1 && monomial.size() == 1)
      rest.push_back(monomial.front());
    else
      return atom(e);
  }
  if (by < 2 || !all.valid || whole.terms.empty() || rest.size() > 1) return atom(e);
  const bool isQuotient = isShift || e->op == Op::UDiv || e->op == Op::SDiv;
  Poly result = isQuotient ? whole : Poly(0);
  if (rest.empty()) return result;
  Expr part = rest.front().node;
  const Range range = ranges->of(part);
  if (range.lo < 0 || by > signedMax(part->width)) return atom(e);
  if (range.hi >= by)
    result.add(of(kernel->context.binary(e->op, part, kernel->context.constant(part->width, y->value))));
  else if (!isQuotient)
    result.add(of(part));
  return result;
}

Poly Linearizer::compute(Expr e) {
  Range r = ranges->of(e);
  if (r.isConstant()) return Poly(r.lo);
  auto operand = [&](std::size_t i) { return of(e->operands[i]); };
  switch (e->op) {
  case Op::Add: {
    if (!ranges->isExact(e)) return atom(e);
    Poly sum = operand(0);
    sum.add(operand(1));
    return sum;
  }
  case Op::Mul: {
    Poly product;
    if (ranges->isExact(e) && Poly::multiply(operand(0), operand(1), product)) return product;
    return atom(e);
  }
  case Op::SExt: return e->operands[0]->width > 1 ? operand(0) : atom(e);
  case Op::ZExt:
    return e->operands[0]->width > 1 && ranges->of(e->operands[0]).lo >= 0 ? operand(0) : atom(e);
  case Op::Trunc: return e->width > 1 && ranges->isExact(e) ? operand(0) : atom(e);
  case Op::LShr:
  case Op::AShr:
  case Op::UDiv:
  case Op::SDiv: return divided(e);
  case Op::And: // a mask that keeps every bit that can be set
    if (e->width > 1 && isConst(e->operands[1]) &&
        !(ranges->of(e->operands[0]).maybe & ~zeroExtend(e->operands[1]->value, e->width)))
      return operand(0);
    return divided(e);
  case Op::URem:
  case Op::SRem: { // a remainder of what is below the divisor
    Range a = ranges->of(e->operands[0]), b = ranges->of(e->operands[1]);
    return a.lo >= 0 && b.lo > a.hi ? operand(0) : divided(e);
  }
  case Op::Or:
  case Op::Xor: {
    Range a = ranges->of(e->operands[0]), b = ranges->of(e->operands[1]);
    if (e->width == 1 || a.lo < 0 || b.lo < 0 || (a.maybe & b.maybe)) return atom(e);
    Poly sum = operand(0);
    sum.add(operand(1));
    return sum;
  }
  default: return atom(e);
  }
}

Poly instance(const Poly& p, Relation relation, std::uint8_t thread) {
  std::uint8_t least =
      std::uint8_t(relation == Relation::DifferentBlocks ? Varies::ByBlock : Varies::ByThread);
  return p.mapped([&](Atom a) { return Atom{a.node, a.thread >= least ? thread : std::uint8_t(0)}; });
}

} // namespace kcheck::analyzer
