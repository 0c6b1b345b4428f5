// Counters of 8 and 16 bits: `for (short i = threadIdx.x; i < 1024; i += blockDim.x)`. They would wrap, but
// the loop's bound ends it before: one step beyond it, the type still holds them.
#include "analyzer/expr/fold.h"
#include "analyzer/expr/range.h"
#include "analyzer/model/loops/loop_work.h"

using namespace llvm;

namespace kcheck::analyzer {
namespace {

/// Of the loop's test in its header: the other side of an order of the counter, widened, and a number; and
/// whether the loop goes on below it.
struct Bound {
  const Value* end = nullptr;
  Op widening = Op::SExt;
  bool isAbove = false, isClosed = false;
};

/// The counter as an int, where that is one side of a comparison.
const CastInst* widened(const Value* side, const PHINode* counter) {
  const auto* cast = dyn_cast<CastInst>(side);
  return cast && isa<SExtInst, ZExtInst>(cast) && cast->getOperand(0) == counter ? cast : nullptr;
}

std::optional<Bound> boundOf(const Loop& loop, const BranchInst& exit, const PHINode* counter) {
  const auto* compare = dyn_cast<ICmpInst>(exit.getCondition());
  if (!compare || !compare->isRelational()) return {};
  const bool isFirst = widened(compare->getOperand(0), counter);
  const CastInst* wide = widened(compare->getOperand(isFirst ? 0 : 1), counter);
  if (!wide) return {};
  CmpInst::Predicate goesOn =
      loop.contains(exit.getSuccessor(0)) ? compare->getPredicate() : compare->getInversePredicate();
  if (!isFirst) goesOn = CmpInst::getSwappedPredicate(goesOn);
  if (!CmpInst::isSigned(goesOn)) return {}; // C++ compares narrow numbers as ints
  return Bound{compare->getOperand(isFirst ? 1 : 0), isa<SExtInst>(wide) ? Op::SExt : Op::ZExt,
               ICmpInst::isLT(goesOn) || ICmpInst::isLE(goesOn),
               ICmpInst::isLE(goesOn) || ICmpInst::isGE(goesOn)};
}

} // namespace

/// What a round adds to the counter, as an int; null where that is not the same in all.
Expr Execution::narrowStep(const LoopWork& work, Op widening, Expr header, Expr latch) {
  // Constants are cut to the counter's width before they are added.
  const bool isCut = latch->op != Op::Trunc;
  if (!isCut && latch->operands[0]->width != 32) return nullptr;
  const Sum sum =
      isCut ? summands(latch, header) : summands(latch->operands[0], exprs.extend(widening, 32, header));
  if (sum.headers != 1 || (!isCut && !sum.noSignedWrap)) return nullptr;
  Expr step = exprs.constant(32, 0);
  for (Expr term : sum.terms) {
    if (dependsOnLoop(work, term, true) || (isCut && !isConst(term))) return nullptr;
    step = exprs.add(step, isCut ? exprs.extend(Op::SExt, 32, term) : term, NoSignedWrap);
  }
  return step;
}

Expr Execution::narrowSum(LoopWork& work, const PHINode* phi, Expr header, Expr latch) {
  const unsigned width = header->width;
  if (width != 8 && width != 16) return nullptr;
  const auto bound = work.headerExit ? boundOf(*work.loop, *work.headerExit, phi) : std::nullopt;
  Expr step = bound ? narrowStep(work, bound->widening, header, latch) : nullptr;
  if (!step) return nullptr;
  const bool isSigned = bound->widening == Op::SExt;
  Expr end = value(bound->end), start = exprs.extend(bound->widening, 64, work.start[phi]);
  Ranges ranges(Ranges::Wrapping::Exact);
  if (dependsOnLoop(work, end, true) || !ranges.assume(work.bodyEntry)) return nullptr;
  const Range added = ranges.of(step), ends = ranges.of(end);
  const Int least = isSigned ? signedMin(width) : 0;
  const Int most = isSigned ? signedMax(width) : powerOfTwo(width) - 1;
  const Int open = bound->isClosed ? 0 : 1; // the last number for which it goes on is that far from the end
  const bool fits = bound->isAbove ? added.lo >= 0 && ends.hi - open + added.hi <= most
                                   : added.hi <= 0 && ends.lo + open + added.lo >= least;
  if (!fits) return nullptr;
  Expr way = exprs.mul(exprs.extend(Op::ZExt, 64, work.k), exprs.extend(Op::SExt, 64, step), NoSignedWrap);
  Expr wide = exprs.add(start, way, NoSignedWrap);
  work.facts.push_back(exprs.binary(Op::Sle, exprs.constant(64, std::int64_t(least)), wide));
  work.facts.push_back(exprs.binary(Op::Sle, wide, exprs.constant(64, std::int64_t(most))));
  return exprs.extend(Op::Trunc, width, wide, isSigned ? NoSignedWrap : NoFlags);
}

} // namespace kcheck::analyzer
