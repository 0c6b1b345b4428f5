// How loop symbols vary: all threads that leave a loop do so after the same number of iterations when every
// exit condition is the same for all. A fixpoint, as exit conditions mention other loops' symbols.
#include "analyzer/model/uniformity.h"
#include "analyzer/model/kernel_state.h"

#include <algorithm>

namespace kcheck::analyzer {

namespace {

Varies varianceOf(Expr e) {
  Varies result = Varies::Never;
  if (!e) return result;
  anyNode(e, [&](Expr n) {
    if (n->op == Op::Symbol) result = std::max(result, n->symbol->varies);
    if (n->op == Op::Apply) result = std::max(result, n->function->varies);
    return result == Varies::ByThread;
  });
  return result;
}

bool raise(Symbol* symbol, Varies to) {
  if (symbol->varies >= to) return false;
  symbol->varies = to;
  return true;
}

/// Threads in the same iteration of a loop with a barrier of this reach are in it together.
Varies aligned(Varies varies, BarrierKind by) {
  return by == BarrierKind::Grid ? Varies::Never : std::min(varies, Varies::ByBlock);
}

} // namespace

void settleUniformity(KernelState& state) {
  for (LoopRecord& record : state.loops) {
    record.counter->varies = record.exitCounter->varies = Varies::Never;
    for (auto& open : record.open) open.inside->varies = open.after->varies = Varies::Never;
    for (auto& [inner, last] : record.renamed) last->varies = Varies::Never;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (LoopRecord& record : state.loops) {
      Varies exits = record.counter->varies;
      for (Expr condition : record.exitConditions) exits = std::max(exits, varianceOf(condition));
      if (record.aligned) exits = aligned(exits, record.alignedBy);
      changed = raise(record.counter, exits) || changed;
      changed = raise(record.exitCounter, exits) || changed;
      for (auto& open : record.open) {
        Varies value = std::max({exits, varianceOf(open.start), varianceOf(open.latch), open.inside->varies});
        changed = raise(open.inside, value) || changed;
        changed = raise(open.after, value) || changed;
      }
      for (auto& [inner, last] : record.renamed)
        changed = raise(last, std::max(exits, inner->varies)) || changed;
    }
  }
  // Inside a loop without a barrier each thread is in an iteration of its own.
  for (LoopRecord& record : state.loops) {
    if (record.aligned) continue;
    record.counter->varies = Varies::ByThread;
    for (auto& open : record.open) open.inside->varies = Varies::ByThread;
  }
}

} // namespace kcheck::analyzer
