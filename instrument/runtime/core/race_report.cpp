#include "instrument/runtime/core/race_report.h"

#include "instrument/runtime/core/events.h"
#include "instrument/runtime/core/outside.h"
#include "instrument/runtime/core/overwritten.h"
#include "instrument/runtime/core/sync.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace kcheck::runtime {
namespace {

wire::Nearness nearness(const CheckedAccess& access, const Owner& owner) {
  if (owner.block != access.block.index) return wire::Nearness::Grid;
  if (isCopy(owner.thread)) return wire::Nearness::Block;
  if (owner.thread == kWholeBlock || owner.thread / kWarpSize != access.thread.warp)
    return wire::Nearness::Block;
  return wire::Nearness::Warp;
}

wire::Rule ruleOf(const CheckedAccess& access, const Earlier& earlier, wire::Nearness near,
                  bool orderedIfWide) {
  const bool areNarrow = access.atomic() && earlier.atomic && !differInSize(access, earlier);
  if (areNarrow || orderedIfWide) return wire::Rule::RaceScope;
  if (near == wire::Nearness::Warp) return wire::Rule::RaceWarp;
  return access.shared ? wire::Rule::RaceShared : wire::Rule::RaceGlobal;
}

/// By what the thread has waited for in loops, orders left out.
wire::HandOver handOverOf(const CheckedAccess& access, const Owner& owner, Token token) {
  const SyncState* sync = access.thread.sync.get();
  const auto* awaited =
      sync && owner.thread != kWholeBlock ? sync->awaitedOf(owner.block, owner.thread) : nullptr;
  if (!awaited || awaited->mayBeOlder || awaited->store < token) return wire::HandOver::None;
  auto has = [&](const Clock& clock) { return clock.covers(owner.block, owner.thread, token); };
  return has(sync->polled.device) || has(sync->pending.device) || has(sync->pendingBlock)
             ? wire::HandOver::Fenced
             : wire::HandOver::Bare;
}

void setValue(std::uint64_t& value, Address address, std::uint32_t bytes) {
  value = 0;
  std::memcpy(&value, reinterpret_cast<const void*>(address), std::min<std::uint32_t>(bytes, 8));
}

/// Tells whether a write has changed anything, however large it is.
std::uint64_t contentSum(Address address, std::uint32_t bytes) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < bytes; ++i)
    sum = (sum ^ *reinterpret_cast<const unsigned char*>(address + i)) * 0x9E3779B97F4A7C15u + 1;
  return sum;
}

void addValues(wire::Finding& finding, const CheckedAccess& access, const Earlier& earlier) {
  wire::Access &mine = finding.access[0], &theirs = finding.access[1];
  std::uint32_t bytes = std::min<std::uint32_t>(access.bytes, 8);
  mine.valueBytes = theirs.valueBytes = static_cast<std::uint8_t>(bytes);
  setValue(mine.before, access.address, bytes);
  if (access.bytes > bytes) return; // a vector's first elements are no value of its own
  mine.flags |= wire::HasBefore;
  if (earlier.overwritten) return;
  // What is in memory now is what an earlier write left, or what an earlier read saw.
  (earlier.writes ? theirs.after : theirs.before) = mine.before;
  theirs.flags |= earlier.writes ? wire::HasAfter : wire::HasBefore;
}

} // namespace

void reportStreamRace(CheckedAccess& access, const Earlier& earlier, bool bareFlag) {
  settleValues(*access.block.launch);
  wire::Finding finding = emptyFinding(wire::Rule::RaceHost);
  finding.nearness = wire::Nearness::Host;
  finding.bareFlag = bareFlag;
  finding.accessCount = 2;
  finding.access[0] = describeThread(access.thread, access.site, access.doing());
  const Operation* other = context().streams.operationOf(earlier.token);
  wire::Access& theirs = finding.access[1];
  bool kernel = other && other->kernel;
  theirs.doing = !kernel ? wire::Doing::Host : earlier.writes ? wire::Doing::Write : wire::Doing::Read;
  theirs.site = kernel && earlier.site != kWideSite ? earlier.site : wire::kNoSite;
  theirs.caller = other ? reinterpret_cast<std::uint64_t>(other->caller) : 0;
  theirs.library = other ? text(other->library) : 0;
  if (context().streams.bothInBranches(other)) finding.flags |= wire::Branches;
  theirs.unused = earlier.writes;
  finding.kernel = access.block.launch->name;
  if (kernel) finding.detail = text(other->kernel->displayName);
  finding.caller = reinterpret_cast<std::uint64_t>(access.block.launch->config.caller);
  describeMemory(finding.memory, reinterpret_cast<void*>(access.address), access.bytes);
  report(finding);
}

static wire::Finding raceFinding(const CheckedAccess& access, const Earlier& earlier, const Owner& owner,
                                 bool bareFlag) {
  LaunchState& launch = *access.block.launch;
  wire::Nearness near = nearness(access, owner);
  bool orderedIfWide =
      owner.thread != kWholeBlock && widelyKnown(access.thread, owner, earlier.token & ~Token{1});
  wire::Finding finding = emptyFinding(ruleOf(access, earlier, near, orderedIfWide));
  if (orderedIfWide && !(access.atomic() && earlier.atomic)) finding.flags |= wire::NarrowFence;
  if (isCopy(owner.thread)) finding.flags |= wire::AsyncCopy;
  finding.bareFlag = bareFlag;
  finding.handOver = handOverOf(access, owner, earlier.token & ~Token{1});
  finding.nearness = near;
  finding.accessCount = 2;
  finding.kernel = launch.name;
  finding.access[0] = describeThread(access.thread, access.site, access.doing());
  finding.access[0].scope = access.atomic() ? static_cast<std::uint8_t>(access.order.scope()) : 0;
  wire::Doing doing = earlier.atomic   ? wire::Doing::Atomic
                      : earlier.writes ? wire::Doing::Write
                                       : wire::Doing::Read;
  std::uint32_t site = earlier.site == kWideSite ? wire::kNoSite : earlier.site;
  finding.access[1] = describeOwner(launch, owner, site, doing);
  if (access.kind == AccessKind::AtomicLoad) finding.access[0].flags |= wire::LoadsOnly;
  if (earlier.atomic && !earlier.writes) finding.access[1].flags |= wire::LoadsOnly;
  if (earlier.atomic)
    finding.access[1].scope =
        static_cast<std::uint8_t>(earlier.token & 1 ? 2 : atomicScope(launch, earlier.site));
  finding.numbers[0] = access.writes() | earlier.writes << 1; // who writes; atomics alone do not say it
  addValues(finding, access, earlier);
  describeAccessed(access.block, finding.memory, access.address, access.bytes);
  return finding;
}

void reportOldRead(const CheckedAccess& access, const Earlier& write, const Owner& owner) {
  settleValues(*access.block.launch);
  wire::Finding finding = raceFinding(access, write, owner, false);
  finding.rule = wire::Rule::RaceGlobal;
  finding.handOver = wire::HandOver::None;
  finding.flags = 0;
  finding.readOnlyCache = 1;
  report(finding);
}

void reportUseBesideFree(const CheckedAccess& free, const Earlier& use, const Owner& owner) {
  const LaunchState& launch = *free.block.launch;
  wire::Finding finding = emptyFinding(wire::Rule::UseAfterFree);
  finding.kernel = launch.name;
  finding.caller = reinterpret_cast<std::uint64_t>(launch.config.caller);
  finding.accessCount = 1;
  const wire::Doing doing = use.atomic   ? wire::Doing::Atomic
                            : use.writes ? wire::Doing::Write
                                         : wire::Doing::Read;
  finding.access[0] = describeOwner(launch, owner, use.site == kWideSite ? wire::kNoSite : use.site, doing);
  finding.text = text("unordered");
  describeAccessed(free.block, finding.memory, free.address, free.bytes);
  finding.memory.flags |= wire::Freed;
  finding.memory.freedBy = reinterpret_cast<std::uint64_t>(devicePlace(free.site));
  report(finding);
}

/// The races with what the other thread had written there before, in the part of the word that the access is
/// to.
static void addOverwritten(PendingValue& pending, const CheckedAccess& access, const Earlier& earlier,
                           const Owner& owner, Address word) {
  const Overwritten& known = overwrittenOf(word);
  if (known.token != earlier.token) return;
  std::uint32_t accessed = 0;
  for (unsigned i = 0; i < 4; ++i)
    if (word + i - access.address < access.bytes) accessed |= 0xFFu << 8 * i;
  for (unsigned which = 0; which < 2; ++which) {
    const std::uint32_t mask = maskOf(known.bytesOf(which)) & accessed;
    if (!mask) continue;
    const Earlier before{earlier.token, known.site[which], true, false, true};
    auto finding = std::make_unique<wire::Finding>(raceFinding(access, before, owner, false));
    finding->access[0].flags &= static_cast<std::uint8_t>(~wire::HasBefore); // that is the later one's
    if (access.bytes <= 4 && mask == accessed) {
      finding->access[1].after = (known.value[which] & mask) >> 8 * (access.address & 3);
      finding->access[1].flags |= wire::HasAfter;
    }
    pending.earlier.push_back({word, known.value[which], mask, std::move(finding)});
  }
}

void reportRace(CheckedAccess& access, const Earlier& earlier, const Owner& owner, bool bareFlag,
                Address at) {
  if (inReserved(access.block, access.address)) return;
  LaunchState& launch = *access.block.launch;
  settleValues(launch);
  const wire::Finding finding = raceFinding(access, earlier, owner, bareFlag);
  wire::Finding* logged = report(finding);
  if (!logged || !access.writes()) return;
  // The same pair may have been seen the other way round before.
  const bool isFirst =
      logged->access[0].site == access.site && (logged->access[0].flags & wire::LoadsOnly) == 0;
  const bool bothWrite = earlier.writes && !earlier.overwritten && !(access.atomic() && earlier.atomic);
  launch.pendingValues.push_back(
      {logged, access.bytes <= 8 && isFirst && !(logged->access[0].flags & wire::HasAfter), bothWrite,
       access.address, finding.access[0].valueBytes, access.bytes, contentSum(access.address, access.bytes)});
  access.mayBeSameValue = bothWrite && !access.atomic() && !earlier.atomic;
  for (Address word = at & ~Address{3}; access.mayBeSameValue && word < access.address + access.bytes;
       word += 4)
    addOverwritten(launch.pendingValues.back(), access, earlier, owner, word);
}

void keepRaceWithReader(CheckedAccess& access, const Earlier& earlier, const Owner& owner, bool bareFlag) {
  std::vector<PendingValue>& pending = access.block.launch->pendingValues;
  if (!pending.empty())
    pending.back().withReader =
        std::make_unique<wire::Finding>(raceFinding(access, earlier, owner, bareFlag));
}

static void settle(PendingValue& pending) {
  wire::Finding& finding = *pending.finding;
  std::uint64_t after = 0;
  setValue(after, pending.address, pending.bytes);
  if (pending.first) {
    finding.access[0].after = after;
    finding.access[0].flags |= wire::HasAfter;
  }
  if (!pending.bothWrite) return;
  const bool isSame = contentSum(pending.address, pending.accessed) == pending.contentBefore;
  if (!isSame) finding.flags |= wire::SawDifferentValue;
  finding.flags |= wire::SameValue; // as long as no other value is seen
  if (!isSame) return;
  auto tell = [&](wire::Finding& other) {
    other.access[0].after = after;
    other.access[0].flags |= pending.accessed <= 8 ? wire::HasAfter : 0;
    report(other);
  };
  for (const PendingValue::Earlier& earlier : pending.earlier)
    if ((*reinterpret_cast<const std::uint32_t*>(earlier.word) ^ earlier.value) & earlier.mask) {
      earlier.finding->flags |= wire::SameValue | wire::SawDifferentValue;
      return tell(*earlier.finding);
    }
  if (pending.withReader) tell(*pending.withReader);
}

void settleValues(LaunchState& launch) {
  for (PendingValue& pending : std::exchange(launch.pendingValues, {})) settle(pending);
}

wire::Access describeThread(const ThreadState& thread, std::uint32_t site, wire::Doing doing) {
  wire::Access access{};
  access.site = site;
  access.doing = doing;
  access.flags = wire::HasBlock | wire::HasThread;
  std::copy_n(thread.block->blockIdx, 3, access.block);
  std::copy_n(thread.threadIdx, 3, access.thread);
  return access;
}

wire::Access describeOwner(const LaunchState& launch, const Owner& owner, std::uint32_t site,
                           wire::Doing doing) {
  wire::Access access{};
  access.site = site;
  access.doing = doing;
  const Dim3 &grid = launch.config.grid, &block = launch.config.block;
  if (const std::uint64_t index = owner.block - launch.firstBlock; index < launch.gridBlocks) {
    access.flags |= wire::HasBlock;
    access.block[0] = static_cast<std::uint32_t>(index % grid.x);
    access.block[1] = static_cast<std::uint32_t>(index / grid.x % grid.y);
    access.block[2] = static_cast<std::uint32_t>(index / grid.x / grid.y);
  }
  if (owner.thread != kWholeBlock) {
    access.flags |= wire::HasThread;
    std::uint32_t thread = isCopy(owner.thread) ? owner.thread - kCopies : owner.thread;
    access.thread[0] = thread % block.x;
    access.thread[1] = thread / block.x % block.y;
    access.thread[2] = thread / block.x / block.y;
  } else {
    access.flags |= wire::Many;
  }
  return access;
}

} // namespace kcheck::runtime
