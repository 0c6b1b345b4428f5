// What an access leaves in its cell.
#include "instrument/runtime/core/race.h"

#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/race_pair.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

namespace kcheck::runtime {
namespace {

constexpr std::size_t kMostReadSets = std::size_t{1} << 21;
constexpr std::size_t kMostGlobalReaders = 64, kFolded = 16;

/// Of the thread's own block, before a barrier that it has passed: all who read in that interval come before
/// it.
bool isOfIntervalBefore(const CheckedAccess& access, Token token) {
  const BlockState& block = access.block;
  if (token < block.launch->first || token < block.floor || token >= kReadSet || token == block.launchMany)
    return false;
  const Owner owner = ownerOf(*block.launch, block, token);
  return owner.block == block.index && owner.intervalStart < block.interval;
}

/// All threads of a block that may read in the interval which begins there.
Token wholeBlock(const BlockState& block, Token interval) { return interval + block.many; }

/// What many threads of a block have read in one interval is entered once, for all of them: who has heard of
/// each of them, but of no barrier behind, is not taken to come after them.
void fold(const CheckedAccess& access, ReadSet& set) {
  const BlockState& block = access.block;
  std::map<std::tuple<std::uint64_t, Token, bool>, std::vector<ReadSet::Reader>>
      groups; // block, interval, atomic
  std::vector<ReadSet::Reader> left;
  for (const ReadSet::Reader& reader : set.readers) {
    if (reader.token < block.launch->first || reader.token >= kReadSet) {
      left.push_back(reader);
      continue;
    }
    const Owner owner = ownerOf(*block.launch, block, reader.token);
    if (owner.isOfInterval && owner.threadsEnd - owner.intervalStart == block.many)
      groups[{owner.block, owner.intervalStart, reader.atomic}].push_back(reader);
    else
      left.push_back(reader);
  }
  set.clear();
  for (const ReadSet::Reader& reader : left) set.add(reader);
  for (const auto& [group, readers] : groups) {
    const auto& [owner, interval, atomic] = group;
    if (readers.size() < kFolded) {
      for (const ReadSet::Reader& reader : readers) set.add(reader);
      continue;
    }
    set.add({wholeBlock(block, interval), readers.front().site, atomic});
    set.isFolded = true;
  }
}

} // namespace

void noteReader(CheckedAccess& access, Cell& cell, CellSites& sites, Address at) {
  LaunchState& launch = *access.block.launch;
  BlockState& block = access.block;
  bool atomic = access.atomic();
  auto alone = [&] {
    cell.read = access.thread.me;
    sites.read = narrowSite(access.site);
  };
  bool inSet = isReadSet(cell.read);
  ReadSet* set = inSet ? readSetOf(launch, cell.read) : nullptr;
  if (inSet && !set) return alone(); // of an earlier launch
  if (!inSet) {
    if (cell.read == block.launchMany) return;
    bool theirsAtomic = atomicScope(launch, sites.read) != 0;
    if (comesBefore(access.thread, cell.read, at, Seen::Not) && !(cell.read & 1)) return alone();
    if (cell.read & 1 && !sameThread(access, cell.read) &&
        comesBefore(access.thread, cell.read, at, Seen::Not))
      return alone();
    if (cell.read & 1 && isOfIntervalBefore(access, cell.read))
      return alone();                    // and others, the thread among them
    bool mixed = theirsAtomic != atomic; // "several" says nothing of either
    if ((!block.exact && !mixed) || launch.readSets.size() >= kMostReadSets) {
      if (theirsAtomic != atomic) { // a plain reader conflicts with more
        if (!atomic) alone();
        return;
      }
      bool sameInterval = cell.read - block.interval < block.many;
      const bool isOlder = cell.read < launch.first; // of what goes on in another stream
      if (isOlder && &cell != &cellOf(at)) return;   // no room for both: that one meets more threads
      if (&cell == &cellOf(at) && (!(cell.read & 1) || isOlder))
        readersOf(at) = {{cell.read & ~Token{1}, access.thread.me}, {sites.read, narrowSite(access.site)}, 0};
      cell.read = sameInterval ? cell.read | 1 : block.launchMany;
      return;
    }
    ReadSet made;
    made.add({cell.read, sites.read, theirsAtomic});
    cell.read = kReadSet + launch.firstReadSet + static_cast<Token>(launch.readSets.size());
    launch.readSets.push_back(std::move(made));
    set = &launch.readSets.back();
  }
  Token me = access.thread.me;
  // A plain reader of global memory meets atomics and flags of other blocks, which a stronger one does not.
  const bool standsForAll = access.shared || (!access.atomic() && !access.isVolatile);
  if (standsForAll && allComeBefore(access, *set)) set->clear();
  if (!set->readers.empty() && set->readers.back().token == me && set->readers.back().atomic == atomic)
    return;
  const auto standsForMe = [&](const ReadSet::Reader& reader) {
    return reader.token == wholeBlock(block, block.interval) && reader.atomic == atomic;
  };
  if (set->isFolded && std::ranges::any_of(set->readers, standsForMe)) return;
  std::size_t most = access.shared ? 2 * block.threadCount : kMostGlobalReaders;
  if (set->readers.size() >= std::max(most, set->sweepAt)) {
    std::erase_if(set->readers, [&](const ReadSet::Reader& reader) {
      return (reader.atomic || !atomic) &&
             (comesBefore(access.thread, reader.token, at, Seen::Not) ||
              readBeforeSeenStore(access, {reader.token, reader.site, false, reader.atomic}, at));
    });
    if (!access.shared && set->readers.size() >= kMostGlobalReaders) fold(access, *set);
    set->sweepAt = 2 * set->readers.size();
    const std::size_t size = set->readers.size();
    const bool isMany = !access.shared && size >= kMostGlobalReaders;
    if (isMany && size <= launch.spareReaders) {
      launch.spareReaders -= size; // as many more may come before the next look
    } else if (isMany) {
      cell.read = block.launchMany;
      auto plain = std::ranges::find(set->readers, false, &ReadSet::Reader::atomic);
      sites.read = plain != set->readers.end() ? plain->site : narrowSite(access.site);
      set->clear();
      return;
    }
  }
  set->add({me, narrowSite(access.site), atomic});
}

void noteWriter(CheckedAccess& access, Cell& cell, CellSites& sites, Address at) {
  BlockState& block = access.block;
  Token mine = access.thread.me;
  std::uint16_t site = narrowSite(access.site);
  if (access.atomic()) {
    LaunchState& launch = *block.launch;
    if (access.order.scope() >= 2) {
      mine |= 1;
      Token before = cell.write;
      bool together = (before & 1) && !isReserved(before) && before != mine &&
                      !comesBefore(access.thread, before, at, Seen::AtAll) && before >= launch.first;
      if (together) {
        Token start = block.interval;
        // Threads that have met at a __syncwarp(), or released something, have tokens of their own since.
        const bool sameInterval = before - start < block.many + 2 || access.shared ||
                                  (launch.exact && ownerOf(launch, block, before).block == block.index);
        mine = (sameInterval ? start + block.many : block.launchMany) | 1;
      }
    }
  }
  cell.write = mine;
  sites.write = site;
}

} // namespace kcheck::runtime
