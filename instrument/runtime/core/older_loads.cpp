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

/// At the next look at the word: hooks stand before their access.
void SyncWord::settleVersion() {
  if (!versionsUnsettled) return;
  versionsUnsettled = false;
  Version& last = versions.back();
  std::memcpy(&last.value, reinterpret_cast<const void*>(versionAt), versionBytes);
  last.published = publishedWith(bytesOfWord(versionAt, versionBytes));
  const Version& earlier = versions.size() > 1 ? versions[versions.size() - 2] : before;
  if (last.isUpdate && last.value == earlier.value) versions.pop_back();
}

void SyncWord::notePlainStore(Address at, std::uint32_t bytes) {
  if (!hasVersionsOf(at, bytes)) return;
  std::uint64_t now = 0;
  std::memcpy(&now, reinterpret_cast<const void*>(at), bytes);
  if (now == versions.back().value) return;
  versions.clear();
  before = Version();
  before.value = now;
}

void SyncWord::addVersion(Address at, std::uint32_t bytes, const Version& added) {
  const bool isSame = bytes == versionBytes && at == versionAt;
  if (!isSame || versions.size() >= kVersions) {
    if (versionBytes && !isSame) { // of two sizes or places: what an older one held is not looked into
      versions.clear();
      versionBytes = sizeof before.value + 1;
      return;
    }
    if (versionBytes) {
      before = versions.front();
      versions.erase(versions.begin());
    } else if (bytes <= sizeof before.value) {
      std::memcpy(&before.value, reinterpret_cast<const void*>(at), bytes);
      versionBytes = bytes;
      versionAt = at;
    }
  }
  if (versionBytes != bytes) return;
  versions.push_back(added);
  versionsUnsettled = true;
}

} // namespace kcheck::runtime
