// The turns of launches that have been set aside (company.h).
#include "instrument/runtime/core/blocks.h"
#include "instrument/runtime/core/company.h"
#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/crew.h"
#include "instrument/runtime/core/fault.h"
#include "instrument/runtime/core/host_guard.h"
#include "instrument/runtime/core/launch.h"
#include "instrument/runtime/core/launch_steps.h"
#include "instrument/runtime/core/log.h"
#include "instrument/runtime/core/managed.h"
#include "instrument/runtime/core/metrics.h"
#include "instrument/runtime/core/race.h"
#include "instrument/runtime/core/scheduler.h"

#include <algorithm>

namespace kcheck::runtime {

void forgetPolls(LaunchState& launch) {
  for (std::size_t site = 0; site < launch.traffic.size(); ++site)
    if (const abi::SiteInfo* info = context().site(static_cast<std::uint32_t>(site));
        info && (info->flags & abi::SitePolled))
      launch.traffic[site] = SiteTraffic();
}

void dropAll() {
  while (anySetAside()) {
    LaunchState& launch = *liveLaunches().front();
    takeTurn(launch);
    dropGrid(launch);
    settle(launch);
    flushMetrics(launch);
    conclude(launch);
  }
}

namespace {

/// One that has been set aside.
Standing goOn(LaunchState& launch) {
  takeTurn(launch);
  findStack(launch);
  context().launch = &launch;
  showStart(launch);
  const Standing standing = continueGrid(launch);
  if (standing == Standing::Over) {
    settle(launch);
    flushMetrics(launch);
    noteFaults(launch);
    conclude(launch);
    context().streams.pause(context().epochs.now());
  } else {
    settleValues(launch);
    forgetPolls(launch);
    endTurn(launch);
  }
  context().launch = nullptr;
  log().header().runningKernel = 0;
  return standing;
}

} // namespace

bool anySetAside() { return !liveLaunches().empty(); }
bool streamsWait(std::uint64_t first, std::uint64_t second) {
  return context().streams.waitFor(first, second);
}
bool isSetAside(std::uint64_t stream) {
  return std::ranges::any_of(
      liveLaunches(), [&](const LaunchState* launch) { return streamsWait(launch->config.stream, stream); });
}

bool isSetAsideIn(std::uint64_t stream) {
  return std::ranges::any_of(liveLaunches(),
                             [&](const LaunchState* launch) { return launch->config.stream == stream; });
}

GoOn goOnWithLaunches() {
  std::lock_guard lock(launchMutex());
  lookAtManagedPages();
  const DeviceAccess access;
  const FaultGuard guard;
  bool moved = false, exhausted = true;
  for (LaunchState* launch : std::vector(liveLaunches())) {
    const Standing standing = goOn(*launch);
    if (deviceFaulted()) {
      dropAll();
      return GoOn::Moved;
    }
    moved |= standing == Standing::Over || standing == Standing::Moved;
    exhausted &= standing == Standing::Exhausted;
  }
  if (moved) heartenLaunches();
  if (moved) return GoOn::Moved;
  if (!exhausted || std::ranges::any_of(liveLaunches(), [](LaunchState* one) { return tryHarder(*one); }))
    return GoOn::Polls;
  return GoOn::Exhausted;
}

std::uint64_t launchesMoved() {
  std::uint64_t sum = context().epochs.now();
  for (const LaunchState* launch : liveLaunches()) sum += launch->progress + (std::uint64_t{1} << 32);
  return sum;
}

void hostKnowsAll() { context().hostKnows.meet(0, ~Address{0}); }

void heartenLaunches() {
  for (LaunchState* launch : liveLaunches()) heartenGrid(*launch);
}

void leaveLaunches() {
  std::lock_guard lock(launchMutex());
  tellHost();
  hideFromHost();
}

void giveUpLaunches(std::uint64_t stream) {
  std::lock_guard lock(launchMutex());
  for (LaunchState* launch : liveLaunches()) {
    if (stream != kEveryStream && !streamsWait(launch->config.stream, stream)) continue;
    giveUpGrid(*launch);
    context().fault = launch->fault;
  }
  dropAll();
}

void dropLaunches() {
  std::lock_guard lock(launchMutex());
  dropAll();
}

bool programHasOtherThreads() { return !programHasOneThread(); }

} // namespace kcheck::runtime
