// Masks that are made of a number of the launch (`i & (stride - 1)`): who writes so means a power of two.
#include "analyzer/decide/pitches.h"
#include "analyzer/decide/usual_sizes.h"

#include "analyzer/expr/evaluate.h"
#include "report/assumptions.h"

#include <algorithm>

namespace kcheck::analyzer {
namespace {

/// `n` of `n - 1`, `n / 2 - 1`, `(n << 1) - 1`; null where it is no parameter.
Expr numberOfMask(Expr mask) {
  if (mask->op != Op::Add || !isConst(mask->operands[1], -1)) return nullptr;
  Expr e = mask->operands[0];
  while (e->op != Op::Symbol) {
    const bool isStep = e->op == Op::SExt || e->op == Op::ZExt || e->op == Op::Trunc ||
                        ((e->op == Op::UDiv || e->op == Op::SDiv || e->op == Op::LShr || e->op == Op::AShr ||
                          e->op == Op::Shl || e->op == Op::Mul) &&
                         isConst(e->operands[1]));
    if (!isStep) return nullptr;
    e = e->operands[0];
  }
  return isNumber(e) ? e : nullptr;
}

bool has(const std::vector<Expr>& numbers, Expr number) {
  return std::ranges::find(numbers, number) != numbers.end();
}

/// Those with which the kernel masks something else; not where it asks what they are (`n & (n - 1)`).
std::vector<Expr> numbersOfMasks(std::initializer_list<const ModelAccess*> accesses) {
  std::vector<Expr> used, asked;
  const auto look = [&](Expr n) {
    if (n->op != Op::And || n->width == 1) return false;
    for (std::size_t i : {0u, 1u}) {
      Expr number = numberOfMask(n->operands[i]), masked = n->operands[1 - i];
      if (!number) continue;
      const bool isAsked = anyNode(masked, [&](Expr e) { return e == number; });
      (isAsked ? asked : used).push_back(number);
    }
    return false;
  };
  for (const ModelAccess* access : accesses) {
    anyNode(access->offset, look);
    anyNode(access->condition, look);
  }
  std::vector<Expr> result;
  for (Expr number : used)
    if (!has(asked, number) && !has(result, number)) result.push_back(number);
  return result;
}

/// Width 1: as the kernel could ask.
Expr isPowerOfTwo(ExprContext& context, Expr n) {
  const Expr zero = context.constant(n->width, 0);
  const Expr rest = context.binary(Op::And, n, context.add(n, context.constant(n->width, -1)));
  return context.logicalAnd(context.binary(Op::Slt, zero, n), context.eq(rest, zero));
}

} // namespace

Expr preferPowersOfTwo(const Check& check, PropertyAnswer& answer,
                       std::initializer_list<const ModelAccess*> accesses, Verdict& verdict,
                       const std::function<Verdict(Expr number, std::int64_t value)>& with) {
  using Outcome = Verdict::Outcome;
  ExprContext& context = check.decider.view().context;
  Expr all = context.boolean(true);
  if (verdict.outcome != Outcome::Happens) return all;
  for (Expr number : numbersOfMasks(accesses)) {
    const Expr wanted = isPowerOfTwo(context, number);
    const auto asksAgainst = [&](const ModelAccess* access) {
      return check.decider.asksAgainst(*access, wanted);
    };
    if (std::ranges::any_of(accesses, asksAgainst)) continue;
    all = context.logicalAnd(all, wanted);
    if (evaluate(wanted, verdict.values).value) continue;
    bool isOpen = false, assumesNoWrap = false;
    for (unsigned power = 0; power + 1 < number->width; ++power) {
      Verdict usual = check.decider.quickly([&] { return with(number, std::int64_t(1) << power); });
      isOpen = isOpen || usual.outcome == Outcome::Unknown;
      assumesNoWrap = assumesNoWrap || usual.assumesNoWrap;
      if (usual.outcome != Outcome::Happens) continue;
      verdict = std::move(usual);
      verdict.values.symbols[number->symbol] = std::int64_t(1) << power;
      isOpen = false;
      break;
    }
    if (evaluate(wanted, verdict.values).value) continue;
    if (isOpen) {
      verdict.leans.push_back({CauseKind::Launch, nameOf(number) + ", which is no power of two"});
      continue;
    }
    verdict = Verdict::never(assumesNoWrap);
    answer.assume(powerOfTwo(number->symbol->name));
    break;
  }
  return all;
}

} // namespace kcheck::analyzer
