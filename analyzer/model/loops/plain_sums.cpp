// Header values to which each round adds the same, in closed form: start + k * step.
#include "analyzer/expr/fold.h"
#include "analyzer/expr/range.h"
#include "analyzer/model/loops/loop_work.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {

Sum summands(Expr e, Expr header) {
  Sum sum;
  std::vector<Expr> todo{e};
  while (!todo.empty()) {
    Expr x = todo.back();
    todo.pop_back();
    if (x == header)
      ++sum.headers;
    else if (x->op == Op::Add) {
      sum.noSignedWrap = sum.noSignedWrap && (x->flags & NoSignedWrap);
      todo.insert(todo.end(), x->operands.begin(), x->operands.end());
    } else
      sum.terms.push_back(x);
  }
  return sum;
}

/// How `counter` compares with a bound where the loop goes on; nothing where that is no order.
static std::optional<CmpInst::Predicate> whileOn(const Loop& loop, const BranchInst& exit,
                                                 const PHINode* counter) {
  auto* compare = cast<ICmpInst>(exit.getCondition());
  const bool isFirst = compare->getOperand(0) == counter;
  if (!compare->isRelational() || isFirst == (compare->getOperand(1) == counter)) return {};
  const CmpInst::Predicate goesOn =
      loop.contains(exit.getSuccessor(0)) ? compare->getPredicate() : compare->getInversePredicate();
  return isFirst ? goesOn : CmpInst::getSwappedPredicate(goesOn);
}

bool isBoundedAbove(const Loop& loop, const BranchInst& exit, const PHINode* counter) {
  const auto goesOn = whileOn(loop, exit, counter);
  return goesOn && (ICmpInst::isLT(*goesOn) || ICmpInst::isLE(*goesOn));
}

static bool isBoundedBelow(const Loop& loop, const BranchInst& exit, const PHINode* counter) {
  const auto goesOn = whileOn(loop, exit, counter);
  return goesOn && (ICmpInst::isGT(*goesOn) || ICmpInst::isGE(*goesOn));
}

static bool fitsIn32(Expr e) {
  if (isConst(e)) return e->value >= -(std::int64_t(1) << 31) && e->value < (std::int64_t(1) << 31);
  if (e->op == Op::SExt || e->op == Op::ZExt)
    return e->operands[0]->width < 32 || (e->op == Op::SExt && e->operands[0]->width == 32);
  if (e->op == Op::Mul && isConst(e->operands[1]) &&
      (e->operands[0]->op == Op::SExt || e->operands[0]->op == Op::ZExt))
    return e->operands[0]->operands[0]->width <= 32 && e->operands[1]->value > -(1 << 16) &&
           e->operands[1]->value < (1 << 16);
  return false;
}

/// An order in the exit condition bounds the value: that it does not run past the end of the type is then
/// either plain or an assumption with a name. Narrow counters do wrap around in practice. Null where there is
/// no such order. 32 bit, with a step upwards.
Expr Execution::boundedSum(LoopWork& work, const PHINode* phi, Expr startValue, Expr step) {
  auto* compare = work.headerExit ? dyn_cast<ICmpInst>(work.headerExit->getCondition()) : nullptr;
  if (!compare || !isBoundedAbove(*work.loop, *work.headerExit, phi)) return nullptr;
  Expr limit = value(compare->getOperand(compare->getOperand(0) == phi ? 1 : 0));
  bool plain = !compare->isSigned() && !dependsOnLoop(work, limit, true) && isNonNegative(limit);
  Int most = (Int(1) << 31) - 1;
  if (isConst(limit) && isConst(step) && (compare->isSigned() || limit->value >= 0))
    plain = plain || Int(limit->value) + step->value <= most;
  if (!plain)
    work.assumptions.insert("the loop counter at " + state.lineText(*work.headerExit) + " does not overflow");
  std::uint8_t flags = NoUnsignedWrap;
  if (compare->isSigned() && isNonNegative(startValue)) flags |= NoSignedWrap;
  return exprs.add(startValue, exprs.mul(work.counterAs(exprs, 32), step, flags), flags);
}

/// Whether a number of 32 bits that each round moves by `step`, and that does not wrap, is at an end before
/// rounds are counted out.
bool Execution::endsInTime(const LoopWork& work, const PHINode* phi, Expr startValue, Expr step) {
  if (!isConst(step) || step->value == 0) return false;
  if (!isConst(step, -1)) return isNonNegative(startValue) || !isConst(step, 1);
  Ranges ranges(Ranges::Wrapping::Exact);
  if (!ranges.assume(work.bodyEntry)) return false;
  Int last = signedMin(32);
  auto* compare = work.headerExit ? dyn_cast<ICmpInst>(work.headerExit->getCondition()) : nullptr;
  if (compare && compare->isSigned() && isBoundedBelow(*work.loop, *work.headerExit, phi)) {
    Expr end = value(compare->getOperand(compare->getOperand(0) == phi ? 1 : 0));
    if (!dependsOnLoop(work, end, true)) last = std::max(last, ranges.of(end).lo - 1);
  }
  return ranges.of(startValue).hi - last <= signedMax(32);
}

/// start + k * step, with the flags that follow from the additions of the loop not overflowing.
Expr Execution::additiveForm(LoopWork& work, const PHINode* phi, Expr startValue, Expr step, bool noWrap) {
  unsigned width = startValue->width;
  Expr count = work.counterAs(exprs, width);
  if (width == 64) {
    std::uint8_t flags = fitsIn32(step) ? NoSignedWrap : NoFlags;
    return exprs.add(startValue, exprs.mul(count, step, flags), noWrap ? NoSignedWrap : NoFlags);
  }
  if (width < 32 || !noWrap) {
    if (width == 32 && isNonNegative(step))
      if (Expr bounded = boundedSum(work, phi, startValue, step)) return bounded;
    return exprs.add(startValue, exprs.mul(count, step));
  }
  bool sameSign = isNonNegative(startValue) && isNonNegative(step);
  bool unit = isConst(step, 1) || isConst(step, -1);
  if (endsInTime(work, phi, startValue, step)) work.isCounted = true;
  if (sameSign || unit) return exprs.add(startValue, exprs.mul(count, step, NoSignedWrap), NoSignedWrap);
  Expr wide = exprs.mul(exprs.extend(Op::ZExt, 64, work.k), exprs.extend(Op::SExt, 64, step), NoSignedWrap);
  wide = exprs.add(exprs.extend(Op::SExt, 64, startValue), wide, NoSignedWrap);
  return exprs.extend(Op::Trunc, width, wide, NoSignedWrap);
}
/// The same with what inner loops left, where they only count: as often as they ran, whatever the round.
Expr Execution::countedOut(Expr e) {
  Substitution counts(exprs);
  anyNode(e, [&](Expr n) {
    if (n->op != Op::Symbol) return false;
    auto last = state.lastIterations.find(n->symbol);
    if (last == state.lastIterations.end()) return false;
    const bool isWide = last->second->width > n->width;
    counts.set(n, isWide ? exprs.extend(Op::Trunc, n->width, last->second, NoSignedWrap) : last->second);
    if (!isWide) return false;
    state.assume(kNoLongLoops);
    counts.set(exprs.extend(Op::ZExt, last->second->width, n), last->second);
    return false;
  });
  return counts(e);
}

Expr Execution::additive(LoopWork& work, const PHINode* phi, Expr header, Expr latch) {
  if (header->width < 8) return nullptr;
  Expr startValue = work.start[phi];
  // An inner loop may have carried a number on in 64 bits, which fits where it has arrived.
  const bool isWide = header->width == 32 && latch->op == Op::Trunc && (latch->flags & NoSignedWrap) &&
                      latch->operands[0]->width == 64;
  if (isWide) header = exprs.extend(Op::SExt, 64, header), latch = latch->operands[0];
  Sum sum = summands(latch, header);
  if (sum.headers != 1 || (isWide && !sum.noSignedWrap)) return nullptr;
  Expr step = exprs.constant(header->width, 0);
  for (Expr term : sum.terms) {
    term = countedOut(term);
    if (dependsOnLoop(work, term, true)) return nullptr;
    step = exprs.add(step, term, sum.noSignedWrap ? NoSignedWrap : NoFlags);
  }
  if (header->width == 32 || isWide)
    if (sum.noSignedWrap) work.steps[phi] = {work.counter, Op::Add, nullptr, step};
  if (!isWide) return additiveForm(work, phi, startValue, step, sum.noSignedWrap);
  Expr way = exprs.mul(work.counterAs(exprs, 64), step, NoSignedWrap);
  Expr wide = exprs.add(exprs.extend(Op::SExt, 64, startValue), way, NoSignedWrap);
  return exprs.extend(Op::Trunc, 32, wide, NoSignedWrap);
}

} // namespace kcheck::analyzer
