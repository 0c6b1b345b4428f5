#include "instrument/runtime/core/rehearsal.h"

#include "instrument/runtime/core/context.h"

#include <algorithm>
#include <map>

namespace kcheck::runtime {
namespace {

constexpr unsigned kRehearsalsPerKernel = 4;

} // namespace

bool mayRehearse(const LaunchState& launch) {
  const RuntimeOptions& options = context().options;
  if (!options.races || !options.twice || options.schedule != ScheduleKind::Fair ||
      !context().registeredHost.empty() || std::uint64_t{launch.blockThreads} * launch.gridBlocks < 2)
    return false;
  std::uint32_t traits = launch.kernel->usesGridSync;
  if ((traits & abi::TraitsKnown) && !(traits & abi::TraitHandsOver)) return false;
  if (launch.logged && !(traits & (abi::TraitDraws | abi::TraitGives)))
    return false; // each order is like this one
  static auto* launches = new std::map<const KernelEntry*, unsigned>;
  return ++(*launches)[launch.kernel] <= kRehearsalsPerKernel;
}

bool goesByBlocks(Rehearsal order) {
  switch (order) {
  case Rehearsal::Backwards:
  case Rehearsal::Impatient:
  case Rehearsal::ImpatientBackwards:
  case Rehearsal::Again: return true;
  default: return false;
  }
}

std::uint8_t hasteIn(Rehearsal order, unsigned attempt) {
  switch (order) {
  case Rehearsal::Impatient:
  case Rehearsal::ImpatientBackwards: return 1;
  case Rehearsal::ImpatientInStep: return attempt ? 4 : 1;
  default: return 0;
  }
}

std::uint64_t costOf(const LaunchState& launch) {
  constexpr std::uint64_t entriesPerTurn = 512; // about as long as a turn takes
  return launch.work + (context().clockEntries - launch.clockEntriesBefore) / entriesPerTurn;
}

bool isLarge(const LaunchState& launch) { return launch.blockThreads * launch.gridBlocks > kMostRehearsed; }

std::uint64_t rehearsalLimit(Rehearsal order, std::uint64_t first, bool large) {
  constexpr std::uint64_t cheap = 400'000; // half a second
  std::uint64_t most = std::max(first, cheap);
  // Waiting costs more the other way round where each block waits for the one before it.
  const std::uint64_t wanted = 8 * first + 10'000;
  if (goesByBlocks(order))
    return std::min(wanted, hasteIn(order, 0) ? cheap : most); // rounds in vain are many
  return std::min(cheap, most / 2) / (large ? 4 : 1);
}

unsigned attemptsAt(Rehearsal order, const LaunchState& launch) {
  if (order == Rehearsal::ImpatientInStep || order == Rehearsal::FromFull) return 2;
  if (order != Rehearsal::Uneven) return 1;
  return launch.logged ? 2 : 12;
}

std::vector<Rehearsal> rehearsals(const LaunchState& launch) {
  std::vector<Rehearsal> orders;
  if (launch.logged) {
    if (launch.kernel->usesGridSync & abi::TraitGives) orders.push_back(Rehearsal::Backwards);
    if (launch.kernel->usesGridSync & abi::TraitDraws)
      orders.push_back(Rehearsal::Uneven); // others give no way
    return orders;
  }
  bool atomics = launch.received || !launch.atomicScope.empty();
  bool large = isLarge(launch);
  if (atomics) orders.push_back(Rehearsal::Backwards);
  if (atomics && !large) orders.push_back(Rehearsal::InStep);
  if (launch.received && !large) orders.insert(orders.end(), {Rehearsal::Staggered, Rehearsal::FromFull});
  if (atomics && !(large && launch.config.cooperative)) orders.push_back(Rehearsal::Uneven);
  if (launch.kernel->usesGridSync & abi::TraitGivesUp) {
    orders.insert(orders.end(), {Rehearsal::Impatient, Rehearsal::ImpatientBackwards});
    if (!large) orders.push_back(Rehearsal::ImpatientInStep);
  }
  return orders;
}

} // namespace kcheck::runtime
