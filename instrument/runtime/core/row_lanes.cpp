// Rows whose lanes lie anywhere: the half of RowCells that looks at each lane's cell by itself.
#include "instrument/runtime/core/row_lanes.h"

#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/overwritten.h"
#include "instrument/runtime/core/row_steps.h"
#include "instrument/runtime/core/vectors.h"

#include <bit>
#include <cstring>

namespace kcheck::runtime {
namespace {

/// Any of the lines is closed.
template <std::uint32_t width> KCHECK_INLINE bool anyClosed(const Address* at) {
  std::uint32_t any = 0;
  for (std::uint32_t i = 0; i < width; ++i) {
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
  keep(lanes, mask, kind != abi::SiteKind::Read);
}

void RowCells::keep(Lanes& lanes, std::uint32_t changed, bool withSites) {
  lanes.changed = changed;
  lanes.savedSites = withSites ? changed : 0;
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
    if (kind == abi::SiteKind::Write && writesOver(cell, sites, me, site))
      noteOwn(window, me, at, sites.write, kWholeWord);
    saved[used++] = {at, cell, sites, 0, What::CellAndSites};
    (kind == abi::SiteKind::Read ? sites.read : sites.write) = site;
  } else {
    saved[used++] = {at, cell, {}, 0, What::Cell};
  }
  cell = {next.write, next.read};
  return true;
}

/// One word of each lane, anywhere in one kind of memory; at most `width` lanes, and those at the positions
/// in `first` have different ones.
template <abi::SiteKind kind, bool shared, std::uint32_t width>
KCHECK_INLINE bool RowCells::checkWords(const RowWindow& window, const Address* at, Address offset,
                                        const std::uint8_t* lane, std::uint32_t count, std::uint32_t first,
                                        std::uint16_t site) {
  Lanes& lanes = rows[rowsUsed];
  std::uint32_t mask = ~std::uint32_t{0} >> (kWarpSize - count);
  for (std::uint32_t i = 0; i < width; ++i) lanes.at[i] = at[i] + offset;
  if (!shared && anyClosed<width>(lanes.at))
    for (std::uint32_t i = 0; i < count; ++i) {
      const Line& line = lineOf(lanes.at[i]);
      if (!line.closed) continue; // perhaps opened by a lane before
      if (kind == abi::SiteKind::Read && keepsReads(window, line))
        mask &= ~(1u << i);
      else
        open(lanes.at[i]);
    }
  const RowWindow w = window;
  std::uint32_t ok = 0, changed = 0, enters = 0;
  Cell found[width];
  for (std::uint32_t i = 0; i < width; ++i) found[i] = openCellOf(lanes.at[i]);
  for (std::uint32_t i = 0; i < width; ++i) {
    Step next = step<kind, shared>(w, found[i], w.of(lane[i]));
    lanes.write[i] = found[i].write;
    lanes.read[i] = found[i].read;
    lanes.nextWrite[i] = next.write;
    lanes.nextRead[i] = next.read;
    ok |= next.ok << i;
    changed |= static_cast<std::uint32_t>(kind != abi::SiteKind::Read || next.read != found[i].read) << i;
    enters |= next.entersSite << i;
  }
  first &= mask;
  lanes.enters = enters;
  changed &= ok & first;
  if (changed) change<kind>(lanes, changed, site);
  // A lane at a cell that another one has changed comes after it.
  for (std::uint32_t left = mask & ~(first & ok); left; left &= left - 1) {
    auto i = static_cast<std::uint32_t>(std::countr_zero(left));
    if (!checkCell<kind, shared>(w, w.of(lane[i]), lanes.at[i], site)) return false;
  }
  return true;
}

/// Plain writes of one word of each lane, in their order. Lines, cells and sites lie far apart and are often
/// in no cache: lane by lane the processor asks for all three at once, and for those of the next lanes
/// meanwhile.
template <bool shared>
KCHECK_INLINE bool RowCells::writeWords(const RowWindow& window, const Address* at, Address offset,
                                        const std::uint8_t* lane, std::uint32_t count, std::uint16_t site) {
  const RowWindow w = window;
  Lanes& lanes = rows[rowsUsed];
  std::uint32_t i = 0;
  for (; i < count; ++i) {
    Address here = at[i] + offset;
    if (!shared && lineOf(here).closed) [[unlikely]]
      open(here);
    Cell& cell = openCellOf(here);
    Step next = stepWrite<shared>(w, cell, w.of(lane[i]));
    if (!next.ok) [[unlikely]] {
      if (shared || cell.write != kUnknown || !context().allocations.materialise(here)) break;
      next = stepWrite<shared>(w, cell, w.of(lane[i]));
      if (!next.ok) break;
    }
    CellSites& sites = sitesOf(here);
    if (writesOver(cell, sites, next.write, site)) [[unlikely]]
      noteOwn(w, next.write, here, sites.write, kWholeWord);
    lanes.at[i] = here;
    lanes.write[i] = cell.write;
    lanes.read[i] = cell.read;
    lanes.site[i] = sites.write;
    cell.write = next.write;
    sites.write = site;
  }
  if (i) keep(lanes, ~std::uint32_t{0} >> (kWarpSize - i), true);
  return i == count;
}

/// Lane by lane; what is not inside has been reported, and has no shadow.
template <abi::SiteKind kind>
inline bool RowCells::checkFew(const RowWindow& window, const abi::LoggedAccess& access, const Address* at,
                               const std::uint8_t* lane, std::uint32_t count) {
  const RowWindow w = window;
  for (std::uint32_t i = 0; i < count; ++i) {
    Address address = at[i], end = address + access.bytes;
    if (!inArena(address)) continue;
    if (address & (access.bytes - 1u)) return false;
    bool shared = inShared(address);
    for (; address < end; address += 4)
      if (shared ? !checkCell<kind, true>(w, w.of(lane[i]), address, narrowSite(access.site))
                 : !checkCell<kind, false>(w, w.of(lane[i]), address, narrowSite(access.site)))
        return false;
  }
  return true;
}

/// At most `width` lanes whose addresses lie anywhere in one kind of memory.
template <abi::SiteKind kind, bool shared, std::uint32_t width>
KCHECK_INLINE bool RowCells::checkLanes(const RowWindow& window, const abi::LoggedAccess& access,
                                        const Address* at, const std::uint8_t* lane, std::uint32_t count,
                                        std::uint32_t first) {
  std::uint16_t site = narrowSite(access.site);
  for (std::uint32_t offset = 0; offset < access.bytes; offset += 4) {
    bool good = false;
    if constexpr (kind == abi::SiteKind::Write)
      good = writeWords<shared>(window, at, offset, lane, count, site);
    else
      good = checkWords<kind, shared, width>(window, at, offset, lane, count, first, site);
    if (!good) return false;
  }
  return true;
}

/// What many addresses have in common.
struct Together {
  bool inOneMemory = false; ///< all in the arenas; all shared or none
  Address odd = 0;          ///< has the low bits that any of them has
};
template <std::uint32_t width> KCHECK_INLINE Together together(const Address* at) {
  Address odd = 0, wrong = 0, shared = inShared(at[0]);
  for (std::uint32_t i = 0; i < width; ++i) {
    odd |= at[i];
    wrong |= Address{!inArena(at[i])} | (Address{inShared(at[i])} ^ shared);
  }
  return {!wrong, odd};
}

/// Lanes whose addresses lie anywhere; `at` as in RowLanes where they are many.
KCHECK_VECTORS bool RowCells::checkEach(const RowWindow& window, const abi::LoggedAccess& access,
                                        const Address* at, const std::uint8_t* lane, std::uint32_t count,
                                        std::uint32_t first) {
  if (access.bytes < 4) return checkBytes(window, access, at, lane, count);
  if (access.kind == abi::SiteKind::Atomic && !updatesWidely(access)) return false;
  reserve();
  constexpr std::uint32_t few = 4, half = kWarpSize / 2;
  bool shared = inShared(at[0]), narrow = count <= half;
  Together found = count <= few ? Together{} : narrow ? together<half>(at) : together<kWarpSize>(at);
  if (found.inOneMemory && (found.odd & (access.bytes - 1u))) return false;
  auto run = [&]<abi::SiteKind kind>(std::integral_constant<abi::SiteKind, kind>)
                 __attribute__((always_inline)) {
                   if (!found.inOneMemory) return checkFew<kind>(window, access, at, lane, count);
                   if (narrow)
                     return shared ? checkLanes<kind, true, half>(window, access, at, lane, count, first)
                                   : checkLanes<kind, false, half>(window, access, at, lane, count, first);
                   return shared ? checkLanes<kind, true, kWarpSize>(window, access, at, lane, count, first)
                                 : checkLanes<kind, false, kWarpSize>(window, access, at, lane, count, first);
                 };
  switch (access.kind) {
  case abi::SiteKind::Read: return run(std::integral_constant<abi::SiteKind, abi::SiteKind::Read>());
  case abi::SiteKind::Write: return run(std::integral_constant<abi::SiteKind, abi::SiteKind::Write>());
  default: return run(std::integral_constant<abi::SiteKind, abi::SiteKind::Atomic>());
  }
}

} // namespace kcheck::runtime
