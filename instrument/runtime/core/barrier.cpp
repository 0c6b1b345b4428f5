// Barriers of a block and of the grid: when they are complete, what they order, and who is missing when not.
#include "instrument/runtime/core/blocks.h"
#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/events.h"
#include "instrument/runtime/core/race.h"
#include "instrument/runtime/core/rows.h"
#include "instrument/runtime/core/scheduler.h"
#include "instrument/runtime/core/sync.h"

#include <algorithm>
#include <map>

namespace kcheck::runtime {
namespace {

using abi::BarrierOp;
using abi::WaitKind;

/// Results of barrier.red, the same for all that wait.
void answer(const std::vector<ThreadState*>& waiting) {
  std::uint64_t count = 0;
  for (const ThreadState* thread : waiting) count += thread->wait.d != 0;
  for (ThreadState* thread : waiting) {
    switch (static_cast<BarrierOp>(thread->wait.c & 0xff)) {
    case BarrierOp::None: break;
    case BarrierOp::Count: thread->wait.result = count; break;
    case BarrierOp::And: thread->wait.result = count == waiting.size(); break;
    case BarrierOp::Or: thread->wait.result = count != 0; break;
    }
    wake(*thread);
  }
}

/// A barrier of part of the block: it lets go when as many threads have come as it says.
bool isOfPart(const BlockState& block, const abi::Wait& wait) {
  return wait.b != 0 && wait.b != block.threadCount;
}

/// Of more threads than the barrier waits for, the warps whose threads make up the number.
std::vector<ThreadState*> firstWarps(const std::vector<ThreadState*>& waiting, std::size_t expected) {
  std::size_t count = 0;
  while (count < waiting.size() && (count < expected || waiting[count]->warp == waiting[count - 1]->warp))
    ++count;
  return {waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(count)};
}

std::vector<ThreadState*> waitingAt(const BlockState& block, std::uint32_t barrier) {
  std::vector<ThreadState*> waiting;
  for (ThreadState& thread : block)
    if (waitsFor(thread, WaitKind::BlockBarrier) && thread.wait.a % kBarriers == barrier)
      waiting.push_back(&thread);
  return waiting;
}

/// barrier.sync may be reached from different places; __syncthreads() may not.
bool mayDiffer(const ThreadState& thread) {
  const abi::SiteInfo* info = context().site(thread.wait.site);
  return info && (info->flags & abi::SiteUnalignedBarrier);
}

/// bar.sync of a number or count: each warp comes to it from one place, which need not be that of others.
bool isByNumber(const abi::Wait& wait) { return wait.b != 0 || wait.a % kBarriers != 0; }

bool samePlace(const ThreadState& a, const ThreadState& b) {
  if (a.wait.site == b.wait.site || mayDiffer(a) || mayDiffer(b)) return true;
  return a.warp != b.warp && isByNumber(a.wait) && isByNumber(b.wait);
}

/// Both stand at one place, and wait for the same barrier.
bool standTogether(const ThreadState& a, const ThreadState& b) {
  if (a.status != ThreadStatus::Waiting || b.status != ThreadStatus::Waiting) return false;
  bool sameNumber = !waitsFor(a, WaitKind::BlockBarrier) || a.wait.a % kBarriers == b.wait.a % kBarriers;
  return a.wait.site == b.wait.site && sameNumber;
}

wire::Access describeWaiting(const BlockState& block, const ThreadState& thread) {
  bool done = thread.status == ThreadStatus::Done;
  wire::Access access = describeThread(thread, done ? wire::kNoSite : thread.wait.site,
                                       done ? wire::Doing::Returned : wire::Doing::Wait);
  for (const ThreadState& other : block)
    access.count += done ? other.status == ThreadStatus::Done : standTogether(other, thread);
  return access;
}

/// `elsewhere` is null where all threads of the block wait at this very barrier. `part`: what is wrong with a
/// barrier of part of the block.
void reportDivergence(const BlockState& block, const ThreadState& waiting, const ThreadState* elsewhere,
                      const char* part = "part") {
  leaveShare(*block.launch);
  wire::Finding finding = emptyFinding(wire::Rule::BarrierDivergence);
  finding.kernel = block.launch->name;
  finding.caller = reinterpret_cast<std::uint64_t>(block.launch->config.caller);
  finding.nearness =
      elsewhere && waiting.warp == elsewhere->warp ? wire::Nearness::Warp : wire::Nearness::Block;
  finding.accessCount = elsewhere ? 2 : 1;
  finding.access[0] = describeWaiting(block, waiting);
  if (elsewhere) finding.access[1] = describeWaiting(block, *elsewhere);
  if (isOfPart(block, waiting.wait)) {
    finding.numbers[0] = waiting.wait.b;
    finding.numbers[1] = waiting.wait.a % kBarriers;
    auto barrier = static_cast<std::uint32_t>(finding.numbers[1]);
    finding.access[0].count =
        static_cast<std::uint32_t>(waitingAt(block, barrier).size()) + block.arrived[barrier];
    finding.text = text(part);
  } else if (elsewhere && waitsFor(*elsewhere, WaitKind::BlockBarrier) &&
             elsewhere->wait.site == waiting.wait.site) {
    finding.numbers[0] = waiting.wait.a % kBarriers;
    finding.numbers[1] = elsewhere->wait.a % kBarriers;
    finding.text = text("numbers");
  }
  report(finding);
}

void release(BlockState& block, const std::vector<ThreadState*>& waiting, std::uint32_t barrier) {
  ++block.launch->progress;
  // Threads that have returned count for a barrier of the whole block, and are no part of any other.
  bool ofPart = isOfPart(block, waiting.front()->wait);
  if (ofPart && waiting.front()->wait.b % kWarpSize)
    reportDivergence(block, *waiting.front(), nullptr, "uneven");
  bool whole = !ofPart && waiting.size() == block.live && block.arrived[barrier] == 0;
  if (whole) {
    joinBlock(block);
    startInterval(block);
  } else {
    joinThreads(waiting, block.arrivedKnown[barrier]);
  }
  block.arrived[barrier] = 0;
  block.arrivedKnown[barrier].clear();
  answer(waiting);
}

/// Every thread of the block stands at the same `__syncthreads()`: the common case, in one look.
bool allMeet(const BlockState& block) {
  const abi::Wait& first = block.begin()->wait;
  std::uint32_t barrier = first.a % kBarriers;
  if (isOfPart(block, first) || block.arrived[barrier] || !block.arrivedKnown[barrier].empty()) return false;
  for (const ThreadState& thread : block) {
    const abi::Wait& wait = thread.wait;
    bool same = waitsFor(thread, WaitKind::BlockBarrier) && wait.site == first.site && wait.a == first.a &&
                wait.b == first.b && static_cast<BarrierOp>(wait.c & 0xff) == BarrierOp::None;
    if (!same) return false;
  }
  return true;
}

/// A thread that is not where `waiting` waits: at another place, or returned.
const ThreadState* findElsewhere(const BlockState& block, const ThreadState& waiting) {
  const ThreadState* returned = nullptr;
  for (const ThreadState& thread : block) {
    if (thread.status == ThreadStatus::Done)
      returned = returned ? returned : &thread;
    else if (thread.wait.kind != waiting.wait.kind || !samePlace(thread, waiting) ||
             thread.wait.a % kBarriers != waiting.wait.a % kBarriers)
      return &thread;
  }
  return returned;
}

/// Where threads wait for one barrier in places that are not one by the language.
void tellPlaces(const BlockState& block, const std::vector<ThreadState*>& waiting) {
  for (std::size_t i = 1; i < waiting.size(); ++i)
    for (const ThreadState* other : {waiting.front(), waiting[i - 1]}) {
      if (samePlace(*waiting[i], *other)) continue;
      reportDivergence(block, *other, waiting[i]);
      reportDivergence(block, *waiting[i], other);
      return;
    }
}

} // namespace

void arriveAtBarrier(ThreadState& thread) {
  BlockState& block = thread.owner();
  std::uint32_t barrier = thread.wait.a % kBarriers;
  ++block.arrived[barrier];
  block.arrivedKnown[barrier].join(released(thread));
  if (thread.wait.b == 0 || block.arrived[barrier] < thread.wait.b) return;
  block.arrived[barrier] = 0; // complete, and nobody waits: the next one begins
  block.arrivedKnown[barrier].clear();
}

bool answerBarriers(BlockState& block) {
  if (allMeet(block)) {
    ++block.launch->progress;
    joinBlock(block);
    startInterval(block);
    for (ThreadState& thread : block) wake(thread);
    return true;
  }
  bool released = false;
  std::uint32_t used = 0;
  for (const ThreadState& thread : block)
    if (waitsFor(thread, WaitKind::BlockBarrier)) used |= 1u << thread.wait.a % kBarriers;
  for (std::uint32_t barrier = 0; used >> barrier; ++barrier) {
    if (!(used >> barrier & 1)) continue;
    std::vector<ThreadState*> waiting = waitingAt(block, barrier);
    const ThreadState& first = *waiting.front();
    std::uint32_t expected = first.wait.b ? first.wait.b : block.threadCount;
    if (waiting.size() + block.arrived[barrier] < expected) continue;
    if (isOfPart(block, first.wait))
      waiting = firstWarps(waiting, expected - block.arrived[barrier]);
    else
      tellPlaces(block, waiting);
    release(block, waiting, barrier);
    released = true;
  }
  return released;
}

bool forceBarriers(BlockState& block) {
  for (std::uint32_t barrier = 0; barrier < kBarriers; ++barrier) {
    std::vector<ThreadState*> waiting = waitingAt(block, barrier);
    if (waiting.empty()) continue;
    const ThreadState& first = *waiting.front();
    const ThreadState* elsewhere = findElsewhere(block, first);
    if (elsewhere || isOfPart(block, first.wait)) reportDivergence(block, first, elsewhere);
    if (elsewhere && waitsFor(*elsewhere, WaitKind::BlockBarrier))
      reportDivergence(block, *elsewhere, &first);
    release(block, waiting, barrier);
    return true;
  }
  return false;
}

namespace {

const ThreadState* firstAtGrid(LaunchState& launch) {
  for (auto& block : launch.slots)
    if (block->running)
      for (const ThreadState& thread : *block)
        if (waitsFor(thread, WaitKind::GridSync)) return &thread;
  return nullptr;
}

/// Without a cooperative launch there is nothing that the grid could meet at: cooperative groups trap.
void refuseGrid(LaunchState& launch, const ThreadState& thread) {
  leaveShare(launch);
  settleRows(launch);
  wire::Finding finding = emptyFinding(wire::Rule::Trap);
  finding.kernel = launch.name;
  finding.caller = reinterpret_cast<std::uint64_t>(launch.config.caller);
  finding.accessCount = 1;
  finding.access[0] = describeThread(thread, thread.wait.site, wire::Doing::None);
  finding.text = text("waits for the whole grid in a launch that is not cooperative, which ends the kernel");
  finding.hint = text("launch it by cudaLaunchCooperativeKernel(), with no more blocks than fit at once");
  report(finding);
  launch.faulted = true;
  launch.fault = DeviceFault::Trap;
}

} // namespace

/// All who wait for the grid go on, ordered behind what the others have done.
static void passGrid(LaunchState& launch) {
  ++launch.progress;
  Epochs& epochs = context().epochs;
  launch.many = epochs.takeOperation(launch.firstBlock >> kLaunchShift);
  if (launch.inCompany) {
    joinGridInCompany(launch);
  } else {
    launch.floor = launch.many; // nothing else runs
    joinGrid(launch);
  }
  for (auto& block : launch.slots) {
    if (!block->running) continue;
    block->floor = launch.floor;
    block->launchMany = launch.many;
    startInterval(*block);
    block->alone = false;
    for (ThreadState& thread : *block)
      if (waitsFor(thread, WaitKind::GridSync)) wake(thread);
  }
}

bool answerGrid(LaunchState& launch) {
  if (!launch.config.cooperative)
    if (const ThreadState* thread = firstAtGrid(launch)) {
      refuseGrid(launch, *thread);
      return true;
    }
  if (launch.started != launch.gridBlocks) return false;
  std::uint64_t waiting = 0;
  for (auto& block : launch.slots) {
    if (!block->running) continue;
    for (const ThreadState& thread : *block) {
      if (thread.status == ThreadStatus::Done) continue;
      if (!waitsFor(thread, WaitKind::GridSync)) return false;
      ++waiting;
    }
  }
  if (waiting == 0 || waiting != launch.gridBlocks * launch.blockThreads) return false;
  passGrid(launch);
  return true;
}

/// Whole blocks have returned that the others wait for.
static void reportMissingBlocks(const LaunchState& launch, const ThreadState& waiting) {
  const ThreadState* gone = nullptr;
  std::uint32_t waitingCount = 0, goneCount = 0;
  for (const auto& block : launch.slots) {
    if (block->launchNumber != launch.number) continue;
    if (!block->running && !gone) gone = block->begin();
    if (!block->running) goneCount += block->threadCount;
    for (const ThreadState& thread : *block) waitingCount += block->running && standTogether(thread, waiting);
  }
  if (!gone) return;
  wire::Finding finding = emptyFinding(wire::Rule::BarrierDivergence);
  finding.kernel = launch.name;
  finding.caller = reinterpret_cast<std::uint64_t>(launch.config.caller);
  finding.nearness = wire::Nearness::Grid;
  finding.accessCount = 2;
  finding.access[0] = describeThread(waiting, waiting.wait.site, wire::Doing::Wait);
  finding.access[0].count = waitingCount;
  finding.access[1] = describeThread(*gone, wire::kNoSite, wire::Doing::Returned);
  finding.access[1].count = goneCount;
  report(finding);
}

bool forceGrid(LaunchState& launch) {
  const ThreadState* first = firstAtGrid(launch);
  if (!first) return false;
  bool told = false;
  for (const auto& block : launch.slots) {
    if (!block->running) continue;
    for (const ThreadState& thread : *block) {
      if (!waitsFor(thread, WaitKind::GridSync)) continue;
      const ThreadState* elsewhere = findElsewhere(*block, thread);
      if (elsewhere) reportDivergence(*block, thread, elsewhere);
      told |= elsewhere != nullptr;
      break;
    }
  }
  if (!told) reportMissingBlocks(launch, *first);
  passGrid(launch);
  return true;
}

/// Some thread polls, and there is memory that the host might yet change.
static bool mayWaitForHost(const std::vector<std::vector<const ThreadState*>>& groups) {
  bool isShared = false;
  std::lock_guard lock(context().mutex);
  context().allocations.forEach([&](const Allocation& allocation) {
    const bool both = allocation.kind == MemoryKind::Managed || allocation.kind == MemoryKind::Pinned;
    isShared |= allocation.live && both;
  });
  return isShared && std::ranges::any_of(groups, [](const auto& threads) {
           return threads.front()->status == ThreadStatus::Yielded;
         });
}

void reportHang(LaunchState& launch, bool changes) {
  leaveShare(launch);
  // Groups of threads by where they stand, the largest two in the finding.
  std::map<std::pair<ThreadStatus, std::uint32_t>, std::vector<const ThreadState*>> groups;
  for (auto& block : launch.slots) {
    if (!block->running) continue;
    for (const ThreadState& thread : *block)
      if (thread.status != ThreadStatus::Done) groups[{thread.status, thread.wait.site}].push_back(&thread);
  }
  std::vector<std::vector<const ThreadState*>> sorted;
  for (auto& [place, threads] : groups) sorted.push_back(threads);
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.size() != b.size() ? a.size() > b.size() : a.front()->linear < b.front()->linear;
  });
  wire::Finding finding = emptyFinding(wire::Rule::Hang);
  finding.kernel = launch.name;
  finding.caller = reinterpret_cast<std::uint64_t>(launch.config.caller);
  finding.accessCount = static_cast<std::uint8_t>(std::min<std::size_t>(2, sorted.size()));
  for (unsigned i = 0; i < finding.accessCount; ++i) {
    const ThreadState& thread = *sorted[i].front();
    finding.access[i] = describeThread(thread, thread.wait.site, wire::Doing::Wait);
    finding.access[i].count = static_cast<std::uint32_t>(sorted[i].size());
    finding.access[i].scope = thread.status == ThreadStatus::Yielded; // polls rather than waits
  }
  finding.numbers[0] = changes;
  if (mayWaitForHost(sorted)) {
    if (launch.rehearsal) return;
    finding.text = text("host");
  } else if (!sorted.empty() && sorted[0].front()->polledBarrier) {
    const ArrivalCount arrivals = arrivalsAt(sorted[0].front()->polledBarrier);
    finding.text = text("arrivals");
    finding.numbers[0] = arrivals.expected;
    finding.numbers[1] = arrivals.missing;
  }
  report(finding);
}

} // namespace kcheck::runtime
