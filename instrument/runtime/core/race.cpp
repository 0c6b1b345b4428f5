#include "instrument/runtime/core/race.h"

#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/race_pair.h"
#include "instrument/runtime/core/sync.h"

#include <algorithm>

namespace kcheck::runtime {

ReadSet* readSetOf(LaunchState& launch, Token read) {
  std::uint32_t index = read - kReadSet;
  if (!isReadSet(read) || index - launch.firstReadSet >= launch.readSets.size()) return nullptr;
  return &launch.readSets[index - launch.firstReadSet];
}

/// Atomics of several threads on one word, each looked at by itself where all of them are still known: lanes
/// that have met at a __syncwarp() know of each other's. False where that cannot be told.
static bool checkEachAtomic(CheckedAccess& access, const Earlier& earlier, Address at) {
  LaunchState& launch = *access.block.launch;
  if (!launch.exact || access.atomic() || !earlier.atomic || earlier.token < launch.first ||
      earlier.token < access.block.floor)
    return false;
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
}

void checkOwnWrite(CheckedAccess& access, const Cell& cell, const CellSites& sites) {
  const LaunchState& launch = *access.block.launch;
  if (access.shared || isReserved(cell.write) || cell.write < launch.began) return;
  const Owner owner = ownerOf(launch, access.block, cell.write);
  const bool isOfBlocks = (cell.write & ~Token{1}) == access.block.launchMany;
  if (launch.inCompany && !isOfBlocks && !launch.isOwn(owner.block)) return;
  const bool atomic = (cell.write & 1) || atomicScope(launch, sites.write) != 0;
  access.racy = true;
  reportOldRead(access, {cell.write, sites.write, true, atomic}, owner);
}

/// Readers who have stored to the word since, before the atomic that runs: it stands for them to whoever
/// comes by, as in loops that look once and then try a compare-and-swap until it comes out well. A word knows
/// its last stores alone, so this is not left for later.
static void dropThoseWhoStored(const CheckedAccess& access, ReadSet& set) {
  constexpr std::size_t some = SyncWord::kMostWide / 2;
  LaunchState& launch = *access.block.launch;
  if (access.kind != AccessKind::Atomic || access.order.scope() < 2 || access.racy || !launch.tracksSync ||
      set.readers.size() < set.dropAt + some)
    return;
  auto word = launch.words.find(access.address >> 2); // of all that it updates
  if (word == launch.words.end()) return;
  std::erase_if(set.readers, [&](const ReadSet::Reader& reader) {
    if (reader.token < launch.first || reader.token >= kReadSet) return false;
    const Owner owner = ownerOf(launch, access.block, reader.token);
    return owner.thread != kWholeBlock && word->second.hasStored(owner.block, owner.thread, reader.token);
  });
  set.dropAt = set.readers.size();
}

void checkReaders(CheckedAccess& access, const Cell& cell, const CellSites& sites, Address at) {
  if (!cell.read || (access.racy && !access.mayBeSameValue)) return;
  LaunchState& launch = *access.block.launch;
  if (isReadSet(cell.read)) {
    ReadSet* set = readSetOf(launch, cell.read);
    if (!set || allComeBefore(access, *set)) return;
    for (const ReadSet::Reader& reader : set->readers)
      checkPair(access, {reader.token, reader.site, false, reader.atomic}, at);
    dropThoseWhoStored(access, *set);
    return;
  }
  bool atomic = atomicScope(launch, sites.read) != 0;
  bool several = (cell.read & 1) || cell.read == access.block.launchMany;
  if (several && !access.block.exact && &cell == &cellOf(at)) {
    const TwoReaders& two = readersOf(at);
    // Of this cell's present state: numbered since the launch began, and the first one of them as the cell
    // has it.
    bool current = two.token[0] > launch.began && two.token[1] > launch.began &&
                   (cell.read == access.block.launchMany || two.token[0] == (cell.read & ~Token{1}));
    // The first one may be of another operation that goes on meanwhile.
    current |=
        two.token[0] < launch.first && two.token[1] > launch.began && cell.read == access.block.launchMany;
    for (unsigned i = 0; i < 2 && current; ++i)
      checkPair(access, {two.token[i], two.site[i], false, atomicScope(launch, two.site[i]) != 0}, at);
    if (access.racy && !access.mayBeSameValue) return;
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
         comesBefore(access.thread, cell.read, access.address, Seen::Not); // else both are kept
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

} // namespace kcheck::runtime
