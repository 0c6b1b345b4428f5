// Rows whose lanes lie anywhere: the half of RowCells that looks at each lane's cell by itself.
#include "instrument/runtime/core/row_lanes.h"

#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/row_steps.h"
#include "instrument/runtime/core/vectors.h"

#include <cstring>

namespace kcheck::runtime {
namespace {

std::uint32_t scopeOf(const abi::LoggedAccess& access) { return access.order >> 4 & 3; }

bool updatesWidely(const abi::LoggedAccess& access) {
  constexpr std::uint32_t both = 0x300, order = 7;
  return (access.order & both) == both && !(access.order & order) && scopeOf(access) >= 2;
}

/// Any of the lines is closed.
KCHECK_INLINE bool anyClosed(const Address* at) {
  std::uint32_t any = 0;
  for (std::uint32_t i = 0; i < kWarpSize; ++i) {
    std::uint32_t word;
    std::memcpy(&word, &lineOf(at[i]).closed, sizeof word); // a whole word, which can be gathered
    any |= word;
  }
  static_assert(offsetof(Line, closed) % 4 == 0);
  return any & 0xFF;
}

} // namespace

/// The changes of `lanes`, which stay there for undo(). The sites of readers that come before need not be
/// kept: what is undone is done again, and until then nobody asks for them.
template <abi::SiteKind kind>
KCHECK_INLINE void RowCells::change(Lanes& lanes, std::uint32_t mask, std::uint16_t site) {
  for (std::uint32_t left = mask; left; left &= left - 1) {
    auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    Address at = lanes.at[lane];
    if constexpr (kind == abi::SiteKind::Read) {
      openCellOf(at).read = lanes.nextRead[lane];
      if (lanes.enters >> lane & 1) sitesOf(at).read = site;
    } else {
      openCellOf(at).write = lanes.nextWrite[lane];
      lanes.site[lane] = sitesOf(at).write;
      sitesOf(at).write = site;
    }
  }
  lanes.changed = mask;
  lanes.savedSites = kind == abi::SiteKind::Read ? 0 : mask;
  saved[used++] = {0, {static_cast<Token>(rowsUsed++), 0}, {}, 0, What::Lanes};
}

template <abi::SiteKind kind, bool shared>
inline bool RowCells::checkCell(const RowWindow& window, Token me, Address at, std::uint16_t site) {
  if (!shared && lineOf(at).closed) {
    if (kind == abi::SiteKind::Read && keepsReads(window, lineOf(at))) return true;
    open(at);
  }
  Cell& cell = openCellOf(at);
  Step next = step<kind, shared>(window, cell, me);
  if (!next.ok) [[unlikely]] {
    if (shared || cell.write != kUnknown || !context().allocations.materialise(at)) return false;
    next = step<kind, shared>(window, cell, me);
    if (!next.ok) return false;
  }
  if (kind == abi::SiteKind::Read && next.read == cell.read) return true;
  if (next.entersSite) {
    CellSites& sites = sitesOf(at);
    saved[used++] = {at, cell, sites, 0, What::CellAndSites};
    (kind == abi::SiteKind::Read ? sites.read : sites.write) = site;
  } else {
    saved[used++] = {at, cell, {}, 0, What::Cell};
  }
  cell = {next.write, next.read};
  return true;
}

/// One word of each lane in `mask`, anywhere in one kind of memory; those in `first` have different ones.
/// `filled` as in RowClass.
template <abi::SiteKind kind, bool shared>
KCHECK_INLINE bool RowCells::checkWords(const RowWindow& window, const Address* filled, Address offset,
                                        std::uint32_t mask, std::uint32_t first, std::uint16_t site) {
  Lanes& lanes = rows[rowsUsed];
  for (std::uint32_t i = 0; i < kWarpSize; ++i) lanes.at[i] = filled[i] + offset;
  if (!shared && anyClosed(lanes.at))
    for (std::uint32_t left = mask; left; left &= left - 1) {
      auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
      const Line& line = lineOf(lanes.at[lane]);
      if (!line.closed) continue; // perhaps opened by a lane before
      if (kind == abi::SiteKind::Read && keepsReads(window, line))
        mask &= ~(1u << lane);
      else
        open(lanes.at[lane]);
    }
  first &= mask;
  const RowWindow w = window;
  std::uint32_t ok = 0, changed = 0, enters = 0;
  for (std::uint32_t i = 0; i < kWarpSize; ++i) {
    const Cell& cell = openCellOf(lanes.at[i]);
    lanes.write[i] = cell.write;
    lanes.read[i] = cell.read;
  }
  for (std::uint32_t i = 0; i < kWarpSize; ++i) {
    Step next = step<kind, shared>(w, {lanes.write[i], lanes.read[i]}, w.me + 2 * i);
    lanes.nextWrite[i] = next.write;
    lanes.nextRead[i] = next.read;
    ok |= next.ok << i;
    changed |= static_cast<std::uint32_t>(kind != abi::SiteKind::Read || next.read != lanes.read[i]) << i;
    enters |= next.entersSite << i;
  }
  lanes.enters = enters;
  changed &= ok & first;
  if (changed) change<kind>(lanes, changed, site);
  // A lane at a cell that another one has changed comes after it.
  for (std::uint32_t left = mask & ~(first & ok); left; left &= left - 1) {
    auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    if (!checkCell<kind, shared>(w, w.me + 2 * lane, lanes.at[lane], site)) return false;
  }
  return true;
}

template <abi::SiteKind kind, bool shared>
inline bool RowCells::checkFew(const RowWindow& window, const abi::LoggedAccess& access,
                               const Address* addresses, std::uint32_t mask) {
  const RowWindow w = window;
  for (; mask; mask &= mask - 1) {
    auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
    Address address = addresses[lane], end = address + access.bytes;
    for (Address at = address; at < end; at += 4)
      if (!checkCell<kind, shared>(w, w.me + 2 * lane, at, narrowSite(access.site))) return false;
  }
  return true;
}

/// Lanes whose addresses lie anywhere in one kind of memory.
template <abi::SiteKind kind, bool shared>
KCHECK_INLINE bool RowCells::checkLanes(const RowWindow& window, const abi::LoggedAccess& access,
                                        const Address* filled, std::uint32_t mask, std::uint32_t first) {
  for (std::uint32_t offset = 0; offset < access.bytes; offset += 4)
    if (!checkWords<kind, shared>(window, filled, offset, mask, first, narrowSite(access.site))) return false;
  return true;
}

KCHECK_VECTORS bool RowCells::checkEach(const RowWindow& window, const abi::LoggedAccess& access,
                                        const Address* addresses, std::uint32_t mask, std::uint32_t first,
                                        const RowClass* row) {
  if (access.bytes < 4) return false;
  if (access.kind == abi::SiteKind::Atomic && !updatesWidely(access)) return false;
  reserve();
  constexpr int few = 6;
  bool wide = std::popcount(mask) > few;
  Address at[kWarpSize], odd = 0;
  std::uint32_t inside = 0, shared = 0;
  if (wide) {
    if (row) {
      Address distance = addresses[std::countr_zero(mask)] - row->filled[0];
      for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) at[lane] = row->filled[lane] + distance;
    } else {
      fillGaps(addresses, mask, at);
    }
    for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
      inside |= static_cast<std::uint32_t>(inArena(at[lane])) << lane;
      shared |= static_cast<std::uint32_t>(inShared(at[lane])) << lane;
      odd |= at[lane];
    }
    inside &= mask;
    shared &= mask;
    // What is not inside has been reported, and has no shadow.
    if (inside != mask || (shared && shared != mask)) wide = false;
  }
  if (!wide) {
    odd = inside = shared = 0;
    for (std::uint32_t left = mask; left; left &= left - 1) {
      auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
      std::uint32_t here = inArena(addresses[lane]);
      inside |= here << lane;
      shared |= static_cast<std::uint32_t>(inShared(addresses[lane])) << lane;
      odd |= here ? addresses[lane] : 0;
    }
  }
  if (odd & (access.bytes - 1u)) return false;
  auto run = [&]<abi::SiteKind kind>(std::integral_constant<abi::SiteKind, kind>)
                 __attribute__((always_inline)) {
                   if (wide)
                     return shared ? checkLanes<kind, true>(window, access, at, mask, first)
                                   : checkLanes<kind, false>(window, access, at, mask, first);
                   return checkFew<kind, true>(window, access, addresses, inside & shared) &&
                          checkFew<kind, false>(window, access, addresses, inside & ~shared);
                 };
  switch (access.kind) {
  case abi::SiteKind::Read: return run(std::integral_constant<abi::SiteKind, abi::SiteKind::Read>());
  case abi::SiteKind::Write: return run(std::integral_constant<abi::SiteKind, abi::SiteKind::Write>());
  default: return run(std::integral_constant<abi::SiteKind, abi::SiteKind::Atomic>());
  }
}

} // namespace kcheck::runtime
