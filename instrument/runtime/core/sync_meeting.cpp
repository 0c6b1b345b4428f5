// Threads that meet: lanes of a warp, threads at a barrier, all of a block, all of the grid.
#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/sync.h"
#include "instrument/runtime/core/sync_parts.h"

#include <algorithm>

namespace kcheck::runtime {
namespace {

/// What fences of threads that meet have made ready, each may publish behind the barrier: as those of a whole
/// block.
void takeFences(const SyncState& state, Fenced& fenced, bool& any) {
  if (!state.hasFence) return;
  fenced.join(state.fenced);
  any = true;
}

/// The thread has come to a barrier.
void meet(ThreadState& thread) {
  SyncState& state = *thread.sync;
  state.pending.device.join(state.pendingBlock);
  receivePending(state, 3);
  noteFence(thread);
}

} // namespace

void joinLanes(BlockState& block, std::uint32_t warp, std::uint32_t mask) {
  ThreadState* lanes = block.begin() + warp * kWarpSize;
  std::uint32_t count = std::min(kWarpSize, block.threadCount - warp * kWarpSize);
  Token met[kWarpSize]{};
  Clock known, wide;
  Received polled;
  Fenced fenced;
  bool anyFence = false;
  for (std::uint32_t lane = 0; lane < count; ++lane) {
    if (!(mask >> lane & 1)) continue;
    SyncState& state = stateOf(lanes[lane]);
    meet(lanes[lane]);
    state.rememberWord();
    known.join(state.known);
    wide.join(state.wide);
    polled.join(state.polled);
    takeFences(state, fenced, anyFence);
    for (std::uint32_t other = 0; other < count; ++other)
      met[other] = std::max(met[other], state.lanes[other]);
    met[lane] = std::max(met[lane], lanes[lane].me);
  }
  Token fresh = context().epochs.takeWarp(block.index, warp);
  for (std::uint32_t lane = 0; lane < count; ++lane) {
    if (!(mask >> lane & 1)) continue;
    SyncState& state = *lanes[lane].sync;
    state.known = known;
    state.wide = wide;
    state.polled = polled;
    state.fenced = fenced;
    state.hasFence = anyFence;
    std::copy_n(met, kWarpSize, state.lanes);
    lanes[lane].me = fresh + 2 * lane;
  }
}

Clock released(ThreadState& thread) {
  SyncState& state = stateOf(thread);
  state.rememberWord();
  Clock mine = everything(thread, false);
  renewToken(thread);
  return mine;
}

void joinThreads(const std::vector<ThreadState*>& threads, const Clock& arrived) {
  Clock met = arrived;
  Received polled;
  Fenced fenced;
  bool anyFence = false;
  for (ThreadState* thread : threads) {
    polled.join(stateOf(*thread).polled);
    takeFences(stateOf(*thread), fenced, anyFence);
    meet(*thread);
    met.join(released(*thread));
  }
  for (ThreadState* thread : threads) {
    receive(*thread, met);
    SyncState& state = stateOf(*thread);
    state.polled = polled;
    state.fenced = fenced;
    state.hasFence = anyFence;
  }
}

void receive(ThreadState& thread, const Clock& clock) {
  SyncState& state = stateOf(thread);
  state.known.join(clock);
  state.wide.join(clock);
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
    Token known = clock.at(Clock::threadKey(thread.owner().index, thread.warp * kWarpSize + lane));
    state.lanes[lane] = std::max(state.lanes[lane], known);
  }
}

void joinBlock(BlockState& block) {
  if (!block.anySync) return;
  Received polled;
  for (ThreadState& thread : block) {
    if (!thread.sync) continue;
    SyncState& state = *thread.sync;
    polled.join(state.polled);
    meet(thread);
    state.rememberWord();
    block.known.join(state.known);
    block.knownWide.join(state.wide);
    state.known.clear();
    state.wide.clear();
    if (!state.hasFence) continue;
    block.fenced.join(state.fenced);
    state.hasFence = false;
    state.fenced = {};
  }
  if (polled.empty()) return;
  for (ThreadState& thread : block) stateOf(thread).polled = polled;
}

void joinGridInCompany(LaunchState& launch) {
  Clock known, wide;
  const Token before = context().epochs.now() - 1;
  for (auto& block : launch.slots) {
    if (!block->running) continue;
    joinBlock(*block);
    block->known.raise(Clock::blockKey(block->index), before);
    known.join(block->known);
    wide.join(block->knownWide);
  }
  known.raise(Clock::blockKey(operationBlock(launch.firstBlock >> kLaunchShift)), launch.many - 1);
  wide.join(known);
  for (auto& block : launch.slots) {
    if (!block->running) continue;
    block->known = known;
    block->knownWide = wide;
  }
}

void joinGrid(LaunchState& launch) {
  for (auto& block : launch.slots) {
    if (!block->live) continue;
    block->known.clear();
    block->knownWide.clear();
    block->fenced = {};
    for (ThreadState& thread : *block)
      if (thread.sync) *thread.sync = SyncState();
  }
  launch.words.clear();
}

} // namespace kcheck::runtime
