#include "analyzer/open_races.h"

#include <algorithm>
#include <set>

namespace kcheck::analyzer {
namespace {

/// An element of an array that the kernel is given and does not write.
bool isGiven(Expr n) {
  if (n->op != Op::Apply) return false;
  const Function& function = *n->function;
  if (function.injective || function.isRoom || function.isBallot || function.isLeader) return false;
  const CauseKind kind = function.cause.kind;
  return function.exact || kind == CauseKind::Launch || kind == CauseKind::AnyInput;
}

/// What is only compared, or voted on, chooses among places that any array leads to.
std::set<Expr> givenIn(Expr offset) {
  std::set<Expr> given, seen;
  std::vector<Expr> todo{offset};
  while (!todo.empty()) {
    Expr n = todo.back();
    todo.pop_back();
    if (!seen.insert(n).second || n->width == 1 || (n->op == Op::Apply && n->function->isBallot)) continue;
    if (isGiven(n)) given.insert(n);
    todo.insert(todo.end(), n->operands.begin(), n->operands.end());
  }
  return given;
}

/// The elements by which atomic operations choose what they update.
std::set<Expr> keysOf(const KernelModel& model) {
  std::set<Expr> keys;
  for (const auto* phases :
       {&model.blockPhases, &model.warpPhases, &model.gridPhases}) // of rounds of their own
    for (const Phase& phase : *phases)
      for (const ModelAccess& access : phase.accesses)
        if (access.kind == AccessKind::Atomic) keys.merge(givenIn(access.offset));
  return keys;
}

bool followsNumbers(const ModelAccess& access) {
  return anyNode(access.offset,
                 [](Expr n) { return n->op == Op::Symbol && n->symbol->kind == SymbolKind::Parameter; });
}

/// Of different values, by a witness that leans on something.
bool isOnlyPossible(const RaceResult& race) { return !race.sameValue && !race.witness.exact(); }

} // namespace

std::vector<OpenRace> openRacesOf(const KernelAnswers& answers, const FindingContext& context) {
  const std::set<Expr> keys = keysOf(context.model);
  const auto isFoundByAnyRun = [&](const ModelAccess& access) {
    return access.site != kNoSite && std::ranges::includes(keys, givenIn(access.offset));
  };
  std::vector<OpenRace> open;
  for (const RaceResult& race : answers.races)
    if ((mayBeOrdered(race, context) || isOnlyPossible(race)) && isFoundByAnyRun(*race.first) &&
        isFoundByAnyRun(*race.second))
      open.push_back({context.model.kernel->symbol, race.first->site, race.second->site,
                      followsNumbers(*race.first) || followsNumbers(*race.second)});
  return open;
}

std::set<std::string> signalledIn(const KernelModel& model) {
  std::set<std::string> names;
  for (const auto* phases : {&model.blockPhases, &model.gridPhases})
    for (const Phase& phase : *phases)
      for (const ModelAccess& access : phase.accesses)
        if (access.kind == AccessKind::Atomic || access.isVolatile)
          names.insert(model.objects[access.object].name);
  return names;
}

} // namespace kcheck::analyzer
