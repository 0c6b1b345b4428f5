// How loop symbols vary: all threads that leave a loop do so after the same number of iterations when every
// exit condition is the same for all. A fixpoint, as exit conditions mention other loops' symbols.
#include "analyzer/model/uniformity.h"
#include "analyzer/model/kernel_state.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <functional>
#include <set>

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

/// How far apart two threads may be in a loop's own rounds, however often all of them go round.
Varies withinOf(const LoopRecord& record) {
  if (!record.aligned) return Varies::ByThread;
  return record.alignedBy == BarrierKind::Grid ? Varies::Never : Varies::ByBlock;
}

/// What a loop inside `outer` leaves behind depends on the round that `outer` is in where it mentions the
/// counter of `outer`, or what else changes with its rounds.
class Rounds {
public:
  Rounds(const std::vector<LoopRecord>& loops, const LoopRecord& outer) {
    symbols.insert(outer.counter);
    for (auto& open : outer.open) symbols.insert(open.inside);
    for (const LoopRecord& record : loops)
      if (record.loop != outer.loop && record.run == outer.run && outer.loop->contains(record.loop))
        inner.push_back(&record);
    while (spread()) {
    }
  }

  void raiseAll(Varies to) const {
    for (Symbol* symbol : symbols) raise(symbol, to);
  }

private:
  bool spread() {
    const std::size_t before = symbols.size();
    for (const LoopRecord* record : inner) {
      const bool exits = llvm::any_of(record->exitConditions, [&](Expr e) { return mentions(e); });
      if (exits) symbols.insert(record->exitCounter);
      for (auto& open : record->open) {
        const bool changes = symbols.contains(open.inside) || mentions(open.start) || mentions(open.latch);
        if (changes) symbols.insert(open.inside);
        if (changes || exits) symbols.insert(open.after);
      }
      for (auto& [exit, last] : record->renamed)
        if (exits || symbols.contains(exit)) symbols.insert(last);
    }
    return symbols.size() != before;
  }

  bool mentions(Expr e) const {
    return e && anyNode(e, [&](Expr n) { return n->op == Op::Symbol && symbols.contains(n->symbol); });
  }

  std::vector<const LoopRecord*> inner;
  std::set<Symbol*, std::less<>> symbols;
};

} // namespace

/// The symbols of loops that follow memory which is taken to stay as it is.
static void markKept(KernelState& state) {
  for (bool changed = true; changed;) {
    changed = false;
    auto mark = [&](Symbol* symbol) {
      changed = changed || !symbol->isKept;
      symbol->isKept = true;
    };
    for (const LoopRecord& record : state.loops) {
      const bool exits = llvm::any_of(record.exitConditions, followsKept);
      if (exits) {
        mark(record.counter);
        mark(record.exitCounter);
      }
      for (auto& open : record.open)
        if (exits || open.inside->isKept || followsKept(open.start) || followsKept(open.latch)) {
          mark(open.inside);
          mark(open.after);
        }
      for (auto& [inner, last] : record.renamed)
        if (exits || inner->isKept) mark(last);
    }
  }
}

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
  // Inside a loop without a barrier each thread is in a round of its own, and each block in one whose barrier
  // is not the grid's.
  for (const LoopRecord& record : state.loops)
    if (Varies own = withinOf(record); own != Varies::Never) Rounds(state.loops, record).raiseAll(own);
  markKept(state);
}

} // namespace kcheck::analyzer
