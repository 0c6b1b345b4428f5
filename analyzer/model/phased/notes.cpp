// What barriers with phases order of an access: the phase for which the thread arrives next, and those that
// it has waited for.
#include "analyzer/model/execution.h"

#include "llvm/IR/InlineAsm.h"

using namespace llvm;

namespace kcheck::analyzer {

/// That the thread has come to a block outside of loops, past whatever barriers; null where that is not
/// known.
Expr Execution::hasCome(const BasicBlock* block) const {
  const auto& known = before ? before->conditions : conditions;
  const auto condition = known.find(block);
  if (condition == known.end()) return nullptr;
  Substitution past(exprs);
  for (const Symbol* symbol : state.pastBarriers) past.set(exprs.of(symbol), exprs.boolean(true));
  return past(condition->second);
}

Expr Execution::hasEntered(const Loop* loop) const {
  if (chainIndex(loop) >= 0) return exprs.boolean(true);
  for (const Execution* run : {this, before})
    if (run)
      if (const auto entry = run->loopEntries.find(loop); entry != run->loopEntries.end())
        return entry->second;
  return nullptr;
}

Expr Execution::lastRoundOf(const Loop* loop) const {
  if (const auto last = lastRounds.find(loop); last != lastRounds.end()) return last->second;
  if (chainIndex(loop) >= 0) return iterations.at(loop);
  if (!before) return nullptr;
  const auto last = before->lastRounds.find(loop);
  return last == before->lastRounds.end() ? nullptr : last->second;
}

/// As a number of 32 bits; null where it is not known. Of `loop`, where given, in that round.
Expr Execution::counted(const Count& count, const Loop* loop, Expr round) const {
  Expr sum = exprs.constant(32, count.constant);
  const auto zero = exprs.constant(32, 0), one = exprs.constant(32, 1);
  for (const auto& [term, times] : count.terms) {
    const auto* ofLoop = static_cast<const Loop*>(term.second);
    Expr number = nullptr;
    switch (term.first) {
    case Count::Kind::Block:
      if (Expr come = hasCome(static_cast<const BasicBlock*>(term.second)))
        number = exprs.ite(come, one, zero);
      break;
    case Count::Kind::Round:
      if (ofLoop == loop)
        number = round;
      else if (const auto now = iterations.find(ofLoop); now != iterations.end())
        number = now->second;
      break;
    case Count::Kind::Rounds:
    case Count::Kind::Entered: {
      Expr entered = hasEntered(ofLoop), last = lastRoundOf(ofLoop);
      if (entered && last) number = exprs.ite(entered, term.first == Count::Kind::Rounds ? last : one, zero);
      break;
    }
    }
    if (!number) return nullptr;
    sum = exprs.add(sum, exprs.mul(number, exprs.constant(32, times), NoSignedWrap), NoSignedWrap);
  }
  return sum;
}

void Execution::noteWaited(const PhasedWait& wait, unsigned barrier, const Instruction& here,
                           ModelAccess& access) {
  const Ways& ways = *state.phased->ways;
  const auto note = [&](Expr isOver, const Loop* loop, Expr round) {
    Expr phase = isOver ? counted(wait.phase, loop, round) : nullptr;
    if (phase && !isFalse(isOver)) access.phasesSeen.push_back({barrier, isOver, phase});
  };
  const Loop* loop = ways.loopOf(*wait.at);
  Expr comes = exprs.boolean(true); // those that come to the wait, where others pass it by
  if (ways.isOfSome(*wait.at))
    for (const PhasedArrival& arrival : state.phased->barriers[barrier].arrivals)
      if (arrival.at == wait.at) comes = arrival.comes;
  if (ways.isPassed(*wait.at, here) && (!loop || loop->contains(&here)))
    return note(state.dominators.dominates(wait.at, &here) ? exprs.boolean(true) : comes, nullptr, nullptr);
  if (!ways.mayCome(*wait.at, here)) return;
  if (!loop) return note(hasCome(wait.at->getParent()), nullptr, nullptr);
  if (!ways.isInEveryRound(*wait.at)) return;
  const Expr one = exprs.constant(32, 1);
  const auto now = iterations.find(loop);
  Expr round = loop->contains(&here) ? (now == iterations.end() ? nullptr : now->second) : lastRoundOf(loop);
  if (!round) return;
  Expr cameRound = exprs.logicalAnd(comes, exprs.binary(Op::Sle, one, round)),
       previous = exprs.sub(round, one, NoSignedWrap);
  if (loop->contains(&here)) return note(cameRound, loop, previous);
  Expr entered = hasEntered(loop);
  if (!entered) return;
  entered = exprs.logicalAnd(entered, comes);
  const auto last = ways.isInLastRound(*wait.at);
  if (last && *last)
    note(entered, loop, round);
  else
    note(exprs.logicalAnd(entered, cameRound), loop, previous);
}

/// Whether the access is over when the thread arrives there: a copy that goes on beside its thread is where
/// the thread has waited for it by then.
static bool isOverAt(const KernelState& state, const Instruction& instruction, const PhasedBarrier& barrier) {
  auto* call = dyn_cast<CallInst>(&instruction);
  if (!call || !call->isInlineAsm()) return true;
  if (!startsCopy(*call) || state.asyncCopies.lost().count(call)) return false;
  return none_of(barrier.arrivals, [&](const PhasedArrival& arrival) {
    return any_of(state.asyncCopies.at(arrival.at->getParent()),
                  [&](const CopyUnderWay& copy) { return copy.copy == call; });
  });
}

/// How often the thread has arrived there; null where that is not known.
Expr Execution::arrivalsBefore(const Instruction& here, const PhasedBarrier& barrier) const {
  const Ways& ways = *state.phased->ways;
  Expr sum = exprs.constant(32, 0);
  for (const PhasedArrival& arrival : barrier.arrivals) {
    const auto count = ways.before(here, {arrival.at});
    Expr number = count ? counted(*count, nullptr, nullptr) : nullptr;
    if (!number) return nullptr;
    if (ways.isOfSome(*arrival.at) && !state.dominators.dominates(arrival.at, &here))
      number = exprs.ite(arrival.comes, number, exprs.constant(32, 0));
    sum = exprs.add(sum, number, NoSignedWrap);
  }
  return sum;
}

void Execution::notePhases(const Instruction& instruction, ModelAccess& access) {
  if (!state.phased) return;
  const auto& barriers = state.phased->barriers;
  for (unsigned i = 0; i < barriers.size(); ++i) {
    if (isOverAt(state, instruction, barriers[i]))
      if (Expr phase = arrivalsBefore(instruction, barriers[i]))
        access.phasesAhead.push_back({i, barriers[i].comes, phase});
    for (const PhasedWait& wait : barriers[i].waits) noteWaited(wait, i, instruction, access);
  }
}

} // namespace kcheck::analyzer
