#include "analyzer/model/phased/phased_waits.h"

#include "analyzer/model/loops/periods.h"

using namespace llvm;

namespace kcheck::analyzer {

void PhasedWaits::find(Ring& ring, std::map<const Instruction*, std::string>& doubts) const {
  std::vector<const Instruction*> byParity;
  for (const PhasedOperation* wait : ring.waits)
    if (wait->parity) byParity.push_back(wait->call);
  for (const PhasedOperation* wait : ring.waits) {
    const Loop* loop = ways.loopOf(*wait->call);
    if (loop && loop->getParentLoop()) continue;
    const auto phase = wait->parity ? phaseByParity(ring, *wait, byParity) : phaseByArrival(ring, *wait);
    if (!phase) {
      doubts[wait->call] = "for which phase it waits is not followed";
      continue;
    }
    ring.made.waits.push_back(
        {wait->call, *phase, loop && ways.isInEveryRound(*wait->call) && !ways.isOfSome(*wait->call)});
  }
}

/// The one for which the thread has arrived itself, which is the same for all threads that do so.
std::optional<Count> PhasedWaits::phaseByArrival(const Ring& ring, const PhasedOperation& wait) const {
  const auto* by = wait.arrives ? wait.call : wait.token;
  const auto arrival = find_if(ring.arrivals, [&](const PhasedOperation* a) { return a->call == by; });
  if (arrival == ring.arrivals.end() || (*arrival)->place != wait.place) return {};
  const Loop* loop = ways.loopOf(*by);
  if (loop && !loop->contains(wait.call)) return {}; // of some round
  std::optional<Count> phase;
  for (const auto& group : ring.groups) {
    if (!is_contained(group.arrivals, by)) continue;
    const auto count = ways.before(*by, group.arrivals);
    if (!count || (phase && !(*phase - *count).isZero())) return {};
    phase = count;
  }
  return phase;
}

/// By how often it has waited, where each time it is for the next phase of the ring; those before phase 0
/// are over.
std::optional<Count> PhasedWaits::phaseByParity(const Ring& ring, const PhasedOperation& wait,
                                                const std::vector<const Instruction*>& byParity) const {
  auto count = ways.before(*wait.call, byParity);
  const Loop* loop = ways.loopOf(*wait.call);
  if (!count || (loop && !ways.isInEveryRound(*wait.call))) return {};
  const std::int64_t stages = ring.made.stages, period = 2 * stages;
  std::vector<Expr> parities{wait.parity};
  if (loop) {
    const auto term = count->terms.find({Count::Kind::Round, loop});
    const auto round = run.iterations.find(loop);
    if (count->terms.size() != 1 || term == count->terms.end() || term->second != 1) return {};
    if (round == run.iterations.end() || !comesAgain(wait.parity, round->second, period)) return {};
    if (wait.names.size() != std::size_t(stages)) return {};
    parities.clear();
    for (std::int64_t at = 0; at < period; ++at) {
      Substitution now(state.exprs);
      now.set(round->second, state.exprs.constant(round->second->width, at));
      parities.push_back(now(wait.parity));
    }
  } else if (!count->isConstant()) {
    return {};
  }
  for (const std::int64_t ahead : {std::int64_t(0), stages}) {
    bool fits = true;
    for (std::size_t at = 0; fits && at < parities.size(); ++at) {
      const std::int64_t phase = count->constant + std::int64_t(at) + period - ahead;
      const auto stage = std::size_t(phase % stages);
      fits = isConst(parities[at]) && (parities[at]->value & 1) == phase / stages % 2 &&
             wait.names[at % wait.names.size()] == ring.order[stage];
    }
    if (!fits) continue;
    count->constant -= ahead;
    return count;
  }
  return {};
}

} // namespace kcheck::analyzer
