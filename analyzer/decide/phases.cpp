// Threads that a barrier with phases orders: one arrives behind its access, and the other has waited for that
// phase, or for one that comes later at another barrier.
#include "analyzer/decide/question.h"

namespace kcheck::analyzer {

bool haveCommonPhases(const KernelModel& model, const ModelAccess& a, const ModelAccess& b) {
  return !model.phaseOrders.empty() && ((!a.phasesAhead.empty() && !b.phasesSeen.empty()) ||
                                        (!b.phasesAhead.empty() && !a.phasesSeen.empty()));
}

/// What holds of two threads that no such barrier orders.
std::vector<Expr> Decider::unorderedByPhases(const PairQuestion& q) {
  std::vector<Expr> result;
  if (q.relation == Relation::DifferentBlocks) return result;
  ExprContext& c = kernel.context;
  unsigned thread = 0;
  for (const auto& [earlier, later] : {std::pair(q.a, q.b), std::pair(q.b, q.a)}) {
    ++thread;
    const auto of = [&](Expr e) { return copies.of(e, q.relation, thread); };
    const auto ofOther = [&](Expr e) { return copies.of(e, q.relation, 3 - thread); };
    for (const PhaseAhead& ahead : earlier->phasesAhead)
      for (const PhaseSeen& seen : later->phasesSeen)
        for (const PhaseOrder& order : kernel.model.phaseOrders) {
          if (order.first != ahead.barrier || order.then != seen.barrier) continue;
          Expr needed = c.add(of(ahead.phase), c.constant(32, order.distance), NoSignedWrap);
          Expr isOrdered = c.logicalAnd(c.logicalAnd(of(ahead.comes), ofOther(seen.isOver)),
                                        c.binary(Op::Sle, needed, ofOther(seen.phase)));
          result.push_back(c.logicalNot(isOrdered));
        }
  }
  return result;
}

} // namespace kcheck::analyzer
