#include "analyzer/model/phased/phase_distances.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {

constexpr std::int64_t kFar = 1 << 20;

static Distance lesser(Distance a, Distance b) { return a && b ? std::min(*a, *b) : a ? a : b; }

/// Where branches by who they are lead some past the wait: whether all of these threads come to it.
bool PhaseDistances::allCome(const PhasedWait& wait, const Ring& ring, const Ring::Group& own) const {
  if (!ways.isOfSome(*wait.at)) return true;
  for (std::size_t i = 0; i < ring.arrivals.size(); ++i) {
    if (ring.arrivals[i]->call != wait.at || own.threads.empty()) continue;
    for (std::size_t thread = 0; thread < own.threads.size(); ++thread)
      if (own.threads[thread] && !ring.comers[i][thread]) return false;
    return true;
  }
  return false;
}

/// By which arrivals of the ring they come to.
std::vector<Ring::Group> PhaseDistances::parted(const Ring::Group& group, const Ring& by) {
  if (group.threads.empty()) return {group};
  std::map<std::vector<bool>, Ring::Group> parts;
  for (std::size_t thread = 0; thread < group.threads.size(); ++thread) {
    if (!group.threads[thread]) continue;
    std::vector<bool> comes;
    for (const auto& list : by.comers) comes.push_back(list[thread]);
    auto& part = parts.try_emplace(comes, Ring::Group{group.arrivals, {}}).first->second;
    part.threads.resize(group.threads.size());
    part.threads[thread] = true;
  }
  std::vector<Ring::Group> result;
  for (auto& [comes, part] : parts) result.push_back(std::move(part));
  return result;
}

/// How far behind the arrival's phase the last one of `ring` may lie that is then known to be over; phases
/// below 0 always are. `own` are all arrivals of the thread at its barrier.
Distance PhaseDistances::lag(const Ring::Group& own, const Instruction& arrival, const Ring& ring) const {
  const auto count = ways.before(arrival, own.arrivals);
  if (!count) return {};
  Distance result;
  if (const auto most = count->most()) result = *most + 1;
  for (const PhasedWait& wait : ring.made.waits) {
    const Loop* loop = ways.loopOf(*wait.at);
    const bool come = allCome(wait, ring, own),
               isSteady = wait.isSteady || (come && ways.isInEveryRound(*wait.at));
    if (loop && !loop->contains(&arrival)) {
      if (isSteady) result = lesser(result, lagBehindLoop(*count, wait, *loop));
      continue;
    }
    if (dominators.dominates(wait.at, &arrival) || (come && ways.isPassed(*wait.at, arrival))) {
      result = lesser(result, (*count - wait.phase).most());
    } else if (loop && isSteady) { // in the round before, but for the first one
      const auto first = count->inFirstRound(*loop).most(),
                 later = (*count - wait.phase.roundBefore(*loop)).most();
      if (first && later) result = lesser(result, std::max(*first + 1, *later));
    }
  }
  return result;
}

/// By a wait in a loop that the thread has left: it was in the last round or the one before, if there was
/// one.
Distance PhaseDistances::lagBehindLoop(const Count& count, const PhasedWait& wait, const Loop& loop) const {
  const auto isInLast = ways.isInLastRound(*wait.at);
  if (!isInLast) return {};
  Count phase = wait.phase, without = count;
  if (const auto round = phase.terms.find({Count::Kind::Round, &loop}); round != phase.terms.end()) {
    const std::int64_t times = round->second;
    phase.terms.erase(round);
    phase.terms[{Count::Kind::Rounds, &loop}] = times;
    if (!*isInLast) phase.constant -= times;
  }
  without.terms.erase({Count::Kind::Rounds, &loop});
  if (*isInLast) without.terms.erase({Count::Kind::Entered, &loop});
  const auto first = without.most(), later = (count - phase).most();
  return first && later ? std::optional(std::max(*first + 1, *later)) : std::nullopt;
}

/// The same for all arrivals of threads that come to the same ones; of those threads that know best.
Distance PhaseDistances::between(const Ring& first, const Ring& then) const {
  Distance best;
  for (const auto& group : then.groups)
    for (const Ring::Group& own : parted(group, first)) {
      Distance furthest = -kFar;
      for (const Instruction* arrival : own.arrivals) {
        const Distance one = lag(own, *arrival, first);
        furthest = one && furthest ? std::optional(std::max(*furthest, *one)) : std::nullopt;
      }
      best = lesser(best, furthest);
    }
  // Below 0 it would say something of phases 0 and up by such below 0, which nobody has seen.
  return best ? std::optional(std::max(*best, std::int64_t(0))) : best;
}

Distances PhaseDistances::all() const {
  const std::size_t n = rings.size();
  Distances d(n, std::vector<Distance>(n));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      if (i != j && rings[i].doubt.empty() && rings[j].doubt.empty()) d[i][j] = between(rings[i], rings[j]);
  for (std::size_t i = 0; i < n; ++i)
    if (rings[i].doubt.empty()) d[i][i] = 0;
  for (std::size_t by = 0; by < n; ++by)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        if (d[i][by] && d[by][j]) d[i][j] = lesser(d[i][j], *d[i][by] + *d[by][j]);
  return d;
}

bool PhaseDistances::isBehindLast(std::size_t ring, const Ring::Group& own, const Instruction& arrival,
                                  const Distances& between) const {
  Distance least;
  for (std::size_t j = 0; j < rings.size(); ++j)
    if (between[ring][j] && rings[j].doubt.empty())
      if (const Distance behind = lag(own, arrival, rings[j]))
        least = lesser(least, *behind + *between[ring][j]);
  return least && *least <= rings[ring].made.stages;
}

} // namespace kcheck::analyzer
