#include "instrument/runtime/core/launch.h"

#include "instrument/runtime/core/blocks.h"
#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/crew.h"
#include "instrument/runtime/core/events.h"
#include "instrument/runtime/core/fault.h"
#include "instrument/runtime/core/host_guard.h"
#include "instrument/runtime/core/launch_notes.h"
#include "instrument/runtime/core/log.h"
#include "instrument/runtime/core/managed.h"
#include "instrument/runtime/core/memory_copy.h"
#include "instrument/runtime/core/metrics.h"
#include "instrument/runtime/core/race.h"
#include "instrument/runtime/core/rehearsal.h"
#include "instrument/runtime/core/scheduler.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include <pthread.h>

namespace kcheck::runtime {
namespace {

constexpr std::uint32_t kReadSetNumbers = kBytes - kReadSet;

std::mutex& launchMutex() {
  static std::mutex* mutex = new std::mutex;
  return *mutex;
}

/// One launch runs at a time; its rooms are kept for the next.
LaunchState& launchState() {
  static LaunchState* state = new LaunchState;
  return *state;
}

std::vector<std::byte> packArguments(const KernelEntry& kernel, void** arguments) {
  std::vector<std::byte> packed(kernel.argumentBytes + 16);
  for (std::uint32_t i = 0; i < kernel.parameterCount; ++i)
    std::memcpy(packed.data() + kernel.parameters[i].offset, arguments[i], kernel.parameters[i].bytes);
  return packed;
}

void reset(LaunchState& launch, const KernelEntry& kernel, const LaunchConfig& config,
           ScheduleKind schedule) {
  launch.module = context().modules.empty() ? nullptr : context().modules.front();
  launch.kernel = &kernel;
  launch.config = config;
  launch.gridBlocks = config.grid.volume();
  launch.blockThreads = static_cast<std::uint32_t>(config.block.volume());
  launch.started = 0;
  launch.faulted = launch.askew = launch.received = false;
  launch.rehearsal = launch.backwards = launch.inStep = launch.cut = false;
  launch.uneven = 0;
  launch.work = 0;
  launch.clockEntriesBefore = context().clockEntries;
  launch.fault = DeviceFault::None;
  launch.progress = 0;
  launch.number++;
  launch.name = text(kernel.displayName);
  std::uint32_t traits = kernel.usesGridSync;
  bool known = traits & abi::TraitsKnown;
  launch.tracksSync = !known || (traits & abi::TraitFences);
  launch.exact = !known || (traits & (abi::TraitFences | abi::TraitWarpSync | abi::TraitNamedBarrier));
  launch.schedule = schedule;
  launch.fibres = kernel.canSuspend == 2 || schedule == ScheduleKind::Lockstep;
  launch.logged = traits & abi::TraitLogged;
  launch.steps = schedule == ScheduleKind::Lockstep;
  // Numbers of read sets stay in the shadow: those of earlier launches must not mean sets of this one.
  launch.firstReadSet += static_cast<std::uint32_t>(launch.readSets.size());
  if (launch.firstReadSet > kReadSetNumbers / 2) launch.firstReadSet = 0;
  launch.readSets.clear();
  launch.words.clear();
  launch.published.clear();
  launch.barrierObjects.clear();
  launch.atomicScope.clear();
  launch.pendingValues.clear();
  bool metrics = context().options.metrics && !(traits & abi::TraitUnchecked);
  if (!metrics) launch.accesses.reset();
  if (metrics && !launch.accesses) launch.accesses = std::make_unique<AccessLog>();
}

/// What lies between addresses for all threads of the launch.
void findDistances(LaunchState& launch) {
  const KernelEntry& kernel = *launch.kernel;
  launch.distances.assign(1 + kernel.distanceCount, 0);
  if (!kernel.distances) return;
  abi::BlockContext block{};
  setShape(block, launch.config);
  abi::ThreadContext thread{};
  thread.block = &block;
  kernel.distances(&thread, launch.arguments, reinterpret_cast<std::int64_t*>(&launch.distances[1]));
}

/// Some other order was not gone through to its end.
void noteCutShort(const LaunchState& launch) {
  auto* record = log().reserve<wire::CutShort>();
  if (!record) return;
  record->kernel = launch.name;
  Log::complete(record->head, wire::RecordKind::CutShort);
}

/// Tells who waits for the run what it is at.
void showStart(const LaunchState& launch) {
  wire::Header& header = log().header();
  header.rehearses = launch.rehearsal;
  header.blocksDone = 0;
  header.blocks = launch.gridBlocks;
  header.runningKernel = launch.name;
}

/// From the start of the grid to what it says.
void runToEnd(LaunchState& launch) {
  showStart(launch);
  if (!runBySeveral(launch)) {
    showStart(launch);
    const RunByOne byOne(launch);
    runGrid(launch);
  }
  settleValues(launch);
  launch.earlyReads.settle(launch);
  context().hostKnows.add(launch);
}

/// The launch that has just run, in another order; memory is anything afterwards.
void rehearse(LaunchState& launch, Rehearsal order, unsigned attempt, std::uint64_t mostWork) {
  const void* arguments = launch.arguments;
  std::unique_ptr<AccessLog> accesses;
  reset(launch, *launch.kernel, LaunchConfig(launch.config),
        order == Rehearsal::Backwards ? ScheduleKind::Fair : ScheduleKind::Lockstep);
  std::swap(accesses, launch.accesses); // what it costs has been counted
  launch.arguments = arguments;
  launch.rehearsal = true;
  launch.backwards = order == Rehearsal::Backwards;
  launch.inStep = order == Rehearsal::InStep;
  launch.uneven = order == Rehearsal::Uneven ? attempt + 1 : 0;
  launch.mostWork = mostWork;
  renewTokensIfNeeded(launch, true);
  beginTokens(launch);
  runToEnd(launch);
  launch.traffic.clear();
  std::swap(accesses, launch.accesses);
  launch.rehearsal = launch.backwards = launch.inStep = false;
  launch.uneven = 0;
}

/// What is to be as it was for each rehearsal; what another thread of the program writes meanwhile stays.
std::optional<std::vector<MemoryRange>> memoryToRestore(const LaunchState& launch) {
  return programHasOneThread() ? liveMemory() : memoryWrittenBy(launch);
}

/// The launch that has just run, in the orders that may show more; memory ends as it is now.
void rehearse(LaunchState& launch, const MemoryCopy& before) {
  MemoryCopy after;
  after.take(before.ranges());
  const UnwrittenCopy unwritten(before.ranges());
  constexpr std::uint64_t bytesPerTurn = 1 << 14; // compared with what they were
  std::uint64_t first = costOf(launch);
  bool large = isLarge(launch), tell = launch.received || !large, cut = false;
  for (Rehearsal order : rehearsals(launch)) {
    std::uint64_t left = rehearsalLimit(order, first, large);
    for (unsigned attempt = 0; attempt < attemptsAt(order); ++attempt) {
      before.restore();
      rehearse(launch, order, attempt, left);
      cut |= launch.cut && attempt == 0;
      std::uint64_t cost = costOf(launch) + before.bytes() / bytesPerTurn;
      if (2 * cost > left) break; // another would not come to its end
      left -= cost;
    }
  }
  if (cut && tell) noteCutShort(launch);
  after.restore();
  unwritten.restore();
}

} // namespace

void beginTokens(LaunchState& launch) {
  Context& all = context();
  all.epochs.forgetOwners();
  launch.many = all.epochs.takeOperation();
  all.streams.begin(launch.config.stream, launch.many, launch.kernel, launch.config.caller);
  launch.floor = all.streams.floor();
  launch.first = launch.many;
}

void launch(const KernelEntry& kernel, const LaunchConfig& config, void** arguments) {
  if (!mapArenas()) return;
  std::lock_guard lock(launchMutex());
  lookAtManagedPages();
  LaunchState& state = launchState();
  std::vector<std::byte> packed = packArguments(kernel, arguments);
  reset(state, kernel, config, context().options.schedule);
  state.arguments = packed.data();
  renewTokensIfNeeded(state, true);
  beginTokens(state);
  findStack(state);
  noteLaunch(state);
  state.quiet.find(state);
  findDistances(state);
  context().launch = &state;
  {
    DeviceAccess access;
    FaultGuard guard; // a crash of device code ends the launch, not the program
    std::optional<MemoryCopy> before;
    if (mayRehearse(state))
      if (std::optional<std::vector<MemoryRange>> memory = memoryToRestore(state))
        before.emplace().take(std::move(*memory));
    runToEnd(state);
    flushMetrics(state);
    if (state.faulted)
      context().fault = state.fault;
    else if (before && !rehearsals(state).empty())
      rehearse(state, *before);
  }
  log().header().runningKernel = 0;
  context().launch = nullptr;
  hideFromHost();
}

bool lastLaunchWasAskew() { return launchState().askew; }
bool deviceFaulted() { return context().fault != DeviceFault::None; }
DeviceFault deviceFault() { return context().fault; }
void clearDeviceFault() { context().fault = DeviceFault::None; }
std::uint64_t lookAtClock() {
  if (LaunchState* running = context().launch) ++running->clockReads;
  return context().timeAhead;
}

bool isRehearsal() { return context().launch && context().launch->rehearsal; }
void leaveRehearsal(abi::ThreadContext* thread) {
  abandonThread(*static_cast<ThreadState*>(thread), DeviceFault::None);
}

const KernelEntry* findKernel(const char* name) {
  for (const abi::ModuleEntry* module : context().modules)
    for (std::uint32_t i = 0; i < module->kernelCount; ++i)
      if (std::strcmp(module->kernels[i].name, name) == 0) return &module->kernels[i];
  return nullptr;
}

void* findSymbol(const char* name, std::size_t* bytes) {
  for (const abi::ModuleEntry* module : context().modules)
    for (std::uint32_t i = 0; i < module->globalCount; ++i)
      if (std::strcmp(module->globals[i].name, name) == 0) {
        if (bytes) *bytes = module->globals[i].bytes;
        return *module->globals[i].slot;
      }
  return nullptr;
}

void streamCreated(std::uint64_t stream, bool blocking) { context().streams.created(stream, blocking); }
void streamIsBranch(std::uint64_t stream) { context().streams.isBranch(stream); }
void streamSynchronized(std::uint64_t stream) {
  context().streams.synchronized(stream);
  hideFromHost();
}
void deviceSynchronized() {
  context().streams.deviceSynchronized();
  hideFromHost();
}
void eventRecorded(std::uint64_t event, std::uint64_t stream) { context().streams.recorded(event, stream); }
void streamWaits(std::uint64_t stream, std::uint64_t event) { context().streams.waits(stream, event); }
OperationNumber latestOperation() {
  const Operation* latest = context().streams.latest();
  return latest ? OperationNumber{latest->stream, latest->sequence} : OperationNumber{};
}
bool hostHasWaitedFor(OperationNumber operation) {
  return context().streams.hostKnows(operation.stream, operation.sequence);
}
void eventSynchronized(std::uint64_t event) {
  context().streams.eventSynchronized(event);
  hideFromHost();
}

} // namespace kcheck::runtime
