#include "instrument/runtime/core/row_cells.h"

#include "instrument/runtime/core/context.h"

#include <bit>
#include <cstring>

// The loops over neighbouring cells are compiled for the widest vectors that the machine may have.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !__has_feature(address_sanitizer)
#define KCHECK_VECTORS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define KCHECK_VECTORS
#endif

namespace kcheck::runtime {
namespace {

constexpr std::uint32_t kMostCells = kWarpSize * 4;

// What access.h and race.h say about one cell, without branches, for a block whose threads only barriers
// order.

struct Step {
  Token write, read;
  std::uint32_t ok, entersSite; ///< 0 or 1
};

template <bool shared> inline Step stepRead(const RowWindow& w, Cell cell, Token me) {
  std::uint32_t own = (cell.write | 1) == (me | 1), same = cell.read == me;
  std::uint32_t inside = cell.read - w.interval < w.many;
  std::uint32_t written, before, others = 0;
  if constexpr (shared) {
    written = (cell.write - w.born < w.interval - w.born) | (cell.write == kOld);
    before = cell.read < w.interval;
  } else {
    written = (cell.write - 1 < w.floor - 1) | (cell.write - w.ordered < w.interval - w.ordered);
    before = (cell.read < w.floor) | (cell.read - w.ordered < w.interval - w.ordered);
    others = (cell.read == w.launchMany) |
             (std::uint32_t{w.ownTokensOrdered} & (cell.read >= w.first) & (cell.read < kReadSet));
  }
  Token read = before | same ? me : inside ? cell.read | 1 : w.launchMany;
  return {cell.write, read, (written | own) & (before | same | inside | others), before};
}

template <bool shared> inline Step stepWrite(const RowWindow& w, Cell cell, Token me) {
  std::uint32_t fine = ((cell.write | 1) == (me | 1)) | (cell.write == kUnwritten), read = cell.read == me;
  if constexpr (shared) {
    fine |= (cell.write - kFirstToken < w.interval - kFirstToken) | (cell.write == kOld);
    read |= cell.read < w.interval;
  } else {
    fine |= (cell.write - 1 < w.floor - 1) | (cell.write - w.ordered < w.interval - w.ordered);
    read |= (cell.read < w.floor) | (cell.read - w.ordered < w.interval - w.ordered);
  }
  return {me, cell.read, fine & read, 1};
}

/// Read-modify-write of device scope or wider, without order.
template <bool shared> inline Step stepAtomic(const RowWindow& w, Cell cell, Token me) {
  std::uint32_t before, unread = cell.read == me;
  if constexpr (shared) {
    before = (cell.write - w.born < w.interval - w.born) | (cell.write == kOld);
    unread |= cell.read < w.interval;
  } else {
    before = (cell.write - 1 < w.floor - 1) | (cell.write - w.ordered < w.interval - w.ordered);
    unread |= (cell.read < w.floor) | (cell.read - w.ordered < w.interval - w.ordered);
  }
  before |= (cell.write | 1) == (me | 1);
  // A plain write of this launch is remembered beside the cell (race.h, hides).
  std::uint32_t hidden =
      ~cell.write & (cell.write >= (shared ? w.interval : w.first)) & (cell.write < kReadSet);
  std::uint32_t atomic = cell.write & 1, inside = cell.write - w.interval < w.many + 2;
  std::uint32_t others =
      shared ? 0 : std::uint32_t{w.ownTokensOrdered} & (cell.write >= w.first) & (cell.write < kReadSet);
  Token write = before ? me | 1 : inside ? (w.interval + w.many) | 1 : w.launchMany | 1;
  return {write, cell.read, (before | (atomic & (inside | others))) & unread & ~hidden & 1, 1};
}

template <abi::SiteKind kind, bool shared> inline Step step(const RowWindow& w, Cell cell, Token me) {
  if constexpr (kind == abi::SiteKind::Read) return stepRead<shared>(w, cell, me);
  if constexpr (kind == abi::SiteKind::Write) return stepWrite<shared>(w, cell, me);
  return stepAtomic<shared>(w, cell, me);
}

template <bool shared>
inline bool readRun(const RowWindow& window, const Cell* cells, std::uint32_t count, Token me,
                    std::uint32_t shift, Token* read, std::uint32_t* fresh, std::uint32_t& changed) {
  const RowWindow w = window;
  std::uint32_t ok = 1, change = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    Step step = stepRead<shared>(w, cells[i], me + 2 * (i >> shift));
    ok &= step.ok;
    change |= step.read ^ cells[i].read;
    read[i] = step.read;
    fresh[i] = step.entersSite;
  }
  changed = change;
  return ok;
}

KCHECK_VECTORS bool readRunGlobal(const RowWindow& w, const Cell* cells, std::uint32_t count, Token me,
                                  std::uint32_t shift, Token* read, std::uint32_t* fresh,
                                  std::uint32_t& changed) {
  return readRun<false>(w, cells, count, me, shift, read, fresh, changed);
}
KCHECK_VECTORS bool readRunShared(const RowWindow& w, const Cell* cells, std::uint32_t count, Token me,
                                  std::uint32_t shift, Token* read, std::uint32_t* fresh,
                                  std::uint32_t& changed) {
  return readRun<true>(w, cells, count, me, shift, read, fresh, changed);
}

KCHECK_VECTORS void enterReads(Cell* cells, CellSites* sites, std::uint32_t count, const Token* read,
                               const std::uint32_t* fresh, std::uint16_t site) {
  for (std::uint32_t i = 0; i < count; ++i) cells[i].read = read[i];
  for (std::uint32_t i = 0; i < count; ++i) sites[i].read = fresh[i] ? site : sites[i].read;
}

template <bool shared>
inline bool writeRun(const RowWindow& window, const Cell* cells, std::uint32_t count, Token me,
                     std::uint32_t shift) {
  const RowWindow w = window;
  std::uint32_t ok = 1;
  for (std::uint32_t i = 0; i < count; ++i) ok &= stepWrite<shared>(w, cells[i], me + 2 * (i >> shift)).ok;
  return ok;
}

KCHECK_VECTORS bool writeRunGlobal(const RowWindow& w, const Cell* cells, std::uint32_t count, Token me,
                                   std::uint32_t shift) {
  return writeRun<false>(w, cells, count, me, shift);
}
KCHECK_VECTORS bool writeRunShared(const RowWindow& w, const Cell* cells, std::uint32_t count, Token me,
                                   std::uint32_t shift) {
  return writeRun<true>(w, cells, count, me, shift);
}

KCHECK_VECTORS void enterWrites(Cell* cells, CellSites* sites, std::uint32_t count, Token me,
                                std::uint32_t shift, std::uint16_t site) {
  for (std::uint32_t i = 0; i < count; ++i) cells[i].write = me + 2 * (i >> shift);
  for (std::uint32_t i = 0; i < count; ++i) sites[i].write = site;
}

/// Neighbouring cells that nobody has looked at yet get their meaning. True when there were any.
bool materialise(Address address, std::uint32_t count) {
  bool any = false;
  for (Address at = address; at < address + 4 * count; at += 4)
    if (cellOf(at).write == kUnknown && !inShared(at)) any |= context().allocations.materialise(at);
  return any;
}

std::uint32_t scopeOf(const abi::LoggedAccess& access) { return access.order >> 4 & 3; }

bool updatesWidely(const abi::LoggedAccess& access) {
  constexpr std::uint32_t both = 0x300, order = 7;
  return (access.order & both) == both && !(access.order & order) && scopeOf(access) >= 2;
}

} // namespace

RowWindow::RowWindow(const BlockState& block, const ThreadState* lanes)
    : floor(block.floor), ordered(block.ordered), born(block.born), interval(block.interval),
      many(block.many), launchMany(block.launchMany), first(block.launch->first),
      ownTokensOrdered(block.ordered == block.born), me(lanes->me) {}

void RowCells::reserve() {
  if (used + kMostCells > saved.size()) saved.resize(2 * used + 4 * kMostCells);
  if (cellsUsed + kMostCells <= cells.size()) return;
  cells.resize(2 * cells.size() + 8 * kMostCells);
  sites.resize(cells.size());
}

void RowCells::save(Address address, std::uint32_t count) {
  saved[used++] = {address, count, static_cast<std::uint32_t>(cellsUsed)};
  std::memcpy(&cells[cellsUsed], &cellOf(address), count * sizeof(Cell));
  std::memcpy(&sites[cellsUsed], &sitesOf(address), count * sizeof(CellSites));
  cellsUsed += count;
}

inline void RowCells::saveOne(Address address, Cell cell, CellSites site) {
  saved[used++] = {address, 1, static_cast<std::uint32_t>(cellsUsed)};
  cells[cellsUsed] = cell;
  sites[cellsUsed++] = site;
}

void RowCells::commit() { used = cellsUsed = 0; }

void RowCells::undo() {
  while (used) {
    const Saved& last = saved[--used];
    std::memcpy(&cellOf(last.address), &cells[last.at], last.cells * sizeof(Cell));
    std::memcpy(&sitesOf(last.address), &sites[last.at], last.cells * sizeof(CellSites));
  }
  cellsUsed = 0;
}

/// Lanes one behind the other, from `lane` on.
bool RowCells::checkRun(const RowWindow& window, const abi::LoggedAccess& access, Address address,
                        std::uint32_t lane, std::uint32_t lanes) {
  reserve();
  std::uint32_t shift = static_cast<std::uint32_t>(std::countr_zero(access.bytes / 4u)),
                count = lanes << shift;
  Cell* run = &cellOf(address);
  CellSites* places = &sitesOf(address);
  Token me = window.me + 2 * lane;
  bool shared = inShared(address);
  if (access.kind == abi::SiteKind::Read) {
    Token read[kMostCells];
    std::uint32_t fresh[kMostCells], changed = 0;
    auto* check = shared ? readRunShared : readRunGlobal;
    if (!check(window, run, count, me, shift, read, fresh, changed) &&
        !(materialise(address, count) && check(window, run, count, me, shift, read, fresh, changed)))
      return false;
    if (!changed) return true;
    save(address, count);
    enterReads(run, places, count, read, fresh, narrowSite(access.site));
    return true;
  }
  auto* check = shared ? writeRunShared : writeRunGlobal;
  if (!check(window, run, count, me, shift) &&
      !(materialise(address, count) && check(window, run, count, me, shift)))
    return false;
  save(address, count);
  enterWrites(run, places, count, me, shift, narrowSite(access.site));
  return true;
}

template <abi::SiteKind kind, bool shared>
inline bool RowCells::checkCell(const RowWindow& window, Token me, Address at, std::uint16_t site) {
  Cell& cell = cellOf(at);
  Step next = step<kind, shared>(window, cell, me);
  if (!next.ok) [[unlikely]] {
    if (shared || cell.write != kUnknown || !context().allocations.materialise(at)) return false;
    next = step<kind, shared>(window, cell, me);
    if (!next.ok) return false;
  }
  if (kind == abi::SiteKind::Read && next.read == cell.read) return true;
  CellSites& sites = sitesOf(at);
  saveOne(at, cell, sites);
  cell = {next.write, next.read};
  if (kind != abi::SiteKind::Read)
    sites.write = site;
  else if (next.entersSite)
    sites.read = site;
  return true;
}

/// Lanes whose addresses lie anywhere in one kind of memory.
template <abi::SiteKind kind, bool shared>
bool RowCells::checkLanes(const RowWindow& window, const abi::LoggedAccess& access, const Address* addresses,
                          std::uint32_t mask) {
  const RowWindow copy = window;
  std::uint16_t site = narrowSite(access.site);
  for (; mask; mask &= mask - 1) {
    auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
    Address address = addresses[lane], end = address + access.bytes;
    for (Address at = address; at < end; at += 4)
      if (!checkCell<kind, shared>(copy, copy.me + 2 * lane, at, site)) return false;
  }
  return true;
}

bool RowCells::checkEach(const RowWindow& window, const abi::LoggedAccess& access, const Address* addresses,
                         std::uint32_t mask) {
  if (access.bytes < 4) return false;
  std::uint32_t inside = 0, shared = 0;
  Address odd = 0;
  for (std::uint32_t left = mask; left; left &= left - 1) {
    auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    std::uint32_t here = inArena(addresses[lane]);
    inside |= here << lane;
    shared |= static_cast<std::uint32_t>(inShared(addresses[lane])) << lane;
    odd |= here ? addresses[lane] : 0;
    __builtin_prefetch(&cellOf(addresses[lane]));
    __builtin_prefetch(&sitesOf(addresses[lane]));
  }
  if (odd & (access.bytes - 1u)) return false;
  mask = inside; // what is not has been reported, and has no shadow
  if (access.kind == abi::SiteKind::Atomic && !updatesWidely(access)) return false;
  reserve();
  auto run = [&]<abi::SiteKind kind>(std::integral_constant<abi::SiteKind, kind>) {
    return (!(mask & shared) || checkLanes<kind, true>(window, access, addresses, mask & shared)) &&
           (!(mask & ~shared) || checkLanes<kind, false>(window, access, addresses, mask & ~shared));
  };
  switch (access.kind) {
  case abi::SiteKind::Read: return run(std::integral_constant<abi::SiteKind, abi::SiteKind::Read>());
  case abi::SiteKind::Write: return run(std::integral_constant<abi::SiteKind, abi::SiteKind::Write>());
  default: return run(std::integral_constant<abi::SiteKind, abi::SiteKind::Atomic>());
  }
}

bool RowCells::checkLane(const RowWindow& window, const abi::LoggedAccess& access, Address address,
                         std::uint32_t lane) {
  Address addresses[kWarpSize];
  addresses[lane] = address;
  return checkEach(window, access, addresses, 1u << lane);
}

bool RowCells::checkPart(const RowWindow& window, const abi::LoggedAccess& access, const Address* addresses,
                         std::uint32_t mask, RowShape shape) {
  auto first = static_cast<std::uint32_t>(std::countr_zero(mask));
  auto lanes = static_cast<std::uint32_t>(std::popcount(mask));
  Address address = addresses[first];
  bool aligned = access.bytes >= 4 && !(address & (access.bytes - 1u));
  if (shape == RowShape::Contiguous && aligned && lanes > 2 && access.kind != abi::SiteKind::Atomic) {
    Address last = address + Address{lanes} * access.bytes - 1;
    if (inArena(address) && inArena(last) && inShared(address) == inShared(last))
      return checkRun(window, access, address, first, lanes);
  }
  // Of equal addresses the second lane brings the cell into the state that the others leave as it is.
  if (shape == RowShape::Uniform && lanes > 2) {
    std::uint32_t rest = mask & (mask - 1);
    mask &= ~(rest & (rest - 1));
  }
  return checkEach(window, access, addresses, mask);
}

bool RowCells::check(const RowWindow& window, const abi::LoggedAccess& access, const Address* addresses,
                     std::uint32_t mask, const RowClass& row) {
  if (row.shape != RowShape::Halves) return checkPart(window, access, addresses, mask, row.shape);
  constexpr std::uint32_t low = 0xFFFF;
  return checkPart(window, access, addresses, mask & low, row.half[0]) &&
         checkPart(window, access, addresses, mask & ~low, row.half[1]);
}

} // namespace kcheck::runtime
