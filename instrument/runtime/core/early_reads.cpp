#include "instrument/runtime/core/early_reads.h"

#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/race_pair.h"
#include "instrument/runtime/core/race_report.h"

#include <algorithm>

namespace kcheck::runtime {
namespace {

/// Of one word, and in all: what comes later is judged by these.
constexpr std::size_t kMostOfWord = 64, kMostReaders = std::size_t{1} << 18;

Token bornOf(const CheckedAccess& access) { return access.shared ? access.block.born : 0; }

} // namespace

void EarlyReads::note(const CheckedAccess& access, Address at) {
  Word& word = words[at];
  if (word.born != bornOf(access)) { // of a block that is over
    for (const Reader& reader : word.readers) {
      Site& site = sites[reader.site];
      if (!site.left.token) site.left = {reader.token, at};
    }
    readers -= word.readers.size();
    word = {bornOf(access), {}};
  }
  if (word.readers.size() >= kMostOfWord || readers >= kMostReaders) return;
  const std::uint32_t site = narrowSite(access.site);
  const bool isKnown = std::ranges::any_of(word.readers, [&](const Reader& reader) {
    return reader.token == access.thread.me && reader.site == site;
  });
  if (isKnown) return;
  word.readers.push_back({access.thread.me, site});
  ++readers;
  ++sites[site].noted;
}

void EarlyReads::told(std::uint32_t site, wire::Finding* finding) {
  Site& at = sites[narrowSite(site)];
  at.finding = finding;
  at.times += finding != nullptr;
}

void EarlyReads::written(const CheckedAccess& access, Address at, Address end) {
  for (; at < end; ++at) {
    auto found = words.find(at);
    if (found == words.end() || found->second.born != bornOf(access)) continue;
    const bool isUnordered = std::ranges::none_of(found->second.readers, [&](const Reader& reader) {
      return sameThread(access, reader.token) || comesBefore(access.thread, reader.token, at, Seen::Not);
    });
    if (!isUnordered) continue;
    for (const Reader& reader : found->second.readers) ++sites[reader.site].explained;
    readers -= found->second.readers.size();
    words.erase(found);
  }
}

void EarlyReads::showAnother(const LaunchState& launch, std::uint32_t number, Site& site) const {
  Left left = site.left;
  for (const auto& [at, word] : words) {
    if (left.token && left.at <= at) continue; // the first one, in whatever order they are kept
    for (const Reader& reader : word.readers)
      if (reader.site == number) left = {reader.token, at};
  }
  wire::Finding& finding = *site.finding;
  wire::Memory& memory = finding.memory;
  const std::uint64_t start = memory.address - static_cast<std::uint64_t>(memory.offset);
  constexpr std::uint8_t known = wire::HasSize | wire::HasOffset;
  if (!left.token || (memory.flags & known) != known || left.at - start >= memory.size) return;
  memory.offset = static_cast<std::int64_t>(left.at - start);
  memory.address = left.at;
  wire::Access& read = finding.access[0];
  const Owner owner = context().epochs.ownerOf(left.token, launch.blockThreads);
  read = describeOwner(launch, owner, read.site, read.doing);
}

void EarlyReads::settle(const LaunchState& launch) {
  for (auto& [number, site] : sites) {
    if (!site.finding || site.explained == 0) continue;
    wire::Finding& finding = *site.finding;
    const bool isOfThisLaunch = finding.count == site.times;
    if (site.explained >= site.noted) {
      finding.count -= std::min(finding.count, site.times);
      if (finding.count == 0) finding.flags |= wire::Withdrawn;
    } else {
      finding.count -= std::min(finding.count - 1, site.explained);
      if (isOfThisLaunch) showAnother(launch, number, site);
    }
  }
  clear();
}

void EarlyReads::clear() {
  words.clear();
  sites.clear();
  readers = 0;
}

} // namespace kcheck::runtime
