#include "analyzer/findings/hints.h"
#include "analyzer/findings/kinds.h"
#include "analyzer/findings/lock_hints.h"
#include "analyzer/findings/parts.h"
#include "analyzer/findings/worth_telling.h"
#include "analyzer/sizes.h"

#include <fmt/format.h>

#include <algorithm>

namespace kcheck::analyzer {
namespace {

std::string raceMessage(const RaceResult& race, const FindingContext& context) {
  std::string first = exprOf(*race.first, context), second = exprOf(*race.second, context);
  std::string apart = race.scope == RaceScope::InterBlock ? " from different blocks" : "";
  if (race.scopeTooNarrow)
    return fmt::format("atomic operations on `{}` meet{}, but their scope does not reach that far", first,
                       apart);
  bool update = samePlace(race.first->where, race.second->where) && race.kind == RaceKind::ReadWrite &&
                race.first->site != race.second->site && first == second;
  if (update) return fmt::format("threads update `{}` without ordering, so updates are lost", first);
  switch (race.kind) {
  case RaceKind::AtomicPlain:
    return fmt::format("`{}` is accessed atomically by one thread and plainly by another, without ordering",
                       race.first->kind == AccessKind::Atomic ? first : second);
  case RaceKind::WriteWrite:
    if (race.sameValue) return fmt::format("threads write the same value to `{}` without ordering", first);
    if (first == second && !race.first->stored && !race.second->stored) // they may write the same
      return fmt::format("threads write `{}` without ordering", first);
    if (first == second)
      return fmt::format("threads write `{}` without ordering, so one write is lost", first);
    return fmt::format("threads write `{}` and `{}`, the same memory, without ordering", first, second);
  default:
    if (race.first->kind == AccessKind::Read) std::swap(first, second);
    return fmt::format("`{}` is read while another thread writes `{}`, without ordering between them", second,
                       first);
  }
}

std::string raceRule(const RaceResult& race, bool withinWarpsOnly, const FindingContext& context) {
  if (race.scopeTooNarrow) return "race-scope";
  if (withinWarpsOnly) return "race-warp";
  return context.model.objects[race.object].space == MemorySpace::Shared ? "race-shared" : "race-global";
}

bool isUnfollowed(const Cause& cause) {
  return cause.kind == CauseKind::Loop || cause.kind == CauseKind::Approximation;
}

/// Where the access goes is what a loop makes of a value, or something else that is not followed. Whether it
/// happens may be: data decide that.
bool goesUnfollowed(const ModelAccess& access) {
  return std::ranges::any_of(causesOf(access.offset), isUnfollowed);
}

/// Whether both lanes of a warp write what a shuffle or vote gave them: which value that is, the model does
/// not know.
bool storesShuffled(const RaceResult& race) {
  auto isShuffled = [](const ModelAccess& access) {
    if (!access.stored) return false;
    const auto causes = causesOf(access.stored);
    return std::ranges::any_of(causes, [](const Cause& cause) { return cause.kind == CauseKind::Warp; });
  };
  return race.kind == RaceKind::WriteWrite && race.scope == RaceScope::IntraWarp && isShuffled(*race.first) &&
         isShuffled(*race.second);
}

/// Whether it hangs on nothing but what arrays and numbers hold, some of it as the kernel has worked it out.
bool leansOnContents(const RaceResult& race) {
  return !race.witness.causes.empty() && std::ranges::all_of(race.witness.causes, [](const Cause& cause) {
    return cause.kind == CauseKind::Launch || cause.kind == CauseKind::AnyInput ||
           cause.kind == CauseKind::Content;
  });
}

/// Whether it takes elements of arrays that lead both threads to one place, which the numbers that they draw
/// from counters do not (`out[first[bin] + place]`).
bool leansOnPlaces(const RaceResult& race) {
  const auto others = std::ranges::count_if(
      race.witness.causes, [](const Cause& cause) { return cause.kind != CauseKind::Launch; });
  const auto followsBoth = [](const ModelAccess& access) {
    bool follows[2] = {};
    anyNode(access.offset, [&](Expr n) {
      if (n->op != Op::Apply) return false;
      follows[0] |= !n->function->injective && n->function->cause.kind == CauseKind::Launch;
      follows[1] |= n->function->injective && n->function->keys > 0;
      return false;
    });
    return follows[0] && follows[1];
  };
  return race.inSequence && others <= 1 && // the order in which they draw
         followsBoth(*race.first) && followsBoth(*race.second);
}

Finding findingOf(const RaceResult& race, bool withinWarpsOnly, const FindingContext& context) {
  Finding finding;
  finding.rule = raceRule(race, withinWarpsOnly, context);
  finding.severity = race.sameValue ? Severity::Note : Severity::Error;
  finding.message = raceMessage(race, context);
  finding.scope = race.scope;
  finding.kind = race.kind;
  finding.sameValue = race.sameValue;
  finding.storesShuffled = storesShuffled(race);
  finding.where = race.first->where;
  finding.accesses = {accessOf(*race.first, race.witness.first, context),
                      accessOf(*race.second, race.witness.second, context)};
  finding.memory = memoryOf(*race.first, race.witness.first, context);
  const bool mayOrder = race.witness.leansOn(CauseKind::Wait) || race.witness.leansOn(CauseKind::Order) ||
                        race.witness.leansOn(CauseKind::Lock);
  const bool locksWithinBlocks = mayOrder && isOrderedWithinBlocksOnly(race, context.model);
  if (!locksWithinBlocks && !race.scopeTooNarrow) finding.hint = lockHint(race, context);
  if (finding.hint.empty())
    finding.hint = raceHint(race, context.model, finding.rule, finding.accesses[0].expr,
                            finding.accesses[0].updates, locksWithinBlocks);
  settleVerdict(finding, race.witness, context,
                {race.first->offset, race.first->condition, race.second->offset, race.second->condition});
  finding.goesUnfollowed = std::ranges::any_of(race.witness.causes, isUnfollowed) &&
                           (goesUnfollowed(*race.first) || goesUnfollowed(*race.second));
  const bool leansOnLaunch = std::ranges::all_of(race.witness.causes, [](const Cause& cause) {
    return cause.kind == CauseKind::Launch || cause.kind == CauseKind::AnyInput;
  });
  finding.leansOnInput = leansOnContents(race) || leansOnPlaces(race);
  finding.largerInput = finding.leansOnHost && leansOnLaunch && !race.sameValue &&
                        context.model.unfollowedAt.empty() && needSizesOnly(*race.first, *race.second);
  addValues(finding, race.witness);
  return finding;
}

} // namespace

Finding raceFinding(const std::vector<const RaceResult*>& pair, const FindingContext& context) {
  auto lesser = [](const RaceResult* a, const RaceResult* b) {
    if (a->witness.exact() != b->witness.exact()) return b->witness.exact();
    if (a->sameValue != b->sameValue) return a->sameValue;
    return unsigned(a->scope) < unsigned(b->scope);
  };
  const RaceResult* told = *std::max_element(pair.begin(), pair.end(), lesser);
  bool withinWarpsOnly = std::all_of(
      pair.begin(), pair.end(), [](const RaceResult* race) { return race->scope == RaceScope::IntraWarp; });
  return findingOf(*told, withinWarpsOnly, context);
}

void dropCoveredWarpRaces(std::vector<Finding>& findings) {
  auto covered = [&](const Finding& finding) {
    return finding.rule == "race-warp" &&
           std::any_of(findings.begin(), findings.end(), [&](const Finding& other) {
             return (other.rule == "race-shared" || other.rule == "race-global") &&
                    other.verdict == Verdict::Proved && samePlace(other.where, finding.where);
           });
  };
  std::vector<Finding> kept;
  for (const Finding& finding : findings)
    if (!covered(finding)) kept.push_back(finding);
  findings = std::move(kept);
}

} // namespace kcheck::analyzer
