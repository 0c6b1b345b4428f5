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

std::set<Expr> givenIn(Expr offset) {
  std::set<Expr> given;
  anyNode(offset, [&](Expr n) {
    if (isGiven(n)) given.insert(n);
    return false;
  });
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

} // namespace

std::vector<OpenRace> openRacesOf(const KernelAnswers& answers, const FindingContext& context) {
  const std::set<Expr> keys = keysOf(context.model);
  const auto isFoundByAnyRun = [&](const ModelAccess& access) {
    return access.site != kNoSite && std::ranges::includes(keys, givenIn(access.offset));
  };
  std::vector<OpenRace> open;
  for (const RaceResult& race : answers.races)
    if (mayBeOrdered(race, context) && isFoundByAnyRun(*race.first) && isFoundByAnyRun(*race.second))
      open.push_back({context.model.kernel->symbol, race.first->site, race.second->site,
                      followsNumbers(*race.first) || followsNumbers(*race.second)});
  return open;
}

} // namespace kcheck::analyzer
