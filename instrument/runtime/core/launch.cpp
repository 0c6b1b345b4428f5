#include "instrument/runtime/core/launch.h"

#include "instrument/runtime/core/blocks.h"
#include "instrument/runtime/core/company.h"
#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/crew.h"
#include "instrument/runtime/core/events.h"
#include "instrument/runtime/core/fault.h"
#include "instrument/runtime/core/host_guard.h"
#include "instrument/runtime/core/launch_notes.h"
#include "instrument/runtime/core/launch_steps.h"
#include "instrument/runtime/core/log.h"
#include "instrument/runtime/core/managed.h"
#include "instrument/runtime/core/memory_copy.h"
#include "instrument/runtime/core/metrics.h"
#include "instrument/runtime/core/own_arrays.h"
#include "instrument/runtime/core/quiet.h"
#include "instrument/runtime/core/race.h"
#include "instrument/runtime/core/rehearsal.h"
#include "instrument/runtime/core/scheduler.h"
#include "instrument/runtime/core/stream_memory.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include <pthread.h>

namespace kcheck::runtime {

std::mutex& launchMutex() {
  static std::mutex* mutex = new std::mutex;
  return *mutex;
}

void showStart(const LaunchState& launch) {
  wire::Header& header = log().header();
  header.rehearses = launch.rehearsal;
  header.blocksDone = 0;
  header.blocks = launch.gridBlocks;
  header.runningSite = wire::kNoSite;
  header.runningKernel = launch.name;
}

void settle(LaunchState& launch) {
  settleValues(launch);
  launch.earlyReads.settle(launch);
  context().hostKnows.add(launch.published, launch.first, launch.blockThreads, launch.inCompany);
}

namespace {

constexpr std::uint32_t kReadSetNumbers = kBytes - kReadSet;

void packArguments(LaunchState& launch, const KernelEntry& kernel, void** arguments) {
  launch.packed.assign(kernel.argumentBytes + 16, std::byte{0});
  for (std::uint32_t i = 0; i < kernel.parameterCount; ++i)
    std::memcpy(launch.packed.data() + kernel.parameters[i].offset, arguments[i], kernel.parameters[i].bytes);
  launch.arguments = launch.packed.data();
}

/// Numbers of read sets stay in the shadow: those of earlier launches must not mean sets of this one.
void dropReadSets(LaunchState& launch) {
  std::uint32_t& used = context().readSetsUsed;
  used += static_cast<std::uint32_t>(launch.readSets.size());
  if (used > kReadSetNumbers / 2) used = 0;
  launch.firstReadSet = used;
  launch.readSets.clear();
  launch.spareReaders = LaunchState::kSpareReaders;
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
  launch.impatient = 0;
  launch.nobodyWaits = false;
  launch.uneven = 0;
  launch.mayWait = launch.inCompany = launch.unrehearsed = false;
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
  dropReadSets(launch);
  launch.words.clear();
  launch.published.clear();
  launch.fences = 0;
  launch.anyFirst = false;
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

/// From the start of the grid to what it says. False: it has been set aside.
bool runToEnd(LaunchState& launch) {
  showStart(launch);
  if (!runBySeveral(launch)) {
    showStart(launch);
    const RunByOne byOne(launch);
    if (!runGrid(launch)) {
      settleValues(launch);
      return false;
    }
  }
  settle(launch);
  return true;
}

/// The launch that has just run, in another order; memory is anything afterwards.
void rehearse(LaunchState& launch, Rehearsal order, unsigned attempt, std::uint64_t mostWork,
              const SharedOrder& found) {
  const void* arguments = launch.arguments;
  std::unique_ptr<AccessLog> accesses;
  repeatInCompany(launch, found);
  reset(launch, *launch.kernel, LaunchConfig(launch.config),
        goesByBlocks(order) ? ScheduleKind::Fair : ScheduleKind::Lockstep);
  std::swap(accesses, launch.accesses); // what it costs has been counted
  launch.arguments = arguments;
  launch.rehearsal = true;
  launch.backwards = order == Rehearsal::Backwards || order == Rehearsal::ImpatientBackwards ||
                     (order == Rehearsal::FromFull && attempt == 1);
  launch.impatient = hasteIn(order, attempt);
  launch.inStep =
      order == Rehearsal::InStep || order == Rehearsal::ImpatientInStep || order == Rehearsal::FromFull;
  launch.nobodyWaits = order == Rehearsal::FromFull;
  launch.uneven = order == Rehearsal::Uneven ? attempt + 1 : 0;
  launch.mostWork = mostWork;
  renewTokensIfNeeded(launch, true);
  beginTokens(launch);
  runToEnd(launch);
  launch.traffic.clear();
  std::swap(accesses, launch.accesses);
  launch.rehearsal = launch.backwards = launch.inStep = false;
  launch.impatient = 0;
  launch.nobodyWaits = false;
  launch.uneven = 0;
}

/// What is to be as it was for each rehearsal, unless that is too much; what another thread of the program
/// writes meanwhile stays. Launches with a log are many and short: theirs is to cost little.
std::optional<std::vector<MemoryRange>> memoryToRestore(const LaunchState& launch) {
  const std::size_t most = std::size_t{launch.logged ? 32u : 128u} << 20;
  std::optional<std::vector<MemoryRange>> memory = memoryWrittenBy(launch);
  if (!memory && programHasOneThread()) memory = liveMemory();
  return memory && bytesOf(*memory) <= most ? memory : std::nullopt;
}

/// The launch that has just run, in the orders that may show more; memory ends as it is now.
void rehearse(LaunchState& launch, const MemoryCopy& before, const SharedOrder& found) {
  MemoryCopy after;
  after.take(before.ranges());
  const UnwrittenCopy unwritten(before.ranges());
  constexpr std::uint64_t bytesPerTurn = 1 << 14; // compared with what they were
  std::uint64_t first = costOf(launch);
  bool large = isLarge(launch), tell = launch.received || !large, cut = false;
  for (Rehearsal order : rehearsals(launch)) {
    std::uint64_t left = rehearsalLimit(order, first, large);
    for (unsigned attempt = 0; attempt < attemptsAt(order, launch); ++attempt) {
      before.restore();
      rehearse(launch, order, attempt, left, found);
      cut |= launch.cut && attempt == 0;
      std::uint64_t cost = costOf(launch) + before.bytes() / bytesPerTurn;
      if (2 * cost > left) break; // another would not come to its end
      left -= cost;
    }
  }
  if (launch.inCompany || mayOrderOthers(launch)) { // what others find of it is that of a whole run
    before.restore();
    rehearse(launch, Rehearsal::Again, 0, ~std::uint64_t{0}, found);
  }
  if (cut && tell) noteCutShort(launch);
  after.restore();
  unwritten.restore();
}

} // namespace

void beginTokens(LaunchState& launch) {
  Context& all = context();
  launch.inCompany = joinCompany(launch);
  if (!launch.inCompany) all.epochs.forgetOwners();
  launch.tracksSync |= launch.inCompany && !launch.logged; // its atomics meet the others' flags
  launch.many = all.epochs.takeOperation(launch.firstBlock >> kLaunchShift);
  all.streams.begin(launch.config.stream, launch.many, launch.kernel, launch.config.caller);
  const bool readsOnly = launch.kernel->usesGridSync & abi::TraitReadOnlyLoads;
  launch.careful = static_cast<std::uint16_t>((launch.tracksSync ? abi::SiteVolatile : 0) |
                                              (readsOnly ? abi::SiteLoadNonCoherent : 0));
  launch.sequence = all.streams.latest()->sequence;
  launch.floor = all.streams.floor();
  launch.began = launch.many;
  if (!launch.inCompany) launch.first = launch.many;
}

void noteFaults(const LaunchState& launch) {
  context().askew |= launch.askew;
  if (launch.faulted) context().fault = launch.fault;
}

void conclude(LaunchState& launch) {
  if (launch.unrehearsed && !launch.faulted && !rehearsals(launch).empty()) noteCutShort(launch);
  checkArraysAllocated(launch);
  leaveCompany(launch);
  dropReadSets(launch);
  giveBack(launch);
}

void launch(const KernelEntry& kernel, const LaunchConfig& config, void** arguments) {
  if (!mapArenas()) return;
  std::lock_guard lock(launchMutex());
  lookAtManagedPages();
  LaunchState& state = takeState();
  packArguments(state, kernel, arguments);
  reset(state, kernel, config, context().options.schedule);
  renewTokensIfNeeded(state, true);
  beginTokens(state);
  state.mayWait = config.mayWait && state.gridBlocks < kLaunchItself;
  findStack(state);
  noteLaunch(state);
  state.quiet.find(state);
  findDistances(state);
  findOwnArrays(state);
  context().launch = &state;
  bool over = false;
  {
    DeviceAccess access;
    FaultGuard guard; // a crash of device code ends the launch, not the program
    std::optional<MemoryCopy> before;
    SharedOrder found;
    if (mayRehearse(state)) {
      state.unrehearsed = anySetAside();
      found = orderBefore(state);
      if (!state.unrehearsed)
        if (std::optional<std::vector<MemoryRange>> memory = memoryToRestore(state))
          before.emplace().take(std::move(*memory));
    }
    over = runToEnd(state);
    if (over) {
      flushMetrics(state);
      noteFaults(state);
      if (before && !state.faulted && !rehearsals(state).empty()) rehearse(state, *before, found);
    } else {
      state.unrehearsed |= before.has_value();
      setAside(state);
      forgetPolls(state);
    }
  }
  log().header().runningKernel = 0;
  context().launch = nullptr;
  if (over) conclude(state);
  if (over && deviceFaulted()) dropAll();
  tellHost();
  hideFromHost();
}

bool someLaunchWasAskew() { return std::exchange(context().askew, false); }

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
void streamIsBranch(std::uint64_t stream, std::uint64_t whole) { context().streams.isBranch(stream, whole); }
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
bool isWaitedFor(std::uint64_t stream) { return context().streams.isWaitedFor(stream); }
bool isEventWaitedFor(std::uint64_t event) { return context().streams.isEventWaitedFor(event); }
void eventSynchronized(std::uint64_t event) {
  context().streams.eventSynchronized(event);
  hideFromHost();
}

} // namespace kcheck::runtime
