// Threads that a flag orders: one has set it after its access, and the other has seen that before its own.
#include "analyzer/decide/question.h"

#include <algorithm>

namespace kcheck::analyzer {

/// Whether no two threads, by these two stores, set the flag at one place.
bool Decider::setApart(unsigned object, unsigned one, unsigned other) {
  const auto [known, isNew] = flagsSetApart.try_emplace({object, one, other}, false);
  if (!isNew) return known->second; // false while it is being asked
  const auto& setters = kernel.model.flags.at(object).setters;
  const bool isShared = kernel.model.objects[object].space == MemorySpace::Shared;
  return flagsSetApart[{object, one, other}] =
             neverMeet(setters[one].access, setters[other].access, isShared);
}

/// Whatever may order them: no two threads come to one place by these, of one block if it is shared memory.
bool Decider::neverMeet(const ModelAccess& one, const ModelAccess& other, bool isShared) {
  const auto byItself = [&](const ModelAccess& access) {
    ModelAccess& made = alone.emplace_back(access);
    made.flagsAhead.clear();
    made.flagsSeen.clear();
    made.phasesAhead.clear();
    made.phasesSeen.clear();
    made.locks.clear();
    return &made;
  };
  const ModelAccess *a = byItself(one), *b = byItself(other);
  for (Relation relation : {Relation::SameBlock, Relation::DifferentBlocks}) {
    if (isShared && relation == Relation::DifferentBlocks) continue;
    const Verdict verdict = meet({a, b, relation});
    if (verdict.outcome != Verdict::Outcome::Never || verdict.assumesNoWrap) return false;
  }
  return true;
}

/// That what `later` has seen is no flag that the thread of `earlier` has set behind its access.
Expr Decider::unseen(const ModelAccess& earlier, unsigned thread, const FlagSeen& seen, Relation relation) {
  ExprContext& c = kernel.context;
  const unsigned other = 3 - thread;
  const auto& setters = kernel.model.flags.at(seen.object).setters;
  Expr place = copies.of(seen.place, relation, other), result = c.boolean(false);
  for (unsigned setter = 0; setter < setters.size(); ++setter) {
    if (isFalse(seen.mayBe[setter])) continue;
    Expr isAhead = c.boolean(false);
    for (const FlagAhead& ahead : earlier.flagsAhead) {
      if (ahead.object != seen.object || ahead.setter != setter || (ahead.needsFence && !seen.hasFence))
        continue;
      const FlagSetter& by = setters[setter];
      Expr at = ahead.isOfBlock ? by.placeOfBlock : by.access.offset,
           sets = ahead.isOfBlock ? by.setsOfBlock : by.access.condition;
      if (!at || !sets) continue;
      isAhead = c.logicalOr(isAhead, c.logicalAnd(copies.of(sets, relation, thread),
                                                  c.eq(copies.of(at, relation, thread), place)));
    }
    result = c.logicalOr(result,
                         c.logicalAnd(copies.of(seen.mayBe[setter], relation, other), c.logicalNot(isAhead)));
  }
  return result;
}

bool Decider::mayBeToldApart(const FlagSeen& seen) {
  const std::size_t count = seen.mayBe.size();
  for (unsigned one = 0; one < count; ++one)
    for (unsigned other = one; other < count; ++other)
      if (!isFalse(seen.mayBe[one]) && !isFalse(seen.mayBe[other]) && !setApart(seen.object, one, other))
        return false;
  return true;
}

/// What holds of two threads that no flag orders.
std::vector<Expr> Decider::unorderedByFlags(const PairQuestion& q) {
  std::vector<Expr> result;
  unsigned thread = 0;
  for (const auto& [earlier, later] : {std::pair(q.a, q.b), std::pair(q.b, q.a)}) {
    ++thread;
    for (const FlagSeen& seen : later->flagsSeen) {
      const auto flag = kernel.model.flags.find(seen.object);
      const bool isElsewhere = q.relation == Relation::DifferentBlocks &&
                               kernel.model.objects[seen.object].space == MemorySpace::Shared;
      const bool isAhead = std::ranges::any_of(
          earlier->flagsAhead, [&](const FlagAhead& ahead) { return ahead.object == seen.object; });
      if (flag == kernel.model.flags.end() || isElsewhere || !isAhead || !mayBeToldApart(seen)) continue;
      Expr notLooked = kernel.context.logicalNot(copies.of(seen.isSeen, q.relation, 3 - thread));
      result.push_back(kernel.context.logicalOr(notLooked, unseen(*earlier, thread, seen, q.relation)));
    }
  }
  return result;
}

} // namespace kcheck::analyzer
