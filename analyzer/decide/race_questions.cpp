// Whether two accesses meet without order. One question for all pairs that are alike; a witness that shows a
// launch which nobody means gives way to another, or to an assumption.
#include "analyzer/decide/conflicts.h"
#include "analyzer/decide/race_parts.h"
#include "analyzer/decide/usual_sizes.h"

#include <algorithm>

namespace kcheck::analyzer {
namespace {

bool bothLocked(const RaceItem& a, const RaceItem& b) {
  return !a.access->locks.empty() && !b.access->locks.empty();
}

/// By flags that one sets and the other sees: which ones, the accesses' places and conditions do not say.
bool haveCommonFlags(const RaceItem& a, const RaceItem& b) {
  const auto tells = [](const ModelAccess& earlier, const ModelAccess& later) {
    return std::ranges::any_of(earlier.flagsAhead, [&](const FlagAhead& ahead) {
      return std::ranges::any_of(later.flagsSeen,
                                 [&](const FlagSeen& seen) { return seen.object == ahead.object; });
    });
  };
  return tells(*a.access, *b.access) || tells(*b.access, *a.access);
}

} // namespace

std::string pairName(const RaceItem& a, const RaceItem& b) {
  std::string first = lineOf(a.access->where), second = lineOf(b.access->where);
  return first == second ? first : first + " against " + second;
}

RaceQuestions::Key RaceQuestions::keyOf(const RaceItem& a, const RaceItem& b, Relation relation) const {
  return {a.access->offset,
          a.access->size,
          a.access->condition,
          b.access->offset,
          b.access->size,
          b.access->condition,
          relation,
          bothLocked(a, b) || haveCommonFlags(a, b) || haveCommonPhases(c.model, *a.access, *b.access),
          std::min(a.access->align, b.access->align),
          a.access->isTakenAligned};
}

/// Whether that pair of sites has shown enough races. Of one within a warp it is worth knowing whether
/// others, from further rounds, meet across warps: then `relation` becomes that.
bool RaceQuestions::hasShownEnough(const Sites& sites, Relation& relation) {
  if (found[sites] < c.limits.findingsPerSitePair) return false;
  const auto left = widerToAsk.find(sites);
  if (relation != Relation::SameBlock || left == widerToAsk.end() || left->second == 0) return true;
  --left->second;
  relation = Relation::DifferentWarps;
  return false;
}

const Verdict& RaceQuestions::verdictOf(const RaceItem& a, const RaceItem& b, Relation relation) {
  if (bothLocked(a, b) || haveCommonFlags(a, b) || haveCommonPhases(c.model, *a.access, *b.access))
    cache.erase(keyOf(a, b, relation)); // it depends on which locks, flags and phases
  auto [entry, isNew] = cache.try_emplace(keyOf(a, b, relation));
  Verdict& verdict = entry->second;
  if (!isNew) return verdict;
  if (c.decider.secondsLeft() <= 0)
    verdict.reason = "the time for this kernel is used up";
  else
    verdict = meet(a, b, relation);
  if (verdict.outcome == Verdict::Outcome::Happens) takeCommonOne(a, b, relation, verdict);
  return verdict;
}

/// What the solver would think about for long may be plain where numbers of the launch are not negative.
Verdict RaceQuestions::meet(const RaceItem& a, const RaceItem& b, Relation relation) {
  const PairQuestion question{a.access, b.access, relation};
  if (!mayBeNegative({a.access, b.access})) return c.decider.meet(question);
  Verdict verdict = c.decider.quickly([&] { return c.decider.meet(question); });
  tryNotNegative(c, answer, {a.access, b.access}, verdict, [&](Expr wanted) {
    return c.decider.meet({variants.where(*a.access, wanted), variants.where(*b.access, wanted), relation});
  });
  return verdict.outcome == Verdict::Outcome::Unknown ? c.decider.meet(question) : verdict;
}

void RaceQuestions::ask(const RaceItem& a, const RaceItem& b, Relation relation) {
  bool exchanged = a.access->kind == AccessKind::Read;
  RaceItem first = exchanged ? b : a, second = exchanged ? a : b;
  if (c.limits.proofOnly && answer.isOpen()) {
    c.unsafe.insert(first.access->site);
    c.unsafe.insert(second.access->site);
    return;
  }
  auto sites = std::make_tuple(std::min(first.access->site, second.access->site),
                               std::max(first.access->site, second.access->site),
                               relation == Relation::DifferentBlocks, first.access->object);
  if (first.access->site != kNoSite && hasShownEnough(sites, relation)) return;
  const bool isAsAsked =
      verdictOf(first, second, relation).outcome != Verdict::Outcome::Happens || !takeAligned(first, second);
  const Verdict& verdict = verdictOf(first, second, relation);
  if (verdict.outcome == Verdict::Outcome::Never) {
    if (!isAsAsked) assumeAligned(first, second);
    if (verdict.assumesNoWrap) assumeNoWrap(*first.access, *second.access);
    for (const RaceItem* item : {&first, &second})
      for (const std::string& text : c.decider.signedAssumptions(*item->access)) answer.assume(text);
    if (haveCommonFlags(first, second)) assumeFlags(*first.access, *second.access);
    return;
  }
  c.unsafe.insert(first.access->site);
  c.unsafe.insert(second.access->site);
  if (verdict.outcome == Verdict::Outcome::Unknown) {
    answer.doubt(pairName(first, second) + ": " + verdict.reason);
    return;
  }
  if (bothReach(*first.access, *second.access, relation)) { // of different sizes
    answer.doubt(pairName(first, second) + ": atomic operations of different sizes meet");
    return;
  }
  accounts.tell(first, second, relation, verdict);
  const RaceResult& race = c.answers.races.back();
  const bool mayBeWider = relation == Relation::SameBlock && race.scope == RaceScope::IntraWarp;
  if (!race.witness.exact() || race.sameValue) {
    if (!mayBeWider || !askedWider.insert(sites).second) return;
    const Verdict& wider = verdictOf(first, second, Relation::DifferentWarps);
    if (wider.outcome == Verdict::Outcome::Happens)
      accounts.tell(first, second, Relation::DifferentWarps, wider);
    return;
  }
  ++found[sites];
  constexpr unsigned kMostWider = 128;
  widerToAsk.erase(sites);
  if (mayBeWider) widerToAsk[sites] = kMostWider;
}

/// Where accesses fit what their types ask for, as far as the launch decides about it. False where that is
/// known anyway, or not so.
bool RaceQuestions::takeAligned(RaceItem& a, RaceItem& b) {
  using Kind = Alignment::Kind;
  const Kind kinds[] = {c.decider.alignmentOf(*a.access).kind, c.decider.alignmentOf(*b.access).kind};
  if (std::ranges::count(kinds, Kind::Broken) || !std::ranges::count(kinds, Kind::Open)) return false;
  for (RaceItem* item : {&a, &b}) {
    ModelAccess& aligned = c.answers.narrowed->emplace_back(*item->access);
    aligned.isTakenAligned = true;
    item->access = &aligned;
  }
  return true;
}

void RaceQuestions::assumeAligned(const RaceItem& a, const RaceItem& b) {
  for (const RaceItem* item : {&a, &b}) {
    c.unsafe.insert(item->access->site);
    if (c.decider.alignmentOf(*item->access).kind == Alignment::Kind::Open)
      answer.assume("the access in " + lineOf(item->access->where) + " is aligned as its type asks");
  }
}

void RaceQuestions::takeCommonOne(const RaceItem& a, const RaceItem& b, Relation relation, Verdict& verdict) {
  ExprContext& context = c.decider.view().context;
  Expr always = context.boolean(true);
  const auto again = [&](Expr wanted) {
    wanted = context.logicalAnd(always, wanted);
    return c.decider.meet({variants.where(*a.access, wanted), variants.where(*b.access, wanted), relation});
  };
  preferNotNegative(c, answer, {a.access, b.access}, verdict, again);
  preferSteps(c, {a.access, b.access}, verdict, again);
  always = preferPowersOfTwo(c, answer, {a.access, b.access}, verdict, [&](Expr number, std::int64_t value) {
    return c.decider.meet(
        {variants.with(*a.access, number, value), variants.with(*b.access, number, value), relation});
  });
  always = context.logicalAnd(always, preferColumnsInRows(c, {a.access, b.access}, verdict, again));
  doubtShortRows(c, {a.access, b.access}, verdict, again);
}

void RaceQuestions::assumeFlags(const ModelAccess& a, const ModelAccess& b) {
  for (const ModelAccess* access : {&a, &b})
    for (const FlagSeen& seen : access->flagsSeen)
      if (const auto flag = c.model.flags.find(seen.object);
          flag != c.model.flags.end() && !flag->second.assumption.empty())
        answer.assume(flag->second.assumption);
}

void RaceQuestions::assumeNoWrap(const ModelAccess& a, const ModelAccess& b) {
  bool named = false;
  for (const ModelAccess* access : {&a, &b})
    for (const std::string& text : c.decider.wrapAssumptions(*access)) {
      answer.assume(text);
      named = true;
    }
  if (!named) answer.assume("integer arithmetic that bounds the kernel's loops does not wrap");
}

} // namespace kcheck::analyzer
