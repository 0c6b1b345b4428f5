#include "instrument/runtime/core/sync_word.h"

#include <algorithm>
#include <cstring>

namespace kcheck::runtime {

void SyncWord::noteStore(const Stored& store) {
  std::erase_if(stores,
                [&](const Stored& one) { return one.block == store.block && one.thread == store.thread; });
  if (stores.size() >= kMostWide) stores.erase(stores.begin());
  stores.push_back(store);
}

bool SyncWord::hasStored(std::uint64_t block, std::uint32_t thread, Token since) const {
  return std::ranges::any_of(stores, [&](const Stored& store) {
    return store.block == block && store.thread == thread && store.token >= since;
  });
}

Clock& Published::ofBlock(std::uint64_t block) {
  for (auto& [index, clock] : byBlock)
    if (index == block) return clock;
  return byBlock.emplace_back(block, Clock()).second;
}

void Published::join(const Published& other) {
  device.join(other.device);
  wide.join(other.wide);
  for (const auto& [block, clock] : other.byBlock) ofBlock(block).join(clock);
}

bool SyncWord::publishes(std::uint8_t bytes) const {
  return std::ranges::any_of(
      parts, [&](const Part& part) { return (part.bytes & bytes) && !part.published.empty(); });
}

Published SyncWord::publishedWith(std::uint8_t bytes) const {
  Published all;
  for (const Part& part : parts)
    if (part.bytes & bytes) all.join(part.published);
  return all;
}

Published& SyncWord::partOf(std::uint8_t bytes) {
  const auto known = std::ranges::find(parts, bytes, &Part::bytes);
  return known == parts.end() ? parts.emplace_back(bytes).published : known->published;
}

void SyncWord::forget(std::uint8_t bytes) {
  for (Part& part : parts) part.bytes &= static_cast<std::uint8_t>(~bytes);
  std::erase_if(parts, [](const Part& part) { return part.bytes == 0; });
}

void SyncWord::settle() {
  if (!last.bytes) return;
  std::uint64_t now = 0;
  if (last.bytes != kWhateverValue)
    std::memcpy(&now, reinterpret_cast<const void*>(last.address), last.bytes);
  if (last.bytes == kWhateverValue || now != last.before) {
    Published& part = partOf(last.ofWord);
    part.device.join(last.device);
    part.wide.join(last.wide);
    part.ofBlock(last.block).join(last.inBlock);
  }
  last = Update();
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
