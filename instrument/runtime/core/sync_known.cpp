// What threads and words know of what others have done: the questions of sync.h, and what the answers rest
// on.
#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/sync.h"

#include <algorithm>

namespace kcheck::runtime {

void Fenced::join(const Fenced& other) {
  block.join(other.block);
  device.join(other.device);
  system.join(other.system);
  wide.join(other.wide);
}

void SyncState::rememberWord() {
  if (seenVersion) known.raise(Clock::wordKey(seenWord << 2), seenVersion);
  seenVersion = 0;
}

void SyncState::noteAwaited(const Awaited& store) {
  for (Awaited& one : awaited)
    if (one.block == store.block && one.thread == store.thread) {
      one = store;
      return;
    }
  if (awaited.size() >= kMostAwaited) awaited.erase(awaited.begin());
  awaited.push_back(store);
}

const SyncState::Awaited* SyncState::awaitedOf(std::uint64_t block, std::uint32_t thread) const {
  for (const Awaited& one : awaited)
    if (one.block == block && one.thread == thread) return &one;
  return nullptr;
}

bool knownTo(const ThreadState& thread, const Owner& owner, Token token) {
  return thread.owner().known.covers(owner.block, owner.thread, token) ||
         (thread.sync && thread.sync->known.covers(owner.block, owner.thread, token));
}

bool widelyKnown(const ThreadState& thread, const Owner& owner, Token token) {
  return thread.owner().knownWide.covers(owner.block, owner.thread, token) ||
         (thread.sync && thread.sync->wide.covers(owner.block, owner.thread, token));
}

bool knowsWord(const ThreadState& thread, Address at, Seen seen) {
  const BlockState& block = thread.owner();
  if (seen == Seen::Not || !block.launch->tracksSync) return false;
  auto word = block.launch->words.find(at >> 2);
  if (word == block.launch->words.end()) return false;
  if (seen == Seen::AtAll && thread.sync && thread.sync->seenWord == at >> 2 &&
      thread.sync->seenVersion >= word->second.version)
    return true;
  std::uint64_t key = Clock::wordKey(at);
  return block.known.at(key) >= word->second.version ||
         (thread.sync && thread.sync->known.at(key) >= word->second.version);
}

bool storedSince(const ThreadState& thread, const Owner& owner, Token token, Address at) {
  if (!knowsWord(thread, at)) return false;
  return thread.owner().launch->words.find(at >> 2)->second.hasStored(owner.block, owner.thread, token);
}

bool knowsEverything(const ThreadState& thread) {
  const BlockState& block = thread.owner();
  for (std::uint64_t nth = 0; nth < block.launch->started; ++nth) {
    std::uint64_t other = block.launch->firstBlock + block.launch->blockAt(nth);
    if (other == block.index) continue;
    std::uint64_t key = Clock::blockKey(other);
    if (block.known.at(key) < block.floor && !(thread.sync && thread.sync->known.at(key) >= block.floor))
      return false;
  }
  return true;
}

bool hasFenced(const ThreadState& thread) {
  return (thread.sync && thread.sync->hasFence) || !thread.owner().fenced.wide.empty();
}

} // namespace kcheck::runtime
