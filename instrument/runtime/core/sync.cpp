#include "instrument/runtime/core/sync.h"

#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/host_guard.h"
#include "instrument/runtime/core/older_loads.h"

#include <algorithm>
#include <cstring>

namespace kcheck::runtime {
namespace {

/// In SyncWord::Update::bytes: stored, whatever the value.
constexpr std::uint32_t kAlways = ~std::uint32_t{0};

SyncState& stateOf(ThreadState& thread) {
  if (!thread.sync) {
    thread.sync = std::make_unique<SyncState>();
    thread.owner().anySync = true; // from then on, for the room is used again with all that it has
  }
  return *thread.sync;
}

/// From here on the thread's accesses are told apart from what it did before.
void renewToken(ThreadState& thread) {
  thread.me = context().epochs.takeThread(thread.owner().index, thread.linear);
}

/// Everything that comes before what the thread does now, itself included. `wide` as in SyncState.
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

/// A fence of `scope` follows what was received.
void learn(SyncState& state, Received& received, std::uint32_t scope) {
  if (scope >= 2) {
    state.known.join(received.device);
    received.device.clear();
  }
  state.wide.join(received.wide);
  received.wide.clear();
}

/// What was read from atomics before now counts as known. Barriers do not make it so of what a loop has
/// waited for: they order no more than the block.
void receivePending(SyncState& state, std::uint32_t scope) {
  learn(state, state.pending, scope);
  state.known.join(state.pendingBlock);
  state.pendingBlock.clear();
}

/// From here on the thread's loads see what fences of others came before this one of its own.
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

/// `older` as olderStore() says. An acquire makes known what looser loads have read before, as a fence of its
/// scope does.
void acquire(ThreadState& thread, SyncWord& word, std::uint8_t bytes, AtomicOrder order, bool polls,
             const SyncWord::Version* older) {
  BlockState& block = thread.owner();
  SyncState& state = stateOf(thread);
  if (word.publishes(bytes)) block.launch->received = true;
  const bool waits = polls && !order.acquires();
  Received& received = waits ? state.polled : state.pending;
  auto take = [&](const Published& published) {
    if (order.scope() >= 2) received.device.join(published.device);
    for (const auto& [index, clock] : published.byBlock)
      if (index == block.index) state.pendingBlock.join(clock);
    received.wide.join(published.wide);
  };
  if (older) take(older->published);
  for (const SyncWord::Part& part : word.parts)
    if (!older && part.bytes & bytes) take(part.published);
  if (order.acquires()) receivePending(state, order.scope());
}

/// By the thread itself, and by others before the last barrier.
Fenced fencedBefore(const ThreadState& thread) {
  Fenced fenced = thread.owner().fenced;
  if (thread.sync && thread.sync->hasFence) fenced.join(thread.sync->fenced);
  return fenced;
}

/// What a write of the thread makes known now.
void prepare(ThreadState& thread, SyncWord::Update& update, AtomicOrder order) {
  BlockState& block = thread.owner();
  bool wide = order.scope() >= 2;
  update.block = block.index;
  if (order.releases()) {
    update.inBlock = everything(thread, false);
    if (wide) update.device = update.inBlock;
    update.wide = everything(thread, true);
    renewToken(thread);
    return;
  }
  const Fenced fenced = fencedBefore(thread);
  if (wide) update.device = fenced.device;
  update.inBlock = fenced.block;
  update.wide = fenced.wide;
}

/// What the thread has released here before goes with what it stores now.
void addOwnRelease(const ThreadState& thread, const SyncWord& word, SyncWord::Update& update,
                   AtomicOrder order) {
  const auto& own = word.lastRelease;
  if (!own || own->block != thread.owner().index || own->thread != thread.linear ||
      own->bytes != update.ofWord)
    return;
  if (order.scope() >= 2) update.device.join(own->device);
  update.inBlock.join(own->inBlock);
  update.wide.join(own->wide);
}

/// A store of system scope to memory that the host sees too.
void tellHost(ThreadState& thread, Address at, AtomicOrder order) {
  thread.owner().launch->published.note(at, order.releases() ? everything(thread, false)
                                                             : fencedBefore(thread).system);
  hideBesideLaunch();
}

/// Its next fence will stand behind the store. Of very many the first ones count as fenced.
void noteStored(ThreadState& thread, SyncWord& word, Address key) {
  constexpr std::size_t kMost = 16;
  if (word.versions.empty()) return;
  SyncState& state = stateOf(thread);
  if (state.unfenced.size() < kMost)
    state.unfenced.emplace_back(key, word.versions.back().number);
  else
    word.versions.back().fence = 1;
}

/// Enters the thread's write of the word into what the word publishes.
void publish(ThreadState& thread, SyncWord& word, Address at, std::uint32_t bytes, AtomicOrder order) {
  SyncWord::Update update;
  update.address = at;
  update.bytes = bytes;
  update.ofWord = bytesOfWord(at, bytes);
  prepare(thread, update, order);
  if (order.releases())
    word.lastRelease = {update.block,  thread.linear, update.ofWord,
                        update.device, update.wide,   update.inBlock};
  else if (!order.loads())
    addOwnRelease(thread, word, update, order);
  if (update.inBlock.empty() && update.wide.empty()) return;
  word.last = std::move(update);
  if (order.loads() && bytes <= sizeof word.last.before) {
    std::memcpy(&word.last.before, reinterpret_cast<const void*>(at), bytes);
    return;
  }
  word.last.before = ~std::uint64_t{0};
  word.last.bytes = kAlways;
  word.settle();
}

} // namespace

void SyncWord::settle() {
  if (!last.bytes) return;
  std::uint64_t now = 0;
  if (last.bytes != kAlways) std::memcpy(&now, reinterpret_cast<const void*>(last.address), last.bytes);
  if (last.bytes == kAlways || now != last.before) {
    Published& part = partOf(last.ofWord);
    part.device.join(last.device);
    part.wide.join(last.wide);
    part.ofBlock(last.block).join(last.inBlock);
  }
  last = Update();
}

void fence(ThreadState& thread, std::uint32_t scope) {
  SyncState& state = stateOf(thread);
  receivePending(state, scope);
  learn(state, state.polled, scope);
  noteFence(thread);
  state.rememberWord();
  Clock mine = everything(thread, false);
  if (scope >= 3) state.fenced.system = mine;
  if (scope >= 2) state.fenced.device = mine;
  state.fenced.block = mine;
  state.fenced.wide = everything(thread, true);
  state.hasFence = true;
  renewToken(thread);
}

void synchronise(ThreadState& thread, Address at, std::uint32_t bytes, AtomicOrder order, Polls polls) {
  LaunchState& launch = *thread.owner().launch;
  SyncWord& word = launch.words[at >> 2];
  if (inShared(at) && word.user != thread.owner().index) { // what an older block had in its place
    word = SyncWord();
    word.user = thread.owner().index;
  }
  word.settle();
  word.settleVersion();
  const SyncWord::Version* older = order.stores() ? nullptr : olderStore(thread, word, at, bytes);
  if (order.loads()) acquire(thread, word, bytesOfWord(at, bytes), order, polls != Polls::No, older);
  if (polls == Polls::OnePlace && !word.versions.empty())
    stateOf(thread).noteAwaited({word.versions.back().block, word.versions.back().thread,
                                 word.versions.back().token, older != nullptr});
  if (order.stores()) {
    if (order.scope() >= 3 && PublishedWords::isForHost(at)) tellHost(thread, at, order);
    ++word.version;
    word.notePlainStore(at, bytes);
    SyncWord::Version stored;
    stored.token = thread.me;
    stored.number = word.version;
    stored.thread = thread.linear;
    stored.block = thread.owner().index;
    stored.isUpdate = order.loads();
    word.addVersion(at, bytes, stored);
    noteStored(thread, word, at >> 2);
    if (cellOf(at).read || cellOf(at).write == kBytes) { // somebody has only read it
      word.noteStore({thread.owner().index, thread.linear, thread.me});
      renewToken(thread); // what the thread reads from here on came after
    }
    if (!order.loads()) word.forget(bytesOfWord(at, bytes));
    publish(thread, word, at, bytes, order);
  }
  SyncState& state = stateOf(thread);
  if (state.seenWord != at >> 2) state.rememberWord();
  state.seenWord = at >> 2;
  // Atomics of block scope by other blocks are not seen as atomic, so they order nothing here.
  std::uint64_t block = thread.owner().index;
  if (order.stores() && order.scope() < 2 && word.narrowBlock != block)
    word.narrowBlock = word.narrowBlock == kNoBlock ? block : kSeveralBlocks;
  bool agree = word.narrowBlock == kNoBlock || word.narrowBlock == block;
  if (order.loads() && !older && agree && (order.scope() >= 2 || word.narrowBlock == block))
    state.seenVersion = word.version;
}

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
