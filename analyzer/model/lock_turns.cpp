#include "analyzer/model/lock_turns.h"

#include "analyzer/model/execution.h"
#include "analyzer/model/lock_operations.h"

using namespace llvm;

namespace kcheck::analyzer {
namespace {

/// Where the numbers are drawn one by one, from one counter, beside the served number. Nothing where two
/// threads may draw the same.
bool noteDraw(KernelState& state, Execution& whole, const Instruction& draw, const Place& served,
              LockTurn& turn) {
  Expr number = whole.value(&draw);
  if (number->op == Op::ZExt) number = number->operands[0];
  if (number->op != Op::Apply || !number->function->injective) return false;
  const auto counter = state.objects.places(whole.value(draw.getOperand(0)));
  if (counter.size() != 1 || counter[0].object == served.object) return false;
  turn.counter = counter[0].object;
  turn.distance = state.exprs.sub(counter[0].offset, served.offset);
  return isConst(turn.distance);
}

/// Who waits by this look, and for which number. Nothing where that is not followed.
std::optional<LockTurn> turnOf(KernelState& state, Execution& whole, const Instruction& look,
                               const Value& number) {
  LockTurn turn;
  for (const RunAccess& access : whole.accesses) {
    if (access.instruction != &look) continue;
    if (turn.access.offset) return {}; // in rounds one by one, or at one of several places
    turn.access = access.access;
  }
  if (!turn.access.offset) return {};
  if (const Instruction* draw = drawOf(&number)) {
    const Place served{nullptr, turn.access.object, turn.access.offset};
    if (!noteDraw(state, whole, *draw, served, turn)) return {};
  }
  Expr waitsFor = whole.value(&number);
  turn.access.offset = waitsFor->width < 64 ? state.exprs.extend(Op::ZExt, 64, waitsFor) : waitsFor;
  turn.access.size = state.exprs.constant(64, 1);
  turn.access.align = 1;
  turn.access.stored = nullptr;
  return turn;
}

} // namespace

void addLockTurns(KernelState& state, Execution& whole) {
  for (const BasicBlock& block : state.function)
    for (const Instruction& look : block) {
      const auto values = state.sections.valuesOf(look);
      if (!values || !values->turn || state.sections.givesBack(look)) continue;
      const auto turn = turnOf(state, whole, look, *values->turn);
      std::set<unsigned> objects;
      for (const RunAccess& access : whole.accesses)
        if (access.instruction == &look) objects.insert(access.access.object);
      for (unsigned object : objects) {
        if (turn)
          state.model.turns[object].push_back(*turn);
        else
          state.model.openTurns.insert(object);
      }
    }
}

} // namespace kcheck::analyzer
