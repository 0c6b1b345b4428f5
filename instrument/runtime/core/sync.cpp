#include "instrument/runtime/core/sync.h"

#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/host_guard.h"
#include "instrument/runtime/core/older_loads.h"
#include "instrument/runtime/core/sync_parts.h"

#include <algorithm>
#include <cstring>

namespace kcheck::runtime {
namespace {

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
  word.last.bytes = SyncWord::kWhateverValue;
  word.settle();
}

} // namespace

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

} // namespace kcheck::runtime
