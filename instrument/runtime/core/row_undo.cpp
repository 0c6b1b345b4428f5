// What RowCells changes is kept as it was, until it is known to stay.
#include "instrument/runtime/core/row_cells.h"
#include "instrument/runtime/core/row_lanes.h"
#include "instrument/runtime/core/row_runs.h"

#include <cstring>

namespace kcheck::runtime {
namespace {

constexpr std::uint32_t kMostParts = 4;              ///< words of one lane's access
constexpr std::uint32_t kMostOpened = kWarpSize + 4; ///< lines, by one row

} // namespace

void RowCells::reserve() {
  constexpr std::size_t mostSaved = kMostCells + 2 * kMostOpened;
  constexpr std::size_t mostCells = kMostCells + kMostOpened * kLineWords;
  if (used + mostSaved > saved.size()) saved.resize(2 * used + 4 * mostSaved);
  if (rowsUsed + kMostParts > rows.size()) rows.resize(2 * rowsUsed + 4 * kMostParts);
  if (linesUsed + kMostOpened > lines.size()) lines.resize(2 * linesUsed + 4 * kMostOpened);
  if (cellsUsed + mostCells <= cells.size()) return;
  cells.resize(2 * cells.size() + 8 * mostCells);
  sites.resize(cells.size());
}

void RowCells::saveRun(Address address, std::uint32_t count) {
  saved[used++] = {
      address, {static_cast<Token>(cellsUsed), 0}, {}, static_cast<std::uint16_t>(count), What::Run};
  std::memcpy(&cells[cellsUsed], &openCellOf(address), count * sizeof(Cell));
  std::memcpy(&sites[cellsUsed], &sitesOf(address), count * sizeof(CellSites));
  cellsUsed += count;
}

/// The sites of readers that come before need not be kept: what is undone is done again, and until then
/// nobody asks for them.
void RowCells::saveReads(Address address, std::uint32_t count) {
  saved[used++] = {
      address, {static_cast<Token>(cellsUsed), 0}, {}, static_cast<std::uint16_t>(count), What::Reads};
  std::memcpy(&cells[cellsUsed], &openCellOf(address), count * sizeof(Cell));
  cellsUsed += count;
}

void RowCells::saveLine(Address address, const Line& line) {
  saved[used++] = {address, {static_cast<Token>(linesUsed), 0}, {}, 0, What::Line};
  lines[linesUsed++] = line;
}

/// The cells below may be those from before the line was closed, which undo() then needs.
void RowCells::open(Address address) {
  address &= ~(kLineBytes - 1);
  saveLine(address, lineOf(address));
  saveRun(address, kLineWords);
  openLine(address);
}

RowCells::RowCells() = default;
RowCells::~RowCells() = default;

void RowCells::commit() {
  for (std::size_t i = 0; bytesUsed && i < used; ++i)
    if (saved[i].what == What::Byte)
      if (Cell& word = openCellOf(saved[i].address); word.write == kBytes)
        collapse(word, sitesOf(saved[i].address));
  used = cellsUsed = linesUsed = rowsUsed = 0;
  bytesUsed = false;
}

/// What remains is as it was; of the room that was used only that of runs is given back.
void RowCells::undoLast() {
  const Saved& last = saved[--used];
  switch (last.what) {
  case What::CellAndSites: sitesOf(last.address) = last.sites; [[fallthrough]];
  case What::Cell: openCellOf(last.address) = last.cell; break;
  case What::Reads:
    std::memcpy(&openCellOf(last.address), &cells[last.cell.write], last.count * sizeof(Cell));
    break;
  case What::Run:
    std::memcpy(&openCellOf(last.address), &cells[last.cell.write], last.count * sizeof(Cell));
    std::memcpy(&sitesOf(last.address), &sites[last.cell.write], last.count * sizeof(CellSites));
    cellsUsed = last.cell.write;
    break;
  case What::Line: lineOf(last.address) = lines[last.cell.write]; break;
  case What::Lanes: rows[last.cell.write].undo(); break;
  case What::Byte: {
    ByteCells& bytes = byteCells(openCellOf(last.address));
    bytes.cell[last.address & 3] = last.cell;
    bytes.sites[last.address & 3] = last.sites;
    break;
  }
  case What::Expanded: unexpand(openCellOf(last.address), last.cell); break;
  }
}

void RowCells::undo() {
  while (used) undoLast();
  cellsUsed = linesUsed = rowsUsed = 0;
  bytesUsed = false;
}

} // namespace kcheck::runtime
