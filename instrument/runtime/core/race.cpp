#include "instrument/runtime/core/race.h"

#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/race_report.h"
#include "instrument/runtime/core/sync.h"

#include <algorithm>

namespace kcheck::runtime {
namespace {

constexpr std::size_t kMostReadSets = std::size_t{1} << 21;
constexpr std::size_t kMostGlobalReaders = 64;

bool siteIsVolatile(std::uint32_t site) {
  const abi::SiteInfo* info = context().site(site);
  return info && (info->flags & abi::SiteVolatile);
}

Owner ownerOf(const LaunchState& launch, const BlockState& block, Token token) {
  token &= ~Token{1};
  if (token == block.launchMany) return {~std::uint64_t{0}, kWholeBlock, token};
  return context().epochs.ownerOf(token, launch.blockThreads);
}

/// Two atomics do not race when each one's scope covers the other.
bool atomicsAgree(const CheckedAccess& access, const Earlier& earlier) {
  if (differInSize(access, earlier)) return false;
  const LaunchState& launch = *access.block.launch;
  std::uint32_t theirs = (earlier.writes && earlier.token & 1) ? 2 : atomicScope(launch, earlier.site);
  if (access.order.scope() >= 2 && theirs >= 2) return true;
  if (access.shared) return true;
  // Of several wide ones checkNarrowAtomics knows each.
  if (launch.tracksSync && earlier.writes && (earlier.token & ~Token{1}) == access.block.launchMany)
    return true;
  return ownerOf(launch, access.block, earlier.token).block == access.block.index;
}

/// A volatile read in a loop that waits for what it reads.
bool polls(std::uint32_t site) {
  constexpr std::uint32_t flags = abi::SiteVolatile | abi::SitePolled;
  const abi::SiteInfo* info = context().site(site);
  return info && (info->flags & flags) == flags;
}

/// A volatile read in a loop that waits for what it reads, against an atomic whose scope covers both: how a
/// flag is polled, before anything was released through it as well.
bool isPolledFlag(const CheckedAccess& access, const Earlier& earlier) {
  const LaunchState& launch = *access.block.launch;
  bool near = access.shared || ownerOf(launch, access.block, earlier.token).block == access.block.index;
  if (access.atomic()) return (near || access.order.scope() >= 2) && !earlier.writes && polls(earlier.site);
  bool wide = earlier.token & 1 || atomicScope(launch, earlier.site) >= 2;
  return !access.writes() && earlier.atomic && (near || wide) && polls(access.site);
}

/// The same read against a volatile store. No fault in itself: at worst what the flag should hand over is in
/// a race too.
bool isBareFlag(const CheckedAccess& access, const Earlier& earlier) {
  if (access.atomic() || earlier.atomic) return false;
  if (access.writes()) return access.isVolatile && !earlier.writes && polls(earlier.site);
  return earlier.writes && siteIsVolatile(earlier.site) && polls(access.site);
}

/// A volatile read behind a flag of the writer's that the thread has waited for: data, which the flag should
/// have handed over, and no flag of its own.
bool isBehindAwaited(const CheckedAccess& access, const Earlier& earlier) {
  const LaunchState& launch = *access.block.launch;
  if (access.atomic() || earlier.atomic || access.writes() || !earlier.writes || polls(access.site) ||
      !access.thread.sync || earlier.token < launch.first)
    return false;
  Owner owner = ownerOf(launch, access.block, earlier.token);
  return owner.thread != kWholeBlock && access.thread.sync->hasAwaited(owner.block, owner.thread);
}

/// A flag that is written after a fence and read as volatile (or atomically) is how fences are meant to be
/// used.
bool isFenceFlag(const CheckedAccess& access, const Earlier& earlier, Address at) {
  LaunchState& launch = *access.block.launch;
  if (!launch.tracksSync || (access.atomic() && earlier.atomic)) return false; // two atomics differ in scope
  bool strongNow = access.atomic() || access.isVolatile;
  bool strongThen = earlier.atomic || siteIsVolatile(earlier.site);
  if (!strongNow || !strongThen || isBehindAwaited(access, earlier)) return false;
  if (isPolledFlag(access, earlier)) return true;
  if (access.writes() && hasFenced(access.thread)) return true;
  auto word = launch.words.find(at >> 2);
  if (word == launch.words.end()) return false;
  word->second.settle();
  return word->second.released;
}

/// A thread that reads a word and then stores to it read the word before all who have seen its store: how a
/// ticket lock is handed on (`serving = serving + 1`, volatile).
bool readBeforeSeenStore(const CheckedAccess& access, const Earlier& earlier, Address at) {
  const LaunchState& launch = *access.block.launch;
  if (!launch.tracksSync || earlier.token < launch.first) return false;
  Owner owner = ownerOf(launch, access.block, earlier.token);
  return owner.thread != kWholeBlock && storedSince(access.thread, owner, earlier.token & ~Token{1}, at);
}

/// At most one race for each access.
void tell(CheckedAccess& access, const Earlier& earlier) {
  access.racy = true;
  if ((earlier.token & ~Token{1}) < access.block.launch->first) return reportStreamRace(access, earlier);
  reportRace(access, earlier, ownerOf(*access.block.launch, access.block, earlier.token),
             isBareFlag(access, earlier));
}

void checkPair(CheckedAccess& access, const Earlier& earlier, Address at) {
  if (access.racy) return;
  bool strong = earlier.atomic || (earlier.writes && access.block.launch->mayBeFlag(earlier.site));
  if (comesBefore(access.thread, earlier.token, at, strong)) return;
  if (access.atomic() && earlier.atomic && atomicsAgree(access, earlier)) return;
  if (isFenceFlag(access, earlier, at)) return;
  if (!earlier.writes && readBeforeSeenStore(access, earlier, at)) return;
  tell(access, earlier);
}

bool sameThread(const CheckedAccess& access, Token token) {
  if ((token | 1) == (access.thread.me | 1)) return true;
  if (token < access.block.launch->first || token >= kReadSet) return false;
  Owner owner = ownerOf(*access.block.launch, access.block, token);
  return owner.block == access.block.index && owner.thread == access.thread.linear;
}

} // namespace

ReadSet* readSetOf(LaunchState& launch, Token read) {
  std::uint32_t index = read - kReadSet;
  if (!isReadSet(read) || index - launch.firstReadSet >= launch.readSets.size()) return nullptr;
  return &launch.readSets[index - launch.firstReadSet];
}

bool comesBefore(const ThreadState& thread, Token token, Address at, bool atomic) {
  const BlockState& block = thread.owner();
  const LaunchState& launch = *block.launch;
  token &= ~Token{1};
  if (token < block.floor || token == (thread.me & ~Token{1})) return true;
  if (inShared(at) && token < block.interval) return true;
  if (token - block.ordered < block.interval - block.ordered) return true;
  if (token < launch.first) return context().streams.before(token);
  Owner owner = ownerOf(launch, block, token);
  if (owner.block == block.index) {
    if (owner.intervalStart < block.interval || owner.thread == thread.linear) return true;
    if (thread.sync && owner.thread != kWholeBlock && owner.thread / kWarpSize == thread.warp &&
        thread.sync->lanes[owner.thread % kWarpSize] >= token)
      return true;
  }
  if (owner.thread != kWholeBlock && knownTo(thread, owner, token)) return true;
  return atomic && knowsWord(thread, at);
}

/// Atomics of several threads on one word, each looked at by itself where all of them are still known: lanes
/// that have met at a __syncwarp() know of each other's. False where that cannot be told.
static bool checkEachAtomic(CheckedAccess& access, const Earlier& earlier, Address at) {
  LaunchState& launch = *access.block.launch;
  if (!launch.exact || access.atomic() || !earlier.atomic || earlier.token < launch.first) return false;
  if (ownerOf(launch, access.block, earlier.token).thread != kWholeBlock) return false;
  auto word = launch.words.find(at >> 2);
  if (word == launch.words.end() || word->second.wideAtomics.empty() || word->second.moreWide) return false;
  for (const SyncWord::Wide& one : word->second.wideAtomics)
    if (!access.shared || one.block == access.block.index)
      checkPair(access, {one.last.token | 1, one.last.site, true, true}, at);
  return true;
}

void checkWriter(CheckedAccess& access, const Cell& cell, const CellSites& sites, Address at) {
  if (isReserved(cell.write)) return;
  bool atomic = (cell.write & 1) || atomicScope(*access.block.launch, sites.write) == 1;
  const Earlier earlier{cell.write, sites.write, true, atomic};
  if (!differInSize(access, earlier)) {
    if (atomic && access.atomic() && access.order.scope() >= 2 && (cell.write & 1)) return; // both wide
    if (cell.write & 1 && cell.write == (access.block.launchMany | 1) && access.atomic() && access.shared)
      return;
  }
  if (!checkEachAtomic(access, earlier, at)) checkPair(access, earlier, at);
  // An update of what nobody had written, and the initialising write only now.
  if (access.racy && access.kind == AccessKind::Write)
    if (auto early = access.block.launch->unwrittenReads.find(sites.write);
        early != access.block.launch->unwrittenReads.end())
      ++early->second.raced;
}

static void checkAllReaders(CheckedAccess& access, const Cell& cell, const CellSites& sites, Address at);

void checkReaders(CheckedAccess& access, const Cell& cell, const CellSites& sites, Address at) {
  if (!cell.read || access.racy) return;
  checkAllReaders(access, cell, sites, at);
  // The reader came too early: that is the race, not a forgotten initialisation.
  if (access.racy && cell.write == kUnwritten)
    if (auto early = access.block.launch->unwrittenReads.find(sites.read);
        early != access.block.launch->unwrittenReads.end())
      ++early->second.raced;
}

/// Barriers order all readers of the set before the access.
static bool allComeBefore(const CheckedAccess& access, const ReadSet& set) {
  const BlockState& block = access.block;
  if (set.newest < block.floor || (access.shared && set.newest < block.interval)) return true;
  Token since = block.interval - block.ordered;
  return set.oldest - block.ordered < since && set.newest - block.ordered < since;
}

static void checkAllReaders(CheckedAccess& access, const Cell& cell, const CellSites& sites, Address at) {
  LaunchState& launch = *access.block.launch;
  if (isReadSet(cell.read)) {
    if (ReadSet* set = readSetOf(launch, cell.read); set && !allComeBefore(access, *set))
      for (const ReadSet::Reader& reader : set->readers)
        checkPair(access, {reader.token, reader.site, false, reader.atomic}, at);
    return;
  }
  bool atomic = atomicScope(launch, sites.read) != 0;
  bool several = (cell.read & 1) || cell.read == access.block.launchMany;
  if (several && !access.block.exact && &cell == &cellOf(at)) {
    const TwoReaders& two = readersOf(at);
    // Of this cell's present state: numbered since the launch began, and the first one of them as the cell
    // has it.
    bool current = two.token[0] > launch.first && two.token[1] > launch.first &&
                   (cell.read == access.block.launchMany || two.token[0] == (cell.read & ~Token{1}));
    for (unsigned i = 0; i < 2 && current; ++i)
      checkPair(access, {two.token[i], two.site[i], false, atomicScope(launch, two.site[i]) != 0}, at);
    if (access.racy) return;
  }
  if (cell.read == access.block.launchMany) {
    if (access.block.exact && knowsEverything(access.thread)) return;
    return checkPair(access, {cell.read, sites.read, false, atomic}, at);
  }
  if ((cell.read & 1) && sameThread(access, cell.read)) {                   // and others
    if (access.block.exact || !readByMany(access.block, cell.read)) return; // of an interval that is over
    return checkPair(access, {access.block.interval + access.block.many, sites.read, false, atomic}, at);
  }
  checkPair(access, {cell.read & ~Token{1}, sites.read, false, atomic}, at);
}

/// Whom a plain access of the same kind meets, an atomic one does not.
enum class Strength { Plain, Volatile, Atomic };

static Strength strengthOf(const CheckedAccess& access) {
  return access.atomic() ? Strength::Atomic : access.isVolatile ? Strength::Volatile : Strength::Plain;
}

static Strength writerStrength(const CheckedAccess& access, Token token, std::uint16_t site) {
  if ((token & 1) || atomicScope(*access.block.launch, site)) return Strength::Atomic;
  return access.block.launch->mayBeFlag(site) ? Strength::Volatile : Strength::Plain;
}

static Strength readerStrength(const CheckedAccess& access, std::uint16_t site) {
  return writerStrength(access, 0, site);
}

/// Some thread of this launch need not come after the token.
static bool stillMatters(const CheckedAccess& access, Token token) {
  const BlockState& block = access.block;
  if (token >= kReadSet || token < block.launch->first || token < block.floor) return false;
  return (token & ~Token{1}) != block.launchMany && (!access.shared || token >= block.interval);
}

bool hides(const CheckedAccess& access, const Cell& cell, const CellSites& sites) {
  Strength mine = strengthOf(access);
  if (mine == Strength::Plain) return false;
  if (access.writes())
    return stillMatters(access, cell.write) && writerStrength(access, cell.write, sites.write) < mine;
  return stillMatters(access, cell.read) && readerStrength(access, sites.read) < mine &&
         comesBefore(access.thread, cell.read, access.address, false); // else both are kept
}

void checkHidden(CheckedAccess& access, Hidden& hidden, Address at) {
  if (!stillMatters(access, hidden.write)) hidden.write = 0;
  if (!stillMatters(access, hidden.read)) hidden.read = 0;
  if (hidden.write) checkPair(access, {hidden.write, hidden.sites.write, true, false, true}, at);
  if (hidden.read && access.writes())
    checkPair(access, {hidden.read & ~Token{1}, hidden.sites.read, false, false}, at);
  if (access.kind == AccessKind::Write && !access.isVolatile) hidden = Hidden();
}

void keepHidden(CheckedAccess& access, const Cell& cell, const CellSites& sites, Hidden& hidden) {
  if (!hides(access, cell, sites)) return;
  if (access.writes()) {
    if (hidden.write && writerStrength(access, hidden.write, hidden.sites.write) <
                            writerStrength(access, cell.write, sites.write))
      return;
    hidden.write = cell.write;
    hidden.sites.write = sites.write;
  } else {
    hidden.read = cell.read;
    hidden.sites.read = sites.read;
  }
}

/// Enters a wide atomic, or one of shared memory, as its thread's last one on the word.
static void noteWideAtomic(CheckedAccess& access, SyncWord& word) {
  const SyncWord::Narrow last{access.thread.me, narrowSite(access.site)};
  for (SyncWord::Wide& earlier : word.wideAtomics)
    if (earlier.block == access.block.index && earlier.thread == access.thread.linear) {
      earlier.last = last;
      return;
    }
  if (access.shared &&
      word.wideAtomics.size() >= SyncWord::kMostWide) // barriers order those of old intervals
    std::erase_if(word.wideAtomics, [&](const SyncWord::Wide& earlier) {
      return earlier.block != access.block.index || earlier.last.token < access.block.interval;
    });
  if (word.wideAtomics.size() < SyncWord::kMostWide)
    word.wideAtomics.push_back({access.block.index, access.thread.linear, last});
  else
    word.moreWide = true;
}

void noteAtomic(CheckedAccess& access) {
  if (access.writes() && !access.outside && (access.shared || access.order.scope() >= 2))
    noteWideAtomic(access, access.block.launch->words[access.address >> 2]);
}

void checkNarrowAtomics(CheckedAccess& access) {
  LaunchState& launch = *access.block.launch;
  bool narrow = access.order.scope() < 2;
  auto word = launch.words.find(access.address >> 2);
  SyncWord& state = word == launch.words.end() ? launch.words[access.address >> 2] : word->second;
  for (const SyncWord::Narrow& earlier : state.narrow)
    if (ownerOf(launch, access.block, earlier.token).block != access.block.index)
      checkPair(access, {earlier.token, earlier.site, true, true}, access.address);
  std::uint16_t site = narrowSite(access.site);
  if (narrow)
    for (const SyncWord::Wide& earlier : state.wideAtomics)
      if (earlier.block != access.block.index)
        checkPair(access, {earlier.last.token | 1, earlier.last.site, true, true}, access.address);
  if (!access.writes()) return;
  if (!narrow) return noteWideAtomic(access, state);
  for (SyncWord::Narrow& earlier : state.narrow)
    if (earlier.site == site) {
      earlier.token = access.thread.me;
      return;
    }
  state.narrow.push_back({access.thread.me, site});
}

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
    if (comesBefore(access.thread, cell.read, at, false) && !(cell.read & 1)) return alone();
    if (cell.read & 1 && !sameThread(access, cell.read) && comesBefore(access.thread, cell.read, at, false))
      return alone();
    bool mixed = theirsAtomic != atomic; // "several" says nothing of either
    if ((!block.exact && !mixed) || launch.readSets.size() >= kMostReadSets) {
      if (theirsAtomic != atomic) { // a plain reader conflicts with more
        if (!atomic) alone();
        return;
      }
      bool sameInterval = cell.read - block.interval < block.many;
      if (&cell == &cellOf(at) && !(cell.read & 1))
        readersOf(at) = {{cell.read, access.thread.me}, {sites.read, narrowSite(access.site)}, 0};
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
  const bool standsForAll = access.shared || strengthOf(access) == Strength::Plain;
  if (standsForAll && allComeBefore(access, *set)) set->clear();
  if (!set->readers.empty() && set->readers.back().token == me && set->readers.back().atomic == atomic)
    return;
  std::size_t most = access.shared ? 2 * block.threadCount : kMostGlobalReaders;
  if (set->readers.size() >= std::max(most, set->sweepAt)) {
    std::erase_if(set->readers, [&](const ReadSet::Reader& reader) {
      return (reader.atomic || !atomic) &&
             (comesBefore(access.thread, reader.token, at, false) ||
              readBeforeSeenStore(access, {reader.token, reader.site, false, reader.atomic}, at));
    });
    set->sweepAt = 2 * set->readers.size();
    if (!access.shared && set->readers.size() >= kMostGlobalReaders) {
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
                      !comesBefore(access.thread, before, at, true) && before >= launch.first;
      if (together) {
        Token start = block.interval;
        bool sameInterval = before - start < block.many + 2 || access.shared;
        mine = (sameInterval ? start + block.many : block.launchMany) | 1;
      }
    }
  }
  cell.write = mine;
  sites.write = site;
}

} // namespace kcheck::runtime
