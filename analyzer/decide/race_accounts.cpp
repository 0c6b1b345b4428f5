// What is told of a race: the witness that leans on the least and reads best, and what would rule it out.
#include "analyzer/decide/conflicts.h"
#include "analyzer/decide/race_parts.h"

#include <fmt/format.h>

namespace kcheck::analyzer {

void RaceAccounts::tell(const RaceItem& a, const RaceItem& b, Relation relation, const Verdict& verdict) {
  RaceResult race;
  race.first = a.access;
  race.second = b.access;
  race.phase = a.phase;
  race.object = a.access->object;
  race.kind = raceKindOf(*a.access, *b.access);
  race.scopeTooNarrow = a.access->kind == AccessKind::Atomic && b.access->kind == AccessKind::Atomic;
  race.takesSizes = !verdict.leans.empty();
  Verdict best = verdict;
  std::optional<Cause> shuffled, open;
  if (!c.decider.isExact(best, relation)) takeFirstRounds(a, b, relation, best);
  if (race.kind == RaceKind::WriteWrite)
    race.sameValue = writesSameValue(a, b, relation, best, shuffled, open);
  race.scope = c.decider.scopeOf(best.values, relation);
  best.leans = verdict.leans; // that holds for all threads of this relation
  if (open) best.leans.push_back(*std::move(open));
  const bool isInWarp = relation == Relation::SameBlock && race.scope == RaceScope::IntraWarp &&
                        !race.sameValue && best.leans.empty();
  if (isInWarp && takeWider(race, a, b)) return finish(race, a, b, relation);
  race.witness = c.decider.witness(best, *a.access, b.access, relation);
  if (shuffled && race.scope == RaceScope::IntraWarp)
    race.witness.causes.push_back({CauseKind::Approximation, "other values in one lane: " + shuffled->text});
  if (!race.sameValue && (race.witness.leansOn(CauseKind::Order) || race.witness.leansOn(CauseKind::Warp)))
    takeOrdered(race, a, b, relation);
  finish(race, a, b, relation);
}

/// Threads of different warps make the plainer example, where there are some. False where that one leans on
/// something.
bool RaceAccounts::takeWider(RaceResult& race, const RaceItem& a, const RaceItem& b) {
  const Verdict wider = c.decider.meet({a.access, b.access, Relation::DifferentWarps});
  if (wider.outcome != Verdict::Outcome::Happens) return false;
  race.scope = RaceScope::InterWarp;
  Witness witness = c.decider.witness(wider, *a.access, b.access, Relation::DifferentWarps);
  if (!witness.exact()) return false;
  race.witness = std::move(witness);
  return true;
}

/// Where atomic operations or votes may order the threads: an order of them in which both meet.
void RaceAccounts::takeOrdered(RaceResult& race, const RaceItem& a, const RaceItem& b, Relation relation) {
  std::vector<Cause> causes = race.witness.causes;
  auto next = variants.comeInOrder({a.access, b.access, relation}, causes);
  if (!next) return;
  race.scope = c.decider.scopeOf(next->values, relation);
  if (relation == Relation::SameBlock && race.scope == RaceScope::IntraWarp) {
    std::vector<Cause> ofWider = race.witness.causes;
    if (auto wider = variants.comeInOrder({a.access, b.access, Relation::DifferentWarps}, ofWider)) {
      race.scope = RaceScope::InterWarp;
      relation = Relation::DifferentWarps;
      next = std::move(wider);
      causes = std::move(ofWider);
    }
  }
  race.inSequence = true;
  race.witness = c.decider.witness(*next, *a.access, b.access, relation);
  race.witness.causes = std::move(causes);
}

/// A witness that leans on something may have one beside it, in the first rounds of all loops, that does
/// not.
void RaceAccounts::takeFirstRounds(const RaceItem& a, const RaceItem& b, Relation relation,
                                   Verdict& verdict) {
  const ModelAccess *x = variants.inFirstRounds(*a.access, Rounds::First),
                    *y = variants.inFirstRounds(*b.access, Rounds::First);
  if (!x && !y) return;
  Verdict first = c.decider.meet({x ? x : a.access, y ? y : b.access, relation});
  if (first.outcome == Verdict::Outcome::Happens && c.decider.isExact(first, relation))
    verdict = std::move(first);
}

void RaceAccounts::finish(RaceResult& race, const RaceItem& a, const RaceItem& b, Relation relation) {
  if (race.witness.exact() && !race.sameValue) askForPromises(race, a, b, relation);
  // The same value from several threads does no harm on any machine, but the language calls it a race.
  if (race.sameValue)
    answer.doubtSameValue(lineOf(race.first->where) + ": several threads write the same value without order");
  else if (race.witness.exact())
    answer.refute();
  else
    answer.doubt(pairName(a, b) + ": a possible race that leans on " + race.witness.causes.front().text);
  c.answers.races.push_back(std::move(race));
}

/// The array whose elements decide: where they are as promised, there is no such race.
std::optional<unsigned> RaceAccounts::heldBy(Promise promise, const RaceItem& a, const RaceItem& b,
                                             Relation relation) {
  std::set<unsigned> arrays;
  const ModelAccess *x = variants.underPromise(*a.access, promise, arrays),
                    *y = variants.underPromise(*b.access, promise, arrays);
  if (!x && !y) return {};
  const Verdict held = c.decider.meet({x ? x : a.access, y ? y : b.access, relation});
  return held.outcome == Verdict::Outcome::Never ? std::optional(*arrays.begin()) : std::nullopt;
}

/// Rows of a sparse matrix, runs in a sorted list: hardly anybody means a kernel that takes its places
/// from where something begins and ends for arrays that do not ascend. Equal places to scatter to are what
/// many overlook.
void RaceAccounts::askForPromises(RaceResult& race, const RaceItem& a, const RaceItem& b, Relation relation) {
  const auto ascending = heldBy(Promise::Ascending, a, b, relation);
  if (!ascending) {
    if (askForRows(race, a, b, relation)) return;
    if (const auto distinct = heldBy(Promise::Distinct, a, b, relation))
      race.distinct = c.model.objects[*distinct].name;
    return;
  }
  race.ascending = c.model.objects[*ascending].name;
  const auto isElement = [&](Expr n) {
    if (n->op != Op::Apply) return false;
    const auto content = c.model.contents.find(n->function);
    return content != c.model.contents.end() && content->second == *ascending;
  };
  if (anyNode(a.access->offset, isElement) || anyNode(b.access->offset, isElement))
    race.witness.causes.push_back(
        {CauseKind::AnyInput, fmt::format("elements of `{}` that do not ascend", race.ascending)});
}

/// Rows given by where they begin and how long they are: as of those that ascend.
bool RaceAccounts::askForRows(RaceResult& race, const RaceItem& a, const RaceItem& b, Relation relation) {
  std::set<std::pair<unsigned, unsigned>> rows;
  const ModelAccess *x = variants.withRowsApart(*a.access, rows),
                    *y = variants.withRowsApart(*b.access, rows);
  if (!x || !y || rows.size() != 1) return false;
  if (c.decider.meet({x, y, relation}).outcome != Verdict::Outcome::Never) return false;
  const auto [begins, counts] = *rows.begin();
  const std::string text = fmt::format("rows that begin where `{}` says before the ones before them end",
                                       c.model.objects[begins].name);
  race.witness.causes.push_back({CauseKind::AnyInput, text});
  if (begins == counts) return true;
  race.ascending = c.model.objects[begins].name;
  race.lengths = c.model.objects[counts].name;
  return true;
}

/// Whether both always store the same; otherwise `best` becomes a witness in which they differ, unless that
/// would lean on approximations where it does not yet. Whether lanes differ in what they have shuffled is
/// not known: then `shuffled` is why. `open`: why it is not known at all, where they do not differ in `best`.
bool RaceAccounts::writesSameValue(const RaceItem& a, const RaceItem& b, Relation relation, Verdict& best,
                                   std::optional<Cause>& shuffled, std::optional<Cause>& open) {
  Expr x = a.access->stored, y = b.access->stored;
  if (!x || !y || x->width != y->width) return false;
  if (x == y && !c.decider.view().isPrivate(x, relation)) return true;
  Verdict differ = c.decider.meetWithDifferentValues({a.access, b.access, relation});
  if (differ.outcome == Verdict::Outcome::Never) return !differ.assumesNoWrap;
  // What the values hang on is no matter to the race, where they cannot be shown.
  const bool areShown = causesOf(x).empty() && causesOf(y).empty();
  if (differ.outcome == Verdict::Outcome::Happens &&
      (c.decider.isExact(differ, relation) || (areShown && !c.decider.isExact(best, relation)))) {
    best = std::move(differ);
  } else if (differ.outcome == Verdict::Outcome::Happens) {
    for (Cause& cause : c.decider.witness(differ, *a.access, b.access, relation).causes)
      if (cause.kind == CauseKind::Warp) shuffled = std::move(cause);
  } else if (c.decider.storesTheSame(best, {a.access, b.access, relation})) {
    open = Cause{CauseKind::Approximation, "whether they write different values, which the solver left open"};
  }
  return false;
}

} // namespace kcheck::analyzer
