#include "instrument/runtime/core/scheduler.h"

#include "instrument/runtime/core/blocks.h"
#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/log.h"
#include "instrument/runtime/core/memory_copy.h"
#include "instrument/runtime/core/metrics.h"
#include "instrument/runtime/core/race.h"
#include "instrument/runtime/core/random.h"
#include "instrument/runtime/core/rehearsal.h"
#include "instrument/runtime/core/rows.h"
#include "instrument/runtime/core/run_thread.h"
#include "instrument/runtime/core/share.h"

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <deque>
#include <numeric>
#include <optional>
#include <utility>

namespace kcheck::runtime {
namespace {

using abi::WaitKind;

enum class BlockResult { Finished, Ready, Stalled };

/// How long a thread sleeps before its next access. In one attempt every second time not at all, else up to
/// 64 rounds, short ones as often as long ones; in the next now and then, and mostly for long.
std::uint8_t roundsOfSleep(Random& random, unsigned attempt) {
  constexpr std::uint32_t seldom = 8, longest = 255, lengths = 7;
  if (attempt % 2 == 0) return random.below(seldom) ? 0 : static_cast<std::uint8_t>(random.below(longest));
  std::uint32_t drawn = random.below(2 * lengths);
  return drawn < lengths ? 0 : static_cast<std::uint8_t>(1 + random.below(1u << (drawn - lengths)));
}

/// Of what threads can wait for in it; other content has another sum, nearly always.
std::uint64_t sumOfMemory(const std::deque<BlockState*>& blocks) {
  constexpr std::size_t most = std::size_t{256} << 20, step = sizeof(std::uint64_t);
  std::uint64_t sum = 0;
  std::size_t bytes = 0;
  auto add = [&](Address from, std::size_t size) {
    for (Address at = from; at + step <= from + size && bytes < most; at += step, bytes += step) {
      std::uint64_t word;
      std::memcpy(&word, reinterpret_cast<const void*>(at), step);
      sum = (sum ^ word) * 0x9E3779B97F4A7C15u;
    }
    for (Address at = from + size / step * step; at < from + size; ++at)
      sum = (sum ^ *reinterpret_cast<const unsigned char*>(at)) * 0x9E3779B97F4A7C15u;
  };
  for (const BlockState* block : blocks) {
    const std::byte* end = block->dynamicSharedBase + block->dynamicShared;
    add(reinterpret_cast<Address>(block->shared), static_cast<std::size_t>(end - block->shared));
  }
  for (const MemoryRange& range : liveMemory()) add(range.base, range.bytes);
  return sum | 1;
}

} // namespace

/// The blocks of a launch that run, and those that have not started.
class Grid {
public:
  explicit Grid(LaunchState& launch)
      : launch(launch), kind(launch.schedule), random(context().options.seed + launch.uneven) {}
  /// False: its threads only poll, and may do so.
  bool run();
  Standing glance();
  void hearten() {
    idleRounds = leaps = changes = 0;
    patience = 1;
    roundsUnchanged = 0;
  }
  bool tryHarder() { return putClockForward() || memoryChanges(); }
  void giveUp();
  void end();

private:
  BlockResult turn(BlockState& block);
  bool runWarp(BlockState& block, std::uint32_t warp);
  std::optional<std::uint64_t> nextBlock();
  bool admit();
  void retire();
  bool allStalled();
  bool isExhausted() const;
  bool putClockForward();
  bool memoryChanges();
  std::uint64_t mostIdle() const;
  bool stepping() const { return kind == ScheduleKind::Lockstep; }
  /// Of the other orders only these are sure to let all threads go on, and to have all of them there.
  bool rehearsesInStep() const { return launch.rehearsal && stepping() && !launch.uneven; }
  void chooseNext();
  void wakeYielded(BlockState& block);

  LaunchState& launch;
  ScheduleKind kind;
  Random random;
  std::deque<BlockState*> running; ///< the last `stalled` ones have had their turn since anything moved
  std::vector<std::uint32_t> warpOrder;
  BlockState* latest = nullptr;
  std::size_t stalled = 0;
  bool polls = false;            ///< at the last look at all blocks
  bool allGiveUp = false;        ///< all of those who poll then, after some rounds: abi::kGivesUp
  bool mayGetOn = false;         ///< some of those who poll then, by counting: abi::kGetsOn
  std::uint64_t threadsLeft = 0; ///< then
  static constexpr unsigned kGlance = 256;
  unsigned glanceLeft = 0; ///< rounds in which nobody gets anywhere; 0: as many as it takes
  std::uint64_t seenProgress = 0, idleRounds = 0, seenClockReads = 0;
  unsigned leaps = 0; ///< of the clock, since the last progress
  static constexpr unsigned kMostChanges = 40;
  std::uint64_t seenMemory = 0;
  unsigned changes = 0; ///< of memory, since the last progress
  // Of loops that draw (abi::kRoundsOfDraws), each round of the grid stands for many: memory is looked at
  // sooner then, and less often from time to time where it does change.
  std::uint64_t each = 1, patience = 1;
  std::uint64_t roundsUnchanged = 0; ///< the grid's own, since the last change that was counted
};

std::uint64_t Grid::mostIdle() const {
  // One that may tell is not to come to its bound before.
  const std::uint64_t fewest = rehearsesInStep() ? 1'000 : 2'000,
                      turns = rehearsesInStep() ? 100'000 : 1'000'000;
  return std::max(fewest, turns / std::max<std::uint64_t>(threadsLeft, 1));
}

bool Grid::isExhausted() const {
  constexpr std::uint64_t ofThoseWhoGiveUp = 16; // who counts its rounds ends by itself, sooner or later
  const std::uint64_t times = allGiveUp ? ofThoseWhoGiveUp : each > 1 ? patience : 1;
  return idleRounds >= times * mostIdle();
}

/// How many of the threads' own rounds (abi::Wait::a) a round of the grid stands for at least, where none of
/// those who poll may get on without any change of memory.
static std::uint64_t roundsOf(std::uint32_t paces) {
  const bool draws = paces & abi::kRoundsOfDraws, getsOn = paces & abi::kGetsOn;
  return draws && !getsOn ? abi::kRoundsOfDraws : 1;
}

/// All lanes until none can go on by itself; in lockstep, each lane one access further. True: some can go on.
bool Grid::runWarp(BlockState& block, std::uint32_t warp) {
  ThreadState* lanes = block.begin() + warp * kWarpSize;
  std::uint32_t count = std::min(kWarpSize, block.threadCount - warp * kWarpSize);
  std::uint8_t order[kWarpSize];
  std::iota(order, order + count, std::uint8_t{0});
  if (launch.backwards) std::reverse(order, order + count);
  while (true) {
    if (kind == ScheduleKind::Random) random.shuffle(order, count);
    if (launch.logged) beginRows(launch, lanes, count, order);
    bool ready = false, meets = false; ///< some lane waits for others
    for (std::uint32_t i = 0; i < count; ++i) {
      ThreadState& thread = lanes[order[i]];
      if (runnable(thread)) {
        if (thread.pause) {
          --thread.pause;
          ready = true;
          continue;
        }
        runThread(thread);
        ready |= runnable(thread);
        if (launch.uneven) thread.pause = roundsOfSleep(random, launch.uneven);
        if (launch.faulted) return false;
      }
      meets |= waitsForLanes(thread);
    }
    if (launch.logged) finishRows(launch);
    if (launch.accesses && (!ready || stepping())) addUpWarp(launch);
    if (ready && stepping()) return true;
    if (!ready && !(meets && answerWarp(block, warp))) return false;
  }
}

/// Those whose time away is over; all of them when nobody else could go on.
void Grid::wakeYielded(BlockState& block) {
  if (!block.anyYields) return;
  bool any = false, asleep = false;
  for (ThreadState& thread : block) {
    if (thread.status == ThreadStatus::Yielded && thread.asleep == 0) thread.status = ThreadStatus::Ready;
    if (thread.status == ThreadStatus::Yielded) asleep |= thread.asleep-- != 0;
    any |= runnable(thread);
  }
  block.anyYields = asleep;
  if (any || !asleep || running.size() > 1) return;
  block.anyYields = false;
  for (ThreadState& thread : block)
    if (thread.status == ThreadStatus::Yielded) thread.status = ThreadStatus::Ready;
}

/// One round over the warps of a block.
BlockResult Grid::turn(BlockState& block) {
  if (latest != &block) {
    if (latest) latest->alone = false;
    latest = &block;
  }
  wakeYielded(block);
  bool ready = false;
  warpOrder.resize(block.warps);
  std::iota(warpOrder.begin(), warpOrder.end(), 0u);
  if (launch.backwards) std::ranges::reverse(warpOrder);
  launch.work += block.warps;
  if (kind == ScheduleKind::Random) random.shuffle(warpOrder.data(), block.warps);
  for (std::uint32_t i = 0; i < block.warps && !launch.faulted; ++i) ready |= runWarp(block, warpOrder[i]);
  if (!launch.pendingValues.empty()) settleValues(launch);
  if (launch.faulted) return BlockResult::Stalled;
  if (block.live == 0) return BlockResult::Finished;
  if (ready || answerBarriers(block)) return BlockResult::Ready;
  bool yields = false, grid = false, other = false;
  for (const ThreadState& thread : block) {
    yields |= thread.status == ThreadStatus::Yielded;
    grid |= waitsFor(thread, WaitKind::GridSync);
    other |= thread.status == ThreadStatus::Waiting && thread.wait.kind != WaitKind::GridSync;
  }
  if (yields || (grid && !other)) return BlockResult::Stalled;
  for (std::uint32_t warp = 0; warp < block.warps; ++warp)
    if (forceWarp(block, warp)) return BlockResult::Ready;
  return forceBarriers(block) ? BlockResult::Ready : BlockResult::Stalled;
}

/// The index of a block that nobody has started.
std::optional<std::uint64_t> Grid::nextBlock() {
  if (launch.share) return launch.share->nextBlock();
  if (launch.started == launch.gridBlocks) return std::nullopt;
  renewTokensIfNeeded(launch, running.empty());
  return launch.blockAt(launch.started++);
}

bool Grid::admit() {
  if (running.size() >= mostResident(launch)) return false;
  const std::optional<std::uint64_t> next = nextBlock();
  if (!next) return false;
  running.push_front(&startBlock(launch, *next));
  if (running.size() > 1)
    for (BlockState* block : running) block->alone = false;
  return true;
}

void Grid::retire() {
  endBlock(*running.front());
  running.pop_front();
  ++launch.progress;
  log().header().blocksDone.fetch_add(1, std::memory_order_relaxed);
}

/// No block moves by itself. True: some can go on.
bool Grid::allStalled() {
  stalled = 0;
  if (answerGrid(launch)) return true;
  polls = false;
  allGiveUp = true;
  threadsLeft = 0;
  std::uint32_t paces = 0;
  for (BlockState* block : running)
    for (const ThreadState& thread : *block) {
      if (thread.status == ThreadStatus::Yielded) {
        polls = true;
        paces |= thread.wait.a;
        allGiveUp &= thread.wait.a == abi::kGivesUp;
      }
      ++threadsLeft;
    }
  if (!polls) {
    for (BlockState* block : running)
      if (forceBarriers(*block)) return true;
    return forceGrid(launch);
  }
  if (launch.progress != seenProgress) {
    seenProgress = launch.progress;
    hearten();
    seenMemory = 0;
  }
  ++roundsUnchanged;
  each = roundsOf(paces);
  mayGetOn = paces & (abi::kGetsOn | abi::kGivesUp);
  idleRounds += each;
  if (glanceLeft) return --glanceLeft != 0;
  return !isExhausted() || tryHarder();
}

/// Whoever polls a word that still changes may yet find what it waits for: for a while longer, since threads
/// that count their attempts may do so without end.
bool Grid::memoryChanges() {
  const std::uint64_t now = sumOfMemory(running), before = std::exchange(seenMemory, now);
  if (now == before || changes == kMostChanges) return false;
  const bool isEarly = roundsUnchanged < mostIdle();
  if (before && !isEarly) ++changes; // else this has been the first look
  if (!isEarly) roundsUnchanged = 0;
  patience = isEarly ? std::min<std::uint64_t>(2 * patience, abi::kRoundsOfDraws) : patience;
  idleRounds = 0;
  return true;
}

/// Whoever waits for the time to pass need not wait as long as that: a millisecond first, days in the end.
bool Grid::putClockForward() {
  constexpr unsigned most = 32, millisecond = 20;
  constexpr std::uint64_t roundsEach = 64;
  if (launch.clockReads == seenClockReads || leaps == most) return false;
  seenClockReads = launch.clockReads;
  context().timeAhead += std::uint64_t{1} << (millisecond + leaps++);
  idleRounds -= std::min(idleRounds, roundsEach);
  return true;
}

/// Brings the block that has the next turn to the front.
void Grid::chooseNext() {
  if (kind != ScheduleKind::Random) return;
  auto waiting = static_cast<std::uint32_t>(running.size() - stalled);
  if (waiting > 1) std::swap(running.front(), running[random.below(waiting)]);
}

bool Grid::run() {
  setjmp(launch.escape); // abandonThread comes back here
  while (!launch.faulted) {
    if (launch.rehearsal && costOf(launch) > launch.mostWork) {
      launch.cut = true;
      break;
    }
    if (tokensRunOut(launch)) {
      launch.faulted = true;
      launch.fault = DeviceFault::Timeout;
      break;
    }
    bool crowd = launch.config.cooperative || kind != ScheduleKind::Fair;
    if (running.empty() || crowd)
      while (admit() && crowd) {
      }
    if (running.empty()) return true;
    chooseNext();
    switch (turn(*running.front())) {
    case BlockResult::Finished:
      retire();
      stalled = 0;
      break;
    case BlockResult::Ready:
      stalled = 0;
      if (kind != ScheduleKind::Fair) std::rotate(running.begin(), running.begin() + 1, running.end());
      break;
    case BlockResult::Stalled:
      ++stalled;
      std::rotate(running.begin(), running.begin() + 1, running.end());
      if (admit()) {
        stalled = 0;
      } else if (stalled >= running.size() && !allStalled()) {
        if (polls && launch.mayWait) return false;
        giveUp();
      }
      break;
    }
  }
  end();
  return true;
}

/// Goes on after others have run.
Standing Grid::glance() {
  for (BlockState* block : running) block->alone = false;
  latest = nullptr;
  stalled = 0;
  glanceLeft = kGlance;
  const std::uint64_t before = launch.progress;
  if (run()) return Standing::Over;
  if (launch.progress != before) return Standing::Moved;
  return isExhausted() ? Standing::Exhausted : Standing::Polls;
}

void Grid::giveUp() {
  const bool changes = this->changes == kMostChanges;
  const bool isSure = polls && !mayGetOn && !changes && !launch.inCompany;
  if (!launch.rehearsal || (rehearsesInStep() && isSure)) reportHang(launch, changes);
  launch.faulted = true;
  launch.fault = DeviceFault::Timeout;
}

void Grid::end() {
  for (BlockState* block : running) endBlock(*block);
  running.clear();
}

bool runGrid(LaunchState& launch) {
  if (launch.logged) meetLaunch(launch);
  Grid grid(launch);
  if (grid.run()) return true;
  launch.grid = std::make_shared<Grid>(std::move(grid));
  return false;
}

Standing continueGrid(LaunchState& launch) { return launch.grid->glance(); }
void heartenGrid(LaunchState& launch) { launch.grid->hearten(); }
bool tryHarder(LaunchState& launch) { return launch.grid->tryHarder(); }
void giveUpGrid(LaunchState& launch) { launch.grid->giveUp(); }
void dropGrid(LaunchState& launch) { launch.grid->end(); }

void startInterval(BlockState& block) {
  block.interval = takeInterval(block);
  if (!block.alone) block.ordered = block.interval;
  block.alone = true;
  for (ThreadState& thread : block) thread.me = block.interval + 2 * thread.linear;
  carryCopiesOver(block);
}

void abandonThread(ThreadState& thread, DeviceFault fault) {
  LaunchState& launch = *thread.owner().launch;
  settleRows(launch);
  launch.faulted = true;
  launch.fault = fault;
  if (launch.fibres) thread.fibre->leave(); // and never come back
  longjmp(launch.escape, 1);
}

void stepAccess(ThreadState& thread) {
  thread.wait.kind = WaitKind::None;
  thread.fibre->leave();
}

} // namespace kcheck::runtime
