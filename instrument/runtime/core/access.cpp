// The careful half of access.h: every byte of the access, in the order bounds, initialisation, races.
#include "instrument/runtime/core/access.h"

#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/events.h"
#include "instrument/runtime/core/outside.h"
#include "instrument/runtime/core/race.h"
#include "instrument/runtime/core/sync.h"
#include "instrument/runtime/core/unwritten.h"

#include <algorithm>

namespace kcheck::runtime {
namespace {

/// Larger accesses are copies of whole objects, padding included.
constexpr std::size_t kLargestScalar = 16;

/// `hidden` is null where nothing can be hidden.
void checkCell(CheckedAccess& access, Cell& cell, CellSites& sites, Address at, Hidden* hidden = nullptr) {
  if (cell.write == kUnknown && !access.shared && context().allocations.materialise(at) &&
      cell.write == kBytes)
    return; // the last word of an allocation: the caller looks again, byte by byte
  if (cell.write == kPoison || cell.write == kUnknown) {
    if (!access.outside) reportOutside(access.thread, access.address, access.bytes, access.site, access.kind);
    access.outside = true;
    return;
  }
  if (access.shared) { // what an earlier block left in this window
    if (!isReserved(cell.write) && cell.write < access.block.born) cell = {kUnwritten, 0};
    if (cell.read < access.block.born) cell.read = 0;
  }
  if (cell.write == kUnwritten) {
    if (access.reads()) {
      ++access.unwrittenBytes;
      access.block.launch->earlyReads.note(access, at);
    } else {
      access.first = true;
    }
  } else if (context().options.races) {
    checkWriter(access, cell, sites, at);
    if (access.readOnly && !access.racy) checkOwnWrite(access, cell, sites);
  }
  if (access.kind == AccessKind::Write && writesOver(cell, sites, access.thread.me, access.site))
    noteOverwritten(at, cell.write, sites.write, *reinterpret_cast<const std::uint32_t*>(at & ~Address{3}),
                    &cell == &openCellOf(at) ? kWholeWord : 1u << (at & 3));
  access.again |= access.writes() && !isReserved(cell.write) && sites.write == narrowSite(access.site);
  if (hidden && context().options.races) {
    checkHidden(access, *hidden, at);
    keepHidden(access, cell, sites, *hidden);
  }
  if (access.writes()) {
    if (context().options.races) checkReaders(access, cell, sites, at);
    noteWriter(access, cell, sites, at);
  } else {
    noteReader(access, cell, sites, at);
  }
}

/// The bytes [at, end) of one word.
void checkWord(CheckedAccess& access, Address at, Address end) {
  Cell& cell = cellOf(at);
  CellSites& sites = sitesOf(at);
  bool whole = (at & 3) == 0 && end - at == 4;
  if (whole && cell.write != kBytes && !hides(access, cell, sites)) {
    checkCell(access, cell, sites, at);
    if (cell.write != kBytes) return;
  }
  if (cell.write == kUnknown && !access.shared) context().allocations.materialise(at);
  ByteCells& bytes = cell.write == kBytes ? byteCells(cell) : expand(cell, sites);
  std::uint32_t unwritten = access.unwrittenBytes;
  for (Address byte = at; byte < end; ++byte) {
    Cell& one = bytes.cell[byte & 3];
    CellSites& oneSites = bytes.sites[byte & 3];
    bool keep = bytes.hidden || hides(access, one, oneSites);
    checkCell(access, one, oneSites, byte, keep ? &hiddenOf(bytes, byte & 3) : nullptr);
  }
  access.unwrittenBytes = std::min(access.unwrittenBytes, unwritten + 1); // words and bytes count alike
  collapse(cell, sites);
}

bool isInParts(std::uint32_t site) {
  const abi::SiteInfo* info = context().site(site);
  return info && (info->flags & abi::SiteInParts);
}

} // namespace

void keepValue(ThreadState& thread, Address word, std::uint16_t earlierSite, std::uint32_t site) {
  settleValues(*thread.owner().launch);
  if (earlierSite != narrowSite(site))
    noteOverwritten(word, thread.me, earlierSite, *reinterpret_cast<const std::uint32_t*>(word), kWholeWord);
}

void checkAccess(ThreadState& thread, Address address, std::size_t bytes, std::uint32_t site, AccessKind kind,
                 AtomicOrder order) {
  BlockState& block = thread.owner();
  if (bytes == 0) return;
  if (!inArena(address) || !inArena(address + bytes - 1)) {
    checkForeign(thread, address, bytes, site, kind);
    return;
  }
  bool isVolatile = block.launch->mayBeFlag(site);
  CheckedAccess access{thread,    block, address, static_cast<std::uint32_t>(bytes),
                       site,      kind,  order,   inShared(address),
                       isVolatile};
  access.readOnly = kind == AccessKind::Read && !block.launch->isPlain(site) &&
                    context().site(site)->flags & abi::SiteLoadNonCoherent;
  if (bytes <= kLargestScalar && (bytes & (bytes - 1)) == 0 && (address & (bytes - 1)) && !isInParts(site))
    reportMisaligned(thread, address, bytes, site, kind);
  if (access.atomic()) {
    std::vector<std::uint8_t>& scopes = block.launch->atomicScope;
    if (scopes.size() <= narrowSite(site)) scopes.resize(narrowSite(site) + 1u);
    scopes[narrowSite(site)] = static_cast<std::uint8_t>(order.scope());
  }
  // Atomics of system scope, and what is volatile, are made for meeting the host's.
  const bool mayMeetHost = access.atomic() ? order.scope() >= 3 : isVolatile && kind == AccessKind::Read;
  if (mayMeetHost && PublishedWords::isForHost(address)) block.launch->published.note(address, {});
  if (!block.launch->pendingValues.empty()) settleValues(*block.launch);
  for (Address at = address, end = address + bytes; at < end;) {
    Address next = std::min(end, (at | 3) + 1);
    checkWord(access, at, next);
    at = next;
  }
  if (access.racy && !access.again && kind == AccessKind::Write && !block.launch->earlyReads.empty())
    block.launch->earlyReads.written(access, address, address + bytes);
  std::uint32_t words = static_cast<std::uint32_t>(((address + bytes + 3) >> 2) - (address >> 2));
  if (access.unwrittenBytes && (bytes <= kLargestScalar || access.unwrittenBytes == words))
    reportUnwrittenRead(access);
  if (!block.launch->tracksSync) {
    if (access.atomic() && block.launch->exact) noteAtomic(access);
    return;
  }
  const abi::SiteInfo* info = context().site(site);
  const Polls polls = !info || !(info->flags & abi::SitePolled) ? Polls::No
                      : info->flags & abi::SiteProbes           ? Polls::ManyPlaces
                                                                : Polls::OnePlace;
  if (polls != Polls::No && block.launch->anyFirst) checkFirstStore(access);
  const Token token = thread.me; // which the store itself may renew
  if (access.atomic()) {
    if (access.shared)
      noteAtomic(access);
    else if (!access.outside)
      checkNarrowAtomics(access);
    synchronise(thread, address, access.bytes, order, polls);
  }
  if (isVolatile && !access.atomic()) {
    constexpr std::uint32_t system = 3 << 4;
    synchronise(thread, address, access.bytes, {system | (access.writes() ? 0x200u : 0x100u)}, polls);
  }
  if (access.first && (access.atomic() || isVolatile)) noteFirstStore(access, token);
}

} // namespace kcheck::runtime
