#include "instrument/runtime/core/sync_parts.h"

#include "instrument/runtime/core/context.h"

#include <algorithm>
#include <memory>
#include <span>

namespace kcheck::runtime {

SyncState& stateOf(ThreadState& thread) {
  if (!thread.sync) {
    thread.sync = std::make_unique<SyncState>();
    thread.owner().anySync = true; // from then on, for the room is used again with all that it has
  }
  return *thread.sync;
}

void renewToken(ThreadState& thread) {
  thread.me = context().epochs.takeThread(thread.owner().index, thread.linear);
}

Clock everything(const ThreadState& thread, bool wide) {
  const BlockState& block = thread.owner();
  Clock clock = wide ? block.knownWide : block.known;
  if (thread.sync) clock.join(wide ? thread.sync->wide : thread.sync->known);
  Clock::Entry own[kWarpSize + 1]; // by key: the block, then the lanes of the warp
  std::size_t count = 0;
  own[count++] = {Clock::blockKey(block.index), block.interval - 1};
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
    const std::uint32_t linear = thread.warp * kWarpSize + lane;
    Token token = thread.sync && thread.sync->lanes[lane] >= block.interval ? thread.sync->lanes[lane] : 0;
    if (linear == thread.linear) token = std::max(token, thread.me);
    if (token) own[count++] = {Clock::threadKey(block.index, linear), token};
  }
  clock.raise(std::span(own, count));
  return clock;
}

void learn(SyncState& state, Received& received, std::uint32_t scope) {
  if (scope >= 2) {
    state.known.join(received.device);
    received.device.clear();
  }
  state.wide.join(received.wide);
  received.wide.clear();
}

void receivePending(SyncState& state, std::uint32_t scope) {
  learn(state, state.pending, scope);
  state.known.join(state.pendingBlock);
  state.pendingBlock.clear();
}

void noteFence(ThreadState& thread) {
  LaunchState& launch = *thread.owner().launch;
  SyncState& state = *thread.sync;
  state.lastFence = ++launch.fences;
  for (auto [key, number] : state.unfenced) {
    auto word = launch.words.find(key);
    if (word == launch.words.end()) continue;
    for (SyncWord::Version& version : word->second.versions)
      if (version.number == number) version.fence = launch.fences;
  }
  state.unfenced.clear();
}

} // namespace kcheck::runtime
