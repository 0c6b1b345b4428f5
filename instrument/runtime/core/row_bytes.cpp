// Rows of accesses that are smaller than a word: the part of RowCells that steps the cells of single bytes.
#include "instrument/runtime/core/row_cells.h"

#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/overwritten.h"
#include "instrument/runtime/core/row_steps.h"

namespace kcheck::runtime {

/// Any bytes of one word, by one lane.
template <abi::SiteKind kind, bool shared>
inline bool RowCells::checkBytesOf(const RowWindow& window, Token me, Address at, std::uint32_t bytes,
                                   std::uint16_t site) {
  if (!shared && lineOf(at).closed) {
    if (kind == abi::SiteKind::Read && keepsReads(window, lineOf(at))) return true;
    open(at);
  }
  Cell& word = openCellOf(at);
  if (!shared && word.write == kUnknown) context().allocations.materialise(at);
  if (word.write != kBytes) {
    Step next = step<kind, shared>(window, word, me);
    if (!next.ok) return false;
    if (kind == abi::SiteKind::Read && next.read == word.read) return true;
    CellSites sites = sitesOf(at);
    saved[used++] = {at, word, sites, 0, What::Expanded};
    expand(word, sites);
  }
  ByteCells& cells = byteCells(word);
  if (cells.hidden) return false;
  for (Address byte = at; byte < at + bytes; ++byte) {
    Cell& cell = cells.cell[byte & 3];
    CellSites& sites = cells.sites[byte & 3];
    Step next = step<kind, shared>(window, cell, me);
    if (!next.ok) return false;
    if (kind == abi::SiteKind::Read && next.read == cell.read) continue;
    if (kind == abi::SiteKind::Write && writesOver(cell, sites, me, site))
      noteOwn(window, me, byte, sites.write, 1u << (byte & 3));
    saved[used++] = {byte, cell, sites, 0, What::Byte};
    cell = {next.write, next.read};
    if (next.entersSite) (kind == abi::SiteKind::Read ? sites.read : sites.write) = site;
  }
  return true;
}

template <abi::SiteKind kind>
inline bool RowCells::checkBytesOfEach(const RowWindow& window, const abi::LoggedAccess& access,
                                       const Address* at, const std::uint8_t* lane, std::uint32_t count) {
  const RowWindow w = window;
  std::uint16_t site = narrowSite(access.site);
  for (std::uint32_t i = 0; i < count; ++i) {
    Address address = at[i];
    if (!inArena(address)) continue; // has been reported, and has no shadow
    if (address & (access.bytes - 1u)) return false;
    bool good = inShared(address) ? checkBytesOf<kind, true>(w, w.of(lane[i]), address, access.bytes, site)
                                  : checkBytesOf<kind, false>(w, w.of(lane[i]), address, access.bytes, site);
    if (!good) return false;
  }
  return true;
}

bool RowCells::checkBytes(const RowWindow& window, const abi::LoggedAccess& access, const Address* at,
                          const std::uint8_t* lane, std::uint32_t count) {
  reserve();
  bytesUsed = true;
  if (access.kind == abi::SiteKind::Read)
    return checkBytesOfEach<abi::SiteKind::Read>(window, access, at, lane, count);
  return access.kind == abi::SiteKind::Write &&
         checkBytesOfEach<abi::SiteKind::Write>(window, access, at, lane, count);
}

} // namespace kcheck::runtime
