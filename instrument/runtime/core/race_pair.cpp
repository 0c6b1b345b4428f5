#include "instrument/runtime/core/race_pair.h"

#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/sync.h"

namespace kcheck::runtime {
namespace {

bool siteIsVolatile(std::uint32_t site) {
  const abi::SiteInfo* info = context().site(site);
  return info && (info->flags & abi::SiteVolatile);
}

/// Whether the block itself made the access: in this launch, and not one of another stream.
bool isOwnBlocks(const CheckedAccess& access, Token token) {
  const BlockState& block = access.block;
  token &= ~Token{1};
  if (token < block.launch->first && token != block.launchMany) return false;
  return ownerOf(*block.launch, block, token).block == block.index;
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
  return isOwnBlocks(access, earlier.token);
}

/// A volatile read in a loop that waits for what it reads.
bool polls(std::uint32_t site) {
  constexpr std::uint32_t flags = abi::SiteVolatile | abi::SitePolled;
  const abi::SiteInfo* info = context().site(site);
  return info && (info->flags & flags) == flags;
}

/// The same of an atomic read, with a volatile store as its partner.
bool pollsAtomically(std::uint32_t site) {
  const abi::SiteInfo* info = context().site(site);
  return info && info->kind == abi::SiteKind::Atomic && info->flags & abi::SitePolled;
}

/// A volatile read in a loop that waits for what it reads, against an atomic whose scope covers both, or such
/// an atomic read against a volatile store: how a flag is polled, before anything was released through it as
/// well.
bool isPolledFlag(const CheckedAccess& access, const Earlier& earlier) {
  const LaunchState& launch = *access.block.launch;
  if (access.atomic() == earlier.atomic) return false;
  bool near = access.shared || isOwnBlocks(access, earlier.token);
  bool wide = access.atomic() ? access.order.scope() >= 2
                              : earlier.token & 1 || atomicScope(launch, earlier.site) >= 2;
  if (!near && !wide) return false;
  if (access.atomic())
    return earlier.writes ? !access.writes() && siteIsVolatile(earlier.site) && pollsAtomically(access.site)
                          : polls(earlier.site);
  return access.writes() ? access.isVolatile && !earlier.writes && pollsAtomically(earlier.site)
                         : polls(access.site);
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
  return owner.thread != kWholeBlock && access.thread.sync->awaitedOf(owner.block, owner.thread);
}

/// A flag that is written after a fence and read as volatile (or atomically) is how fences are meant to be
/// used.
bool isFenceFlag(const CheckedAccess& access, const Earlier& earlier, Address at) {
  LaunchState& launch = *access.block.launch;
  if (!(launch.tracksSync || launch.inCompany) || (access.atomic() && earlier.atomic))
    return false; // two atomics differ in scope
  bool strongNow = access.atomic() || access.isVolatile;
  bool strongThen = earlier.atomic || siteIsVolatile(earlier.site);
  if (!strongNow || !strongThen || isBehindAwaited(access, earlier)) return false;
  if (isPolledFlag(access, earlier)) return true;
  if (access.writes() && hasFenced(access.thread)) return true;
  auto word = launch.words.find(at >> 2);
  if (word == launch.words.end()) return false;
  word->second.settle();
  return word->second.publishes(bytesOfWord(0, 4));
}

/// Of two atomics of two blocks one of block scope: that the thread has seen what the other one left, by a
/// wider atomic, is no order yet.
bool isTooNarrowToSee(const CheckedAccess& access, const Earlier& earlier) {
  if (!access.atomic() || access.shared || isOwnBlocks(access, earlier.token)) return false;
  const bool isNarrow = earlier.atomic && earlier.writes && !(earlier.token & 1) &&
                        atomicScope(*access.block.launch, earlier.site) == 1;
  return access.order.scope() < 2 || isNarrow;
}

/// Before the operation that runs, by the order of streams or by what the host had been told when it began
/// it.
bool comesBeforeOperation(Token token) {
  return context().streams.before(token) || context().hostKnows.knows(token);
}

/// Whether the token is that of another operation which lives at the same time.
bool isOfCompany(const BlockState& block, Token token, const Owner& owner) {
  const LaunchState& launch = *block.launch;
  return launch.inCompany && token != block.launchMany && !launch.isOwn(owner.block);
}

/// All of the owner's range comes before what the block does from now on: looking for the owner takes long.
void remember(const BlockState& block, const Owner& owner, Token token) {
  if (block.launch->tracksSync && owner.thread != kWholeBlock)
    block.before.note(token, owner.intervalStart, owner.threadsEnd);
}

/// At most one race for each access, and one with a reader where two writes store the same value: that is a
/// note, and must not stand for a reader who may have seen the value before.
void tell(CheckedAccess& access, const Earlier& earlier, Address at) {
  const LaunchState& launch = *access.block.launch;
  const Token token = earlier.token & ~Token{1};
  const bool bareFlag = isBareFlag(access, earlier);
  if (access.racy) {
    access.mayBeSameValue = false;
    if (token < launch.first) return;
    const Owner reader = ownerOf(launch, access.block, token);
    if (!isOfCompany(access.block, token, reader)) keepRaceWithReader(access, earlier, reader, bareFlag);
    return;
  }
  access.racy = true;
  if (token < launch.first) return reportStreamRace(access, earlier, bareFlag);
  const Owner owner = ownerOf(launch, access.block, token);
  if (access.frees) return reportUseBesideFree(access, earlier, owner);
  if (isOfCompany(access.block, token, owner)) return reportStreamRace(access, earlier, bareFlag);
  reportRace(access, earlier, owner, bareFlag, at);
}

} // namespace

Owner ownerOf(const LaunchState& launch, const BlockState& block, Token token) {
  token &= ~Token{1};
  if (token == block.launchMany) return {~std::uint64_t{0}, kWholeBlock, token};
  return context().epochs.ownerOf(token, launch.blockThreads);
}

bool readBeforeSeenStore(const CheckedAccess& access, const Earlier& earlier, Address at) {
  const LaunchState& launch = *access.block.launch;
  if (!launch.tracksSync || earlier.token < launch.first) return false;
  Owner owner = ownerOf(launch, access.block, earlier.token);
  return owner.thread != kWholeBlock && storedSince(access.thread, owner, earlier.token & ~Token{1}, at);
}

void checkPair(CheckedAccess& access, const Earlier& earlier, Address at) {
  if (access.racy && (!access.mayBeSameValue || earlier.writes)) return;
  bool strong = earlier.atomic || (earlier.writes && access.block.launch->mayBeFlag(earlier.site));
  const Seen seen = !strong ? Seen::Not : isTooNarrowToSee(access, earlier) ? Seen::InOrder : Seen::AtAll;
  if (comesBefore(access.thread, earlier.token, at, seen)) return;
  if (access.atomic() && earlier.atomic && atomicsAgree(access, earlier)) return;
  if (isFenceFlag(access, earlier, at)) return;
  if (!earlier.writes && readBeforeSeenStore(access, earlier, at)) return;
  tell(access, earlier, at);
}

bool sameThread(const CheckedAccess& access, Token token) {
  if ((token | 1) == (access.thread.me | 1)) return true;
  if (token < access.block.launch->first || token >= kReadSet) return false;
  Owner owner = ownerOf(*access.block.launch, access.block, token);
  return owner.block == access.block.index && owner.thread == access.thread.linear;
}

bool comesBefore(const ThreadState& thread, Token token, Address at, Seen seen) {
  const BlockState& block = thread.owner();
  const LaunchState& launch = *block.launch;
  token &= ~Token{1};
  if (token < block.floor || token == (thread.me & ~Token{1})) return true;
  if (inShared(at) && token < block.interval) return true;
  if (token - block.ordered < block.interval - block.ordered) return true;
  if (token < launch.first) return comesBeforeOperation(token);
  if (launch.tracksSync && block.before.holds(token)) return true;
  Owner owner = ownerOf(launch, block, token);
  if (isOfCompany(block, token, owner)) // several threads of another launch may be known as a whole
    return comesBeforeOperation(token) || knownTo(thread, owner, token) || knowsWord(thread, at, seen);
  if (owner.block == operationBlock(launch.firstBlock >> kLaunchShift) && knownTo(thread, owner, token))
    return true; // several blocks before a grid barrier
  if (owner.block == block.index) {
    if (owner.intervalStart < block.interval) {
      remember(block, owner, token);
      return true;
    }
    if (owner.thread == thread.linear) return true;
    if (thread.sync && owner.thread != kWholeBlock && owner.thread / kWarpSize == thread.warp &&
        thread.sync->lanes[owner.thread % kWarpSize] >= token)
      return true;
  }
  if (knownTo(thread, owner, token)) { // of several threads: all of their block, up to there
    if (block.known.at(Clock::blockKey(owner.block)) >= owner.threadsEnd - 1) remember(block, owner, token);
    return true;
  }
  return knowsWord(thread, at, seen);
}

bool allComeBefore(const CheckedAccess& access, const ReadSet& set) {
  const BlockState& block = access.block;
  if (set.newest < block.floor || (access.shared && set.newest < block.interval)) return true;
  Token since = block.interval - block.ordered;
  return set.oldest - block.ordered < since && set.newest - block.ordered < since;
}

} // namespace kcheck::runtime
