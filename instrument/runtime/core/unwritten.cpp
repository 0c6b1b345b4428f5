#include "instrument/runtime/core/unwritten.h"

#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/events.h"
#include "instrument/runtime/core/outside.h"
#include "instrument/runtime/core/race_pair.h"
#include "instrument/runtime/core/sync.h"

#include <algorithm>

namespace kcheck::runtime {
namespace {

/// Whether somebody has written a byte of it: the others may be padding, of a pair that is read as a number.
bool isPartlyWritten(const CheckedAccess& access) {
  for (Address at = access.address; at < access.address + access.bytes; ++at) {
    const Cell& cell = cellOf(at);
    if ((cell.write == kBytes ? byteCells(cell).cell[at & 3].write : cell.write) != kUnwritten) return true;
  }
  return false;
}

/// Whether nothing is done with what is missing: a structure was copied whole.
bool isMissingUnused(const CheckedAccess& access, std::uint32_t usedWords) {
  for (Address at = access.address; usedWords && at < access.address + access.bytes; ++at) {
    const Cell& cell = cellOf(at);
    const Token write = cell.write == kBytes ? byteCells(cell).cell[at & 3].write : cell.write;
    const Address word = (at - access.address) / 4;
    if (write == kUnwritten && (word >= 32 || usedWords >> word & 1)) return false;
  }
  return usedWords != 0;
}

/// Whether each word of it has a byte that somebody has written: what else is missing is padding, most
/// likely.
bool hasBytesInEachWord(const CheckedAccess& access) {
  for (Address at = access.address & ~Address{3}; at < access.address + access.bytes; at += 4) {
    const Cell& cell = cellOf(at);
    if (cell.write == kUnwritten) return false;
    if (cell.write == kBytes && std::ranges::all_of(byteCells(cell).cell, [](const Cell& byte) {
          return byte.write == kUnwritten || byte.write == kPoison;
        }))
      return false;
  }
  return true;
}

/// How much it matters that the read found nothing written.
wire::UnwrittenRead weightOf(const CheckedAccess& access, const abi::SiteInfo* info) {
  if (!info || access.kind != AccessKind::Read) return wire::UnwrittenRead::Counts;
  if (info->flags & abi::SiteCopies && isPartlyWritten(access))
    return hasBytesInEachWord(access) ? wire::UnwrittenRead::Padding : wire::UnwrittenRead::CopiedInPart;
  return info->flags & abi::SiteMayDrop ? wire::UnwrittenRead::MayBeDropped : wire::UnwrittenRead::Counts;
}

/// By fences and the like, or by a flag alone: then the fence is missing, and not the first value.
bool isToldOf(const ThreadState& thread, const Owner& owner, Token token) {
  if (widelyKnown(thread, owner, token)) return true;
  if (!thread.sync || owner.thread == kWholeBlock) return false;
  const SyncState& sync = *thread.sync;
  auto has = [&](const Clock& clock) { return clock.covers(owner.block, owner.thread, token); };
  if (has(sync.pending.wide) || has(sync.polled.wide) || has(sync.pendingBlock)) return true;
  const SyncState::Awaited* awaited = sync.awaitedOf(owner.block, owner.thread);
  return awaited && awaited->store >= token;
}

wire::Finding unwrittenRead(const CheckedAccess& access, wire::UnwrittenRead weight) {
  wire::Finding finding = emptyFinding(wire::Rule::UninitializedRead);
  finding.numbers[0] = static_cast<std::uint64_t>(weight);
  finding.kernel = access.block.launch->name;
  finding.accessCount = 1;
  finding.access[0] = describeThread(access.thread, access.site, access.doing());
  describeAccessed(access.block, finding.memory, access.address, access.bytes);
  return finding;
}

} // namespace

void reportUnwrittenRead(CheckedAccess& access) {
  const abi::SiteInfo* info = context().site(access.site);
  if (info && (info->flags & abi::SiteKeepsBits)) return;
  if (info && (info->flags & abi::SiteOfLibrary) && (inShared(access.address) || isPartlyWritten(access)))
    return;
  if (inReserved(access.block, access.address)) return;
  if (info && access.kind == AccessKind::Read && isMissingUnused(access, info->usedWords)) return;
  const wire::UnwrittenRead weight = weightOf(access, info);
  if (weight == wire::UnwrittenRead::Padding) return;
  access.block.launch->earlyReads.told(access.site, report(unwrittenRead(access, weight)));
}

void noteFirstStore(const CheckedAccess& access, Token token) {
  LaunchState& launch = *access.block.launch;
  launch.words[access.address >> 2].first = {token, narrowSite(access.site)};
  launch.anyFirst = true;
}

void checkFirstStore(CheckedAccess& access) {
  LaunchState& launch = *access.block.launch;
  if (!access.reads() || access.outside || access.unwrittenBytes) return;
  const auto word = launch.words.find(access.address >> 2);
  if (word == launch.words.end() || !word->second.first.token) return;
  if (access.shared && word->second.user != access.block.index) return; // of a block that is over
  const SyncWord::Narrow first = word->second.first;
  if (sameThread(access, first.token) || comesBefore(access.thread, first.token, access.address, Seen::Not))
    return;
  if (first.token >= launch.first &&
      isToldOf(access.thread, ownerOf(launch, access.block, first.token), first.token))
    return;
  const abi::SiteInfo* info = context().site(access.site);
  if (access.shared && info && (info->flags & abi::SiteOfLibrary)) return;
  if (inReserved(access.block, access.address)) return;
  word->second.first = {}; // told
  wire::Finding finding = unwrittenRead(access, wire::UnwrittenRead::ComesFirst);
  if (first.site != kWideSite) finding.numbers[1] = reinterpret_cast<std::uint64_t>(devicePlace(first.site));
  report(finding);
}

} // namespace kcheck::runtime
