// The log of the running warp: where it begins, what happens when it is full or meets foreign memory, and the
// slow way through it.
#include "instrument/runtime/core/row_log.h"

#include "instrument/runtime/core/access.h"
#include "instrument/runtime/core/log.h"
#include "instrument/runtime/core/outside.h"
#include "instrument/runtime/core/own_arrays.h"
#include "instrument/runtime/core/race.h"
#include "instrument/runtime/core/share.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <sys/mman.h>

namespace kcheck::runtime {

/// Room for a log: kLogBytes and as much again, aligned so that the first byte behind the log sets the bit.
Word* mapRows() {
  std::size_t bytes = 2 * abi::kLogBytes;
  void* room =
      mmap(nullptr, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) std::abort();
  auto address = reinterpret_cast<Address>(room);
  return reinterpret_cast<Word*>((address + bytes - 1) & ~(bytes - 1));
}

namespace {

/// All accesses that have not been checked, in the order in which they happened: visit(lane, access, address,
/// at).
template <class Visit> void eachUnchecked(const RowLog& log, Visit visit) {
  const LaunchState& launch = *log.lanes->owner().launch;
  for (std::uint32_t i = 0; i < log.count; ++i) {
    std::uint32_t lane = log.order[i];
    auto here = [&](const abi::LoggedAccess& access, const Word* at) {
      visit(lane, access, addressOf(access, at, launch), at);
    };
    const Word* column = log.rows + lane;
    if (log.spilled(lane)) {
      if (log.checked[lane] < log.kept[lane]) eachAccess(column, log.checked[lane], log.kept[lane], here);
      std::uint32_t done = log.checked[lane] > log.kept[lane] ? log.checked[lane] - log.kept[lane] : 0;
      eachAccess(log.spill + lane, done, log.rowsFrom(log.spill, lane), here);
    } else {
      eachAccess(column, log.checked[lane], log.rowsFrom(log.rows, lane), here);
    }
    if (log.partial != &log.lanes[lane] || !log.withinSegment() || !log.partialDone) continue;
    const abi::LogSegment& segment = segmentAt(*log.partialAt);
    for (std::uint32_t n = 0; n < log.partialDone; ++n)
      here(module().accesses[segment.first + n], log.partialAt);
  }
}

void markChecked(RowLog& log) {
  for (std::uint32_t lane = 0; lane < log.count; ++lane)
    log.checked[lane] = log.spilled(lane) ? log.kept[lane] + log.rowsFrom(log.spill, lane) : log.used(lane);
  log.partial = nullptr;
}

} // namespace

namespace {

void swapWithMemory(Content& content) {
  std::byte now[16];
  void* memory = reinterpret_cast<void*>(content.address);
  std::memcpy(now, memory, content.bytes);
  std::memcpy(memory, content.content, content.bytes);
  std::memcpy(content.content, now, content.bytes);
}

} // namespace

void takeBack(RowLog& log) {
  std::vector<Content>& contents = log.contents;
  contents.clear();
  eachUnchecked(log, [&](std::uint32_t, const abi::LoggedAccess& access, Address address, const Word* at) {
    if (access.kind == abi::SiteKind::Read) return;
    Content& content = contents.emplace_back(Content{address, access.bytes, {}});
    if (!inArena(address)) content.bytes = 0;
    for (std::uint32_t part = 0; part < (access.bytes == 16 ? 2u : 1u); ++part)
      std::memcpy(content.content + std::size_t{8} * part,
                  at + std::size_t{access.content + part} * abi::kLogLanes, 8);
  });
  for (std::size_t i = contents.size(); i-- > 0;) swapWithMemory(contents[i]);
}

static AccessKind kindOf(const abi::LoggedAccess& access) {
  const AtomicOrder order{access.order};
  if (access.kind == abi::SiteKind::Read) return AccessKind::Read;
  if (access.kind == abi::SiteKind::Write) return AccessKind::Write;
  return !order.stores()  ? AccessKind::AtomicLoad
         : !order.loads() ? AccessKind::AtomicStore
                          : AccessKind::Atomic;
}

void replay(RowLog& log) {
  LaunchState& launch = *log.lanes->owner().launch;
  launch.checks->pattern.interrupt(launch, launch.checks->cells);
  takeBack(log);
  std::size_t next = 0;
  QuietArrays& quiet = launch.quiet;
  eachUnchecked(log, [&](std::uint32_t lane, const abi::LoggedAccess& access, Address address, const Word*) {
    ThreadState& thread = log.lanes[lane];
    const bool inside = inArena(address); // what is not has been reported
    bool known = inside;
    AtomicOrder order{access.order};
    if (inside && access.array && leavesOwnArray(launch, access.array, address, access.bytes)) {
      reportBeyond(thread, access.array, address, access.bytes, access.site, kindOf(access));
      known = false;
    }
    if (access.kind == abi::SiteKind::Read) {
      if (known && !quiet.cover(address, access.bytes))
        runtime::access<AccessKind::Read>(thread, address, access.bytes, access.site);
      return;
    }
    if (inside) quiet.noteWrite(address, access.bytes);
    if (!known) {
    } else if (access.kind == abi::SiteKind::Write) {
      runtime::access<AccessKind::Write>(thread, address, access.bytes, access.site);
    } else {
      checkAccess(thread, address, access.bytes, access.site, kindOf(access), order);
    }
    swapWithMemory(log.contents[next++]);
  });
  if (!launch.pendingValues.empty()) settleValues(launch);
}

void meetLaunch(LaunchState& launch) {
  if (!launch.rows) launch.rows = new RowLog;
  if (!launch.checks) launch.checks = new RowChecks;
  launch.checks->tried = launch.checks->failed = 0;
  launch.checks->apart = launch.checks->lost = 0;
  launch.checks->known.forget();
  launch.checks->pattern.beginLaunch(!launch.tracksSync && launch.gridBlocks > 1 && !launch.steps);
}

void meetBlock(LaunchState& launch) { launch.checks->pattern.beginBlock(launch, launch.checks->cells); }

void leaveBlock(LaunchState& launch) { launch.checks->pattern.endBlock(); }

std::uint64_t* beginOfRows(const LaunchState& launch) { return launch.rows->rows; }

void beginRows(LaunchState& launch, ThreadState* lanes, std::uint32_t count, const std::uint8_t* order) {
  RowLog& log = *launch.rows;
  log.lanes = lanes;
  log.count = count;
  log.spills = log.settled = log.stopped = log.even = false;
  log.partial = nullptr;
  std::copy_n(order, count, log.order);
  std::fill_n(log.checked, count, 0u);
}

void settleRows(LaunchState& launch) {
  RowLog* log = launch.rows;
  leaveShare(launch);
  if (!launch.logged || !log || !log->lanes) return;
  replay(*log);
  log->settled = true;
  markChecked(*log);
}

/// Where the lane is, for whoever waits for the run.
static void showPlace(const RowLog& log, std::uint32_t lane) {
  std::uint32_t last = wire::kNoSite;
  const Word* rows = log.spilled(lane) ? log.spill : log.rows;
  eachAccess(rows + lane, 0, log.rowsFrom(rows, lane),
             [&](const abi::LoggedAccess& access, const Word*) { last = access.site; });
  runtime::log().header().runningSite.store(last, std::memory_order_relaxed);
}

static SiteTraffics* countsOf(LaunchState& launch) { return launch.accesses ? &launch.traffic : nullptr; }

/// False: they need a replay. No checks are tried where they fail too often in this launch.
static bool tryRows(LaunchState& launch, const RowLog& log, const RowWindow& window) {
  RowChecks& checks = *launch.checks;
  bool checking = !checks.hopeless();
  bool clean = checkRows(launch, checks, log, window, checking, countsOf(launch)) && checking;
  ++checks.tried;
  checks.failed += checking && !clean;
  return clean;
}

void finishRows(LaunchState& launch) {
  RowLog* log = launch.rows;
  if (!launch.logged || !log || !log->lanes) return;
  if (!log->stop()) {
    log->lanes = nullptr;
    return;
  }
  for (std::uint32_t lane = 0; log->spills && lane < log->count; ++lane)
    if (log->spilled(lane)) log->lost[lane] += accessesIn(log->spill + lane, log->rowsFrom(log->spill, lane));
  const RowWindow window(log->lanes->owner(), log->lanes);
  bool clean = false;
  if (launch.share) {
    clean = checkRows(launch, *launch.checks, *log, window, true, countsOf(launch));
    if (!clean) leaveShare(launch);
  } else if (!log->settled && !log->withinSegment()) {
    clean = tryRows(launch, *log, window);
  } else {
    checkRows(launch, *launch.checks, *log, window, false, countsOf(launch));
  }
  if (!clean) replay(*log);
  log->lanes = nullptr;
}

} // namespace kcheck::runtime

using namespace kcheck;
using namespace kcheck::runtime;

extern "C" {

std::uint64_t kcForeign(abi::ThreadContext* context, void* pointer, std::uint64_t bytes, std::uint32_t site,
                        std::uint64_t* log, std::uint32_t done) {
  auto& thread = *static_cast<ThreadState*>(context);
  auto address = reinterpret_cast<Address>(pointer);
  LaunchState& launch = *thread.owner().launch;
  bool inside = inArena(address) && inArena(address + bytes - 1);
  if (inside || !launch.rows) return address;
  launch.rows->partial = &thread;
  launch.rows->partialAt = log;
  launch.rows->partialDone = done;
  leaveShare(launch);
  bool isWrite = kcheck::runtime::context().site(site) &&
                 kcheck::runtime::context().site(site)->kind == abi::SiteKind::Write;
  bool isAtomic = kcheck::runtime::context().site(site) &&
                  kcheck::runtime::context().site(site)->kind == abi::SiteKind::Atomic;
  checkAccess(thread, address, bytes, site,
              isAtomic  ? runtime::AccessKind::Atomic
              : isWrite ? runtime::AccessKind::Write
                        : runtime::AccessKind::Read,
              {});
  goesOn(thread);
  return address >> 48 || inArena(address) ? 0 : address;
}

std::uint64_t* kcLogFull(abi::ThreadContext* context) {
  auto& thread = *static_cast<ThreadState*>(context);
  LaunchState& launch = *thread.owner().launch;
  RowLog& log = *launch.rows;
  showPlace(log, thread.lane);
  settleRows(launch);
  goesOn(thread);
  std::uint32_t lane = thread.lane;
  if (!log.spills) {
    std::fill(log.kept, log.kept + kWarpSize, RowLog::kNotFull);
    std::fill(log.lost, log.lost + kWarpSize, 0);
    log.spills = true;
  }
  if (log.spilled(lane))
    log.lost[lane] += accessesIn(log.spill + lane, log.rowsFrom(log.spill, lane));
  else
    log.kept[lane] = log.used(lane);
  log.checked[lane] = log.kept[lane];
  return thread.log = log.spill + lane;
}

} // extern "C"
