#include "instrument/runtime/core/older_loads.h"

#include "instrument/runtime/core/race.h"

#include <cstring>

namespace kcheck::runtime {
namespace {

/// Whether a load of the thread cannot see anything older than that version of the word.
bool mustSee(const ThreadState& thread, const SyncWord::Version& version, Address at) {
  const BlockState& block = thread.owner();
  if (version.block == block.index && version.thread == thread.linear) return true;
  if (comesBefore(thread, version.token, at, Seen::Not)) return true;
  if (block.known.at(Clock::wordKey(at)) >= version.number) return true;
  if (!thread.sync) return false;
  const SyncState& state = *thread.sync;
  return (state.seenWord == at >> 2 && state.seenVersion >= version.number) ||
         state.known.at(Clock::wordKey(at)) >= version.number ||
         (version.fence && version.fence < state.lastFence);
}

} // namespace

const SyncWord::Version* olderStore(const ThreadState& thread, const SyncWord& word, Address at,
                                    std::uint32_t bytes) {
  if (!word.hasVersionsOf(at, bytes)) return nullptr;
  std::uint64_t now = 0;
  std::memcpy(&now, reinterpret_cast<const void*>(at), bytes);
  const SyncWord::Version* oldest = nullptr;
  for (std::size_t i = word.versions.size(); i-- > 0;) {
    if (mustSee(thread, word.versions[i], at)) break;
    const SyncWord::Version& earlier = i ? word.versions[i - 1] : word.before;
    if (earlier.value == now) oldest = &earlier;
  }
  return oldest;
}

} // namespace kcheck::runtime
