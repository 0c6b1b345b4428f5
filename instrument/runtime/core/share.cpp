#include "instrument/runtime/core/share.h"

#include "instrument/runtime/core/blocks.h"
#include "instrument/runtime/core/crew.h"
#include "instrument/runtime/core/metrics.h"
#include "instrument/runtime/core/row_steps.h"
#include "instrument/runtime/core/scheduler.h"

#include <algorithm>
#include <bit>
#include <csetjmp>
#include <utility>

namespace kcheck::runtime {
namespace {

thread_local Share* running = nullptr;

/// The positions at whose words atomics of several blocks have met, and nobody has read them: another one is
/// fine, by whatever lane, and changes nothing.
KCHECK_VECTORS std::uint32_t updatedWords(const RowWindow& window, const Address* at, Address offset) {
  const RowWindow w = window;
  constexpr Token nobody = 0;
  std::uint32_t updated = 0;
  for (std::uint32_t i = 0; i < kWarpSize; ++i) {
    const Cell cell = openCellOf(at[i] + offset);
    const std::uint32_t fine =
        !lineOf(at[i]).closed & (cell.write == (w.launchMany | 1)) & stepAtomic<false>(w, cell, nobody).ok;
    updated |= fine << i;
  }
  return updated;
}

/// The same of a whole row and all words of its accesses.
std::uint32_t updatedWords(const RowWindow& window, const abi::LoggedAccess& access, const Address* at,
                           const RowClass& shape) {
  if (access.kind != abi::SiteKind::Atomic || access.bytes < 4 || !updatesWidely(access)) return 0;
  if (shape.shape != RowShape::Other || !shape.isAligned(at[0], access.bytes)) return 0;
  std::uint32_t updated = ~0u;
  for (Address offset = 0; offset < access.bytes; offset += 4) updated &= updatedWords(window, at, offset);
  return updated;
}

/// Whether the access is fine by what the shadow says of a line that another thread may be changing, and
/// changes nothing. What is so here stays so, or whoever changes it finds a conflict: readers or atomics of
/// several blocks.
bool changesNothing(const RowWindow& window, const abi::LoggedAccess& access, Address at) {
  if (access.kind == abi::SiteKind::Atomic && !updatesWidely(access)) return false;
  if (access.kind == abi::SiteKind::Read && access.order) return false; // what writes it may be put off
  const Line line = lineOf(at);
  if (access.kind == abi::SiteKind::Read && line.closed) return keepsReads(window, line);
  if (line.closed || access.bytes < 4 || (at & (access.bytes - 1u))) return false;
  constexpr Token nobody = 0;
  for (Address word = at; word < at + access.bytes; word += 4) {
    const Cell cell = openCellOf(word);
    bool keeps = access.kind == abi::SiteKind::Read
                     ? keepsRead<false>(window, cell)
                     : access.kind == abi::SiteKind::Atomic && cell.write == (window.launchMany | 1) &&
                           stepAtomic<false>(window, cell, nobody).ok;
    if (!keeps) return false;
  }
  return true;
}

} // namespace

Share* shareOfThread() { return running; }

void leaveShare(LaunchState& launch) {
  if (launch.share) launch.share->leave();
}

void Share::prepare(const LaunchState& whole) {
  static_cast<LaunchFacts&>(launch) = whole;
  launch.share = this;
  launch.firstSlot = static_cast<std::uint32_t>(kWindowsOfOne) + number;
  launch.faulted = launch.askew = launch.received = false;
  launch.fault = DeviceFault::None;
  launch.progress = launch.work = 0;
  launch.atomicScope.clear();
  launch.pendingValues.clear();
  launch.traffic.clear();
  if (!whole.accesses) launch.accesses.reset();
  if (whole.accesses && !launch.accesses) launch.accesses = std::make_unique<AccessLog>();
  if (launch.rows) launch.rows->lanes = nullptr;
  for (auto& room : launch.slots) room->running = false; // one that has ended while it started a block
  later.clear();
  epochs = {};
  most = blockBegan = 0;
}

void Share::run() {
  running = this;
  findStack(launch);
  runGrid(launch);
  running = nullptr;
}

bool Share::settle() {
  for (PutOff& row : later) {
    if (!checkSome(row.window, *row.access, row.at, RowLanes(row.lanes), {})) {
      launch.checks->cells.undo();
      return false;
    }
    launch.checks->cells.commit();
  }
  return true;
}

void Share::addTo(LaunchState& whole) {
  moveTraffic(launch.traffic, whole.traffic);
  whole.work += launch.work;
}

void Share::forgetWindow() {
  for (auto& room : launch.slots) room->laidOutDynamic = ~std::size_t{0};
}

std::optional<std::uint64_t> Share::nextBlock() {
  if (blockBegan) most = std::max(most, epochs.now() - blockBegan);
  blockBegan = 0;
  return crew.nextBlock(number);
}

/// All tokens of a block lie in one range: those in between count as its own.
Token Share::takeInterval(const BlockState& block) {
  const std::uint32_t threads = block.threadCount;
  const Token needed = Epochs::tokensOf(threads);
  if (!blockBegan) {
    const Token expected = std::max({needed, 2 * most, crew.expectedTokens()});
    if (epochs.left() < expected) {
      constexpr Token blocks = 8;
      const Token room = most ? blocks * expected : 2 * expected;
      const std::optional<Token> first = crew.takeTokens(room);
      if (!first) leave();
      epochs.startAt(*first, *first + room);
    }
    epochs.forgetOwners();
    blockBegan = epochs.now();
  }
  if (epochs.left() < needed) {
    most = 2 * (epochs.now() - blockBegan);
    leave();
  }
  return epochs.takeInterval(block.index, threads);
}

/// Not in the window of another share's block, nor written where no copy is.
bool Share::isWithin(const abi::LoggedAccess& access, const Address* at, const RowLanes& lanes,
                     const RowClass& shape) const {
  Reach reach{at[0], at[0], 0};
  if (shape.shape == RowShape::Contiguous)
    reach.high = at[lanes.count - 1];
  else if (shape.shape != RowShape::Uniform)
    reach = reachOf(at);
  reach.high += access.bytes;
  if (inShared(reach.low)) {
    const Address window = windowOf(launch.firstSlot);
    return reach.low >= window && reach.high <= window + kWindowBytes;
  }
  if (reach.low < kSharedBase && reach.high > kSharedBase) return false;
  return access.kind == abi::SiteKind::Read || crew.hasCopyOf(reach.low, reach.high);
}

bool Share::takesRun(Address from, std::uint32_t bytes) const {
  bool all = true;
  for (Address at = from & ~(kOwnedBytes - 1); at < from + bytes; at += kOwnedBytes)
    all &= crew.owners().take(at, number);
  return all;
}

/// Lanes that lie in one of the simple shapes.
bool Share::takesPart(const Address* at, std::uint32_t count, std::uint32_t bytes, RowShape shape) const {
  // The cells of a run are changed in steps of 16: some behind it are written as they are.
  constexpr std::uint32_t step = kLineWords * 4;
  if (shape == RowShape::Contiguous && count > 1) bytes = (count * bytes + step - 1) / step * step;
  return takesRun(at[0], bytes);
}

/// All lines that a check of the row changes are the share's.
bool Share::takesAll(const abi::LoggedAccess& access, const Address* at, const RowLanes& lanes,
                     const RowClass& shape) const {
  constexpr std::uint32_t half = kWarpSize / 2;
  if (shape.shape == RowShape::Halves)
    return takesPart(at, half, access.bytes, shape.half[0]) &&
           takesPart(at + half, half, access.bytes, shape.half[1]);
  if (shape.shape != RowShape::Other) return takesPart(at, lanes.count, access.bytes, shape.shape);
  if (!shape.isAligned(at[0], access.bytes)) return false;
  return crew.owners().takeEach(at, lanes.count, number);
}

bool Share::check(const RowWindow& window, const abi::LoggedAccess& access, const Address* at,
                  const RowLanes& lanes, const RowClass& shape, const RowContents& contents) {
  if (!isWithin(access, at, lanes, shape)) return false;
  const bool shared = inShared(at[0]);
  const std::uint32_t settled = shared ? 0 : updatedWords(window, access, at, shape);
  if (settled == ~0u) return true;
  if (shared || (!settled && takesAll(access, at, lanes, shape)))
    return launch.checks->cells.check(window, access, at, lanes, shape, contents);
  return checkApart(window, access, at, lanes, contents, settled);
}

/// Lane by lane, because some are at another share's lines; but those at the positions in `settled`.
bool Share::checkApart(const RowWindow& window, const abi::LoggedAccess& access, const Address* at,
                       const RowLanes& lanes, const RowContents& contents, std::uint32_t settled) {
  Address own[kWarpSize];
  std::uint32_t ownLanes = 0, owned = 0, count = 0;
  PutOff row{window, &access, 0, {}};
  for (std::uint32_t left = ~settled & (~0u >> (kWarpSize - lanes.count)); left; left &= left - 1) {
    const auto i = static_cast<std::uint32_t>(std::countr_zero(left)), lane = 1u << lanes.lane[i];
    if (takesRun(at[i], access.bytes)) {
      ownLanes |= lane;
      own[owned++] = at[i];
    } else if (!changesNothing(window, access, at[i])) {
      row.lanes |= lane;
      row.at[count++] = at[i];
    }
  }
  if (owned && !checkSome(window, access, own, RowLanes(ownLanes), contents)) return false;
  if (!count) return true;
  if (later.size() == kMostPutOff) return false;
  later.push_back(row);
  return true;
}

/// Some lanes of a row. Nothing is changed but their own cells, so a run is not looked at as one.
bool Share::checkSome(const RowWindow& window, const abi::LoggedAccess& access, Address* at,
                      const RowLanes& lanes, const RowContents& contents) {
  std::fill(at + lanes.count, at + kWarpSize, at[lanes.count - 1]);
  RowClass shape{};
  classify(shape, at, lanes, access.bytes);
  if (shape.shape == RowShape::Contiguous || shape.shape == RowShape::Halves) {
    shape.first = shape.shape == RowShape::Contiguous ? ~0u : 0; // 0: one by one
    shape.shape = RowShape::Other;
  }
  return launch.checks->cells.check(window, access, at, lanes, shape, contents);
}

void Share::leave() {
  crew.end();
  const bool first = !std::exchange(launch.faulted, true);
  if (first && launch.checks) launch.checks->cells.undo();
  if (RowLog* log = launch.rows; first && log && log->lanes) takeBack(*log); // what no copy would put back
  longjmp(launch.escape, 1);
}

} // namespace kcheck::runtime
