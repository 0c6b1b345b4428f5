// Barriers: does every thread of the group take the same way?
#include "analyzer/decide/checks.h"

#include <algorithm>

namespace kcheck::analyzer {

namespace {

std::vector<Relation> relationsOf(BarrierReach reach) {
  switch (reach) {
  case BarrierReach::Warp: return {Relation::SameWarp};
  case BarrierReach::Group: return {Relation::SameGroup};
  case BarrierReach::Block: return {Relation::SameBlock};
  default: return {Relation::SameBlock, Relation::DifferentBlocks};
  }
}

/// Whether two threads can go different ways at the branch, of which one comes to the barrier. With a mask,
/// it names the other, which does not come.
Verdict goDifferentWays(Check& c, const BarrierControl& control, Relation relation,
                        std::deque<ModelAccess>& arms, ModelAccess*& first, ModelAccess*& second) {
  ExprContext& context = c.decider.view().context;
  Expr otherwise = context.logicalNot(control.condition);
  Verdict verdict;
  for (auto [mine, others] : {std::pair{control.condition, otherwise}, {otherwise, control.condition}}) {
    first = &arms.emplace_back();
    second = &arms.emplace_back();
    first->where = second->where = control.branch;
    first->condition = context.logicalAnd(control.reached, mine);
    second->condition = context.logicalAnd(control.reached, others);
    if (control.comes) first->condition = context.logicalAnd(first->condition, control.comes);
    if (control.isOfSome())
      second->condition = context.logicalAnd(second->condition, context.logicalNot(control.comes));
    if (control.named) second->condition = context.logicalAnd(second->condition, control.named);
    bool assumed = verdict.assumesNoWrap; // by the first direction
    verdict = c.decider.meet({first, second, relation, control.mask});
    verdict.assumesNoWrap = verdict.assumesNoWrap || assumed;
    if (verdict.outcome != Verdict::Outcome::Never) break;
  }
  return verdict;
}

/// Whether a thread ever comes to a place where the condition of `at` holds. Where none does, the answer
/// rests on what that does.
Verdict everHolds(Check& c, ModelAccess& at, PropertyAnswer& answer) {
  ExprContext& context = c.decider.view().context;
  at.offset = context.constant(64, 0);
  at.size = context.constant(64, 1);
  Verdict verdict = c.decider.leaves(at, context.constant(64, 0)); // whenever it comes
  if (verdict.outcome == Verdict::Outcome::Never && verdict.assumesNoWrap)
    for (const std::string& text : c.decider.wrapAssumptions(at)) answer.assume(text);
  return verdict;
}

/// Whether a lane comes to a collective whose mask leaves it out.
void checkLaneCall(Check& c, const LaneCall& call, PropertyAnswer& answer, std::deque<ModelAccess>& asked) {
  ModelAccess& caller = asked.emplace_back();
  caller.where = call.where;
  caller.condition = call.unnamed;
  const Verdict verdict = everHolds(c, caller, answer);
  if (verdict.outcome == Verdict::Outcome::Never) return;
  const std::string name = lineOf(call.where) + ": whether the mask names every lane that comes";
  if (verdict.outcome == Verdict::Outcome::Unknown) return answer.doubt(name + ": " + verdict.reason);
  Witness witness = c.decider.witness(verdict, caller, nullptr, Relation::SameBlock);
  if (!call.isFollowed) return answer.doubt(name + " is not followed");
  if (!witness.exact()) return answer.doubt(name + ", leaning on " + witness.causes.front().text);
  answer.refute();
  c.answers.laneCalls.push_back({&call, std::move(witness)});
}

/// Whether a shuffle reads from lanes that take part.
void checkStray(Check& c, const StrayRead& read, PropertyAnswer& answer, std::deque<ModelAccess>& asked) {
  ModelAccess& reader = asked.emplace_back();
  reader.where = read.where;
  reader.condition = read.strays;
  if (everHolds(c, reader, answer).outcome != Verdict::Outcome::Never)
    answer.doubt(lineOf(read.where) + ": the lane that a shuffle reads may take no part in it");
}

} // namespace

PropertyResult checkBarriers(Check c) {
  PropertyAnswer answer(Property::BarriersUniform);
  PropertyAnswer meeting = answer; // of the barriers alone that order
  for (const ModelGap& gap : c.model.gaps) {
    if (!gap.affectsBarriers) continue;
    answer.doubt(lineOf(gap.where) + ": " + gap.what);
    // Of those that cut no phase, who waits there in vain has done no less until then.
    if (gap.affectsRaces) meeting.doubt(lineOf(gap.where) + ": " + gap.what);
  }
  for (const std::string& assumption : c.model.assumptions) answer.assume(assumption);
  std::deque<ModelAccess> arms; // the decider remembers accesses by address: none may move or go
  for (const BarrierControl& control : c.model.barriers) {
    for (Relation relation : relationsOf(control.reach)) {
      if (!c.decider.view().isPrivate(control.condition, relation)) continue;
      ModelAccess *taken = nullptr, *missed = nullptr;
      Verdict verdict = goDifferentWays(c, control, relation, arms, taken, missed);
      if (verdict.outcome == Verdict::Outcome::Never) {
        for (const ModelAccess* way : {taken, missed}) {
          for (const std::string& text : c.decider.signedAssumptions(*way)) answer.assume(text);
          if (!verdict.assumesNoWrap) continue;
          for (const std::string& text : c.decider.wrapAssumptions(*way)) answer.assume(text);
        }
        continue;
      }
      std::string name =
          std::string(control.isTogether ? "lanes that must come together in " : "barrier in ") +
          lineOf(control.barrier) + " under the branch in " + lineOf(control.branch);
      if (verdict.outcome == Verdict::Outcome::Unknown) {
        answer.doubt(name + ": " + verdict.reason);
        if (!control.isTogether) meeting.doubt(name + ": " + verdict.reason);
        continue;
      }
      Witness witness = c.decider.witness(verdict, *taken, missed, relation);
      // Threads that have left the kernel are out of the count: who is left still meets at every barrier.
      const bool areOut =
          control.isTogether || (control.othersExit && !control.othersLeave && witness.exact());
      const std::string doubt =
          witness.exact() ? "line " + std::to_string(control.barrier.line)
                          : name + ": possibly divergent, leaning on " + witness.causes.front().text;
      if (!control.isFollowed)
        answer.doubt(lineOf(control.barrier) +
                     ": whether those that the mask names come past the branch in " + lineOf(control.branch) +
                     " is not followed");
      else if (control.othersLeave)
        answer.doubt(lineOf(control.barrier) + ": lanes that the branch in " + lineOf(control.branch) +
                     " sends elsewhere may have returned by then, or may not");
      else if (control.othersMeet)
        answer.doubt(lineOf(control.barrier) +
                     ": which lanes meet at this warp barrier, and which at another "
                     "one, is not followed");
      else if (witness.exact())
        answer.refute();
      else
        answer.doubt(doubt);
      if (!areOut) meeting.doubt(doubt);
      if (control.othersMeet || control.othersLeave || !control.isFollowed) break;
      // A mask that a vote made usually names just those who come: unknown, but nothing to tell.
      const bool isOfLanes = control.isOfSome() || control.isTogether;
      if (isOfLanes && witness.leansOn(CauseKind::Warp)) break;
      c.answers.divergences.push_back({&control, std::move(witness)});
      break;
    }
  }
  for (const LaneCall& call : c.model.laneCalls) checkLaneCall(c, call, answer, arms);
  for (const StrayRead& read : c.model.strays) checkStray(c, read, answer, arms);
  if (c.model.takesWholeWarps) answer.assume("blocks are of whole warps");
  c.answers.missedBarriers = meeting.finish().reason;
  return answer.finish();
}

std::string barriersRestOn(const KernelModel& model) {
  for (const BarrierControl& control : model.barriers)
    for (Expr part : {control.condition, control.reached})
      if (followsKept(part))
        return lineOf(control.branch) + ": who comes to the barrier in " + lineOf(control.barrier) +
               " follows memory that threads may race for";
  return {};
}

} // namespace kcheck::analyzer
