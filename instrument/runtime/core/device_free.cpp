// free and delete of a kernel against uses of the memory that nothing orders before them. In the order of
// this run they come first; in another one they are late, and find what was freed. Told at the use, as that
// is.
#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/race.h"
#include "instrument/runtime/core/race_report.h"

namespace kcheck::runtime {
namespace {

void checkCell(CheckedAccess& free, const Cell& cell, const CellSites& sites, Address at) {
  if (cell.write == kPoison || cell.write == kUnknown) return;
  free.racy = false;
  checkWriter(free, cell, sites, at);
  free.racy = false;
  checkReaders(free, cell, sites, at);
}

} // namespace

void checkFree(ThreadState& thread, Address address, std::size_t bytes, std::uint32_t site) {
  if (!context().options.races) return;
  for (Address at = address, next; at < address + bytes; at = next) {
    next = (at | 3) + 1;
    CheckedAccess free{thread, thread.owner(),    at, static_cast<std::uint32_t>(next - at),
                       site,   AccessKind::Write, {}, false,
                       false};
    free.frees = true;
    Cell& cell = cellOf(at);
    if (cell.write != kBytes) {
      checkCell(free, cell, sitesOf(at), at);
      continue;
    }
    ByteCells& pieces = byteCells(cell);
    for (unsigned i = 0; i < 4; ++i) {
      checkCell(free, pieces.cell[i], pieces.sites[i], at + i);
      if (!pieces.hidden) continue;
      free.racy = false;
      checkHidden(free, pieces.hidden[i], at + i);
    }
  }
}

} // namespace kcheck::runtime
