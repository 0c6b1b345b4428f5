// Values that count in how many rounds of a loop something held.
#include "analyzer/model/loops/loop_work.h"

using namespace llvm;

namespace kcheck::analyzer {

/// The condition under which `latch` is one more than `header`; null where it may be anything else.
static Expr addsOne(ExprContext& c, Expr latch, Expr header) {
  if (latch->op == Op::Ite) {
    Expr then = addsOne(c, latch->operands[1], header), otherwise = addsOne(c, latch->operands[2], header);
    return then && otherwise ? c.ite(latch->operands[0], then, otherwise) : nullptr;
  }
  Expr step = c.sub(latch, header);
  if (step->op == Op::ZExt && step->operands[0]->width == 1) return step->operands[0];
  if (step->op == Op::Ite && isConst(step->operands[1]) && isConst(step->operands[2]))
    return addsOne(c, step, c.constant(step->width, 0));
  return isConst(step, 0) || isConst(step, 1) ? c.boolean(step->value != 0) : nullptr;
}

/// Values that each round counts up by one or leaves alone, as what is alike for all threads says.
void Execution::noteTallies(const LoopWork& work) {
  if (!work.headerExit || !work.stayIsExact) return;
  for (const PHINode* phi : work.phis) {
    const auto header = work.open.find(phi), latch = work.latch.find(phi);
    if (header == work.open.end() || latch == work.latch.end() || !phi->getType()->isIntegerTy(32)) continue;
    Expr holds = addsOne(exprs, latch->second, header->second);
    if (!holds || dependsOnLoop(work, holds, false)) continue;
    state.model.tallies[work.after.at(phi)] = {
        holds, work.k, work.trips ? exprs.constant(32, *work.trips) : exprs.of(work.exitCounter)};
  }
}

} // namespace kcheck::analyzer
