#include "instrument/runtime/core/row_cells.h"

#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/row_lanes.h"
#include "instrument/runtime/core/row_steps.h"
#include "instrument/runtime/core/vectors.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace kcheck::runtime {
namespace {

constexpr std::uint32_t kMostCells = kWarpSize * 4;
constexpr std::uint32_t kMostParts = 4;              ///< words of one lane's access
constexpr std::uint32_t kMostOpened = kWarpSize + 4; ///< lines, by one row

// Loops over neighbouring cells go by 16 cells; what lies beyond the last one is looked at, or written as it
// is, to no effect.
KCHECK_INLINE std::size_t wholeSteps(std::size_t count) { return (count + 15) / 16 * 16; }

template <bool shared>
KCHECK_INLINE bool keepsRun(const RowWindow& window, const Cell* cells, std::uint32_t count) {
  const RowWindow w = window;
  std::uint32_t good = 0;
  std::size_t whole = wholeSteps(count);
  KCHECK_BY_16 for (std::size_t i = 0; i < whole; ++i) good +=
      keepsRead<shared>(w, cells[i]) & static_cast<std::uint32_t>(i < count);
  return good == count;
}
KCHECK_VECTORS bool keepsRunGlobal(const RowWindow& w, const Cell* cells, std::uint32_t count) {
  return keepsRun<false>(w, cells, count);
}
KCHECK_VECTORS bool keepsRunShared(const RowWindow& w, const Cell* cells, std::uint32_t count) {
  return keepsRun<true>(w, cells, count);
}

/// What the readers of a run find, and what they leave.
struct ReadRun {
  Token read[kMostCells];
  std::uint32_t fresh[kMostCells], changed, anyFresh;
};

template <bool shared>
KCHECK_INLINE bool readRun(const RowWindow& window, const Cell* __restrict cells, std::uint32_t count,
                           Token me, std::uint32_t shift, ReadRun& __restrict run) {
  const RowWindow w = window;
  std::uint32_t good = 0, changed = 0, anyFresh = 0;
  std::size_t whole = wholeSteps(count);
  KCHECK_BY_16 for (std::size_t i = 0; i < whole; ++i) {
    Step step = stepRead<shared>(w, cells[i], me + 2 * (static_cast<Token>(i) >> shift));
    std::uint32_t active = static_cast<std::uint32_t>(i) < count;
    good += step.ok & active;
    Token read = active ? step.read : cells[i].read;
    std::uint32_t fresh = step.entersSite & active;
    changed |= read ^ cells[i].read;
    anyFresh += fresh;
    run.read[i] = read;
    run.fresh[i] = fresh;
  }
  run.changed = changed;
  run.anyFresh = anyFresh;
  return good == count;
}

KCHECK_VECTORS bool readRunGlobal(const RowWindow& w, const Cell* __restrict cells, std::uint32_t count,
                                  Token me, std::uint32_t shift, ReadRun& __restrict run) {
  return readRun<false>(w, cells, count, me, shift, run);
}
KCHECK_VECTORS bool readRunShared(const RowWindow& w, const Cell* __restrict cells, std::uint32_t count,
                                  Token me, std::uint32_t shift, ReadRun& __restrict run) {
  return readRun<true>(w, cells, count, me, shift, run);
}

KCHECK_VECTORS void enterReads(Cell* __restrict cells, CellSites* __restrict sites, std::uint32_t count,
                               const ReadRun& __restrict run, std::uint16_t site) {
  std::size_t whole = wholeSteps(count);
  KCHECK_BY_16 for (std::size_t i = 0; i < whole; ++i) cells[i].read = run.read[i];
  if (!run.anyFresh) return;
  KCHECK_BY_16 for (std::size_t i = 0; i < whole; ++i) sites[i].read = run.fresh[i] ? site : sites[i].read;
}

template <bool shared>
KCHECK_INLINE bool writeRun(const RowWindow& window, const Cell* __restrict cells, std::uint32_t count,
                            Token me, std::uint32_t shift) {
  const RowWindow w = window;
  std::uint32_t good = 0;
  std::size_t whole = wholeSteps(count);
  KCHECK_BY_16 for (std::size_t i = 0; i < whole; ++i) good +=
      stepWrite<shared>(w, cells[i], me + 2 * (static_cast<Token>(i) >> shift)).ok &
      static_cast<std::uint32_t>(i < count);
  return good == count;
}

KCHECK_VECTORS bool writeRunGlobal(const RowWindow& w, const Cell* __restrict cells, std::uint32_t count,
                                   Token me, std::uint32_t shift) {
  return writeRun<false>(w, cells, count, me, shift);
}

/// The same, and enters the writes: also where they are not fine.
template <bool shared>
KCHECK_INLINE bool enterRun(const RowWindow& window, Cell* __restrict cells, CellSites* __restrict sites,
                            std::uint32_t count, Token me, std::uint32_t shift, std::uint16_t site) {
  const RowWindow w = window;
  std::uint32_t good = 0;
  std::size_t whole = wholeSteps(count);
  KCHECK_BY_16 for (std::size_t i = 0; i < whole; ++i) {
    Token write = cells[i].write, read = cells[i].read, own = me + 2 * (static_cast<Token>(i) >> shift);
    std::uint32_t active = static_cast<std::uint32_t>(i) < count;
    good += stepWrite<shared>(w, {write, read}, own).ok & active;
    cells[i].write = active ? own : write;
    cells[i].read = read;
  }
  KCHECK_BY_16 for (std::size_t i = 0; i < whole; ++i) sites[i].write = i < count ? site : sites[i].write;
  return good == count;
}

KCHECK_VECTORS bool enterRunGlobal(const RowWindow& w, Cell* __restrict cells, CellSites* __restrict sites,
                                   std::uint32_t count, Token me, std::uint32_t shift, std::uint16_t site) {
  return enterRun<false>(w, cells, sites, count, me, shift, site);
}
KCHECK_VECTORS bool enterRunShared(const RowWindow& w, Cell* __restrict cells, CellSites* __restrict sites,
                                   std::uint32_t count, Token me, std::uint32_t shift, std::uint16_t site) {
  return enterRun<true>(w, cells, sites, count, me, shift, site);
}

/// Neighbouring cells that nobody has looked at yet get their meaning. True when there were any.
bool materialise(Address address, std::uint32_t count) {
  bool any = false;
  for (Address at = address; at < address + 4 * count; at += 4)
    if (cellOf(at).write == kUnknown && !inShared(at)) any |= context().allocations.materialise(at);
  return any;
}

} // namespace

RowWindow::RowWindow(const BlockState& block, const ThreadState* lanes)
    : floor(block.floor), ordered(block.ordered), born(block.born), interval(block.interval),
      many(block.many), launchMany(block.launchMany), first(block.launch->first),
      ownTokensOrdered(block.ordered == block.born), me(lanes->me) {}

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

struct RowCells::Run {
  abi::SiteKind kind;
  Address address;
  Token me; ///< of the first word; of word i: + 2 * (i >> shift)
  std::uint32_t shift;
  std::uint16_t site;
  bool shared;
  Token tokenAt(Address at) const { return me + 2 * static_cast<Token>((at - address) / 4 >> shift); }
};

/// Words of open lines.
bool RowCells::checkCells(const RowWindow& window, const Run& run, Address from, Address to) {
  if (from == to) return true;
  auto count = static_cast<std::uint32_t>((to - from) / 4);
  Cell* first = &openCellOf(from);
  CellSites* places = &sitesOf(from);
  Token me = run.tokenAt(from);
  if (run.kind == abi::SiteKind::Read) {
    if (run.shared && keepsRunShared(window, first, count)) return true;
    ReadRun found;
    auto* check = run.shared ? readRunShared : readRunGlobal;
    if (!check(window, first, count, me, run.shift, found) &&
        !(materialise(from, count) && check(window, first, count, me, run.shift, found)))
      return false;
    if (!found.changed) return true;
    saveReads(from, count);
    enterReads(first, places, count, found, run.site);
    return true;
  }
  auto* enter = run.shared ? enterRunShared : enterRunGlobal;
  saveRun(from, count);
  if (enter(window, first, places, count, me, run.shift, run.site)) return true;
  undoLast();
  if (!materialise(from, count)) return false;
  saveRun(from, count);
  return enter(window, first, places, count, me, run.shift, run.site);
}

/// The part of the run that lies in the closed line of `at`, perhaps the whole of it. False: the cells must
/// tell.
bool RowCells::checkLine(const RowWindow& window, const Run& run, Address at, bool whole) {
  Line& line = lineOf(at);
  Line next = line;
  LineStep step = LineStep::Open;
  bool reads = run.kind == abi::SiteKind::Read;
  if (whole)
    step = reads ? stepReadLine(window, next, run.tokenAt(at), run.shift, run.site)
                 : stepWriteLine(window, next, run.tokenAt(at), run.shift, run.site);
  else if (reads && keepsReads(window, line))
    step = LineStep::Keep;
  if (step == LineStep::Open) return false;
  if (step == LineStep::Change) {
    saveLine(at, line);
    line = next;
  }
  return true;
}

/// A write of a whole open line.
bool RowCells::closeLine(const RowWindow& window, const Run& run, Address at) {
  Token me = run.tokenAt(at);
  const Cell* first = &openCellOf(at);
  if (!writeRunGlobal(window, first, kLineWords, me, run.shift) &&
      !(materialise(at, kLineWords) && writeRunGlobal(window, first, kLineWords, me, run.shift)))
    return false;
  Line& line = lineOf(at);
  saveLine(at, line);
  line = writtenLine(me, run.shift, run.site);
  return true;
}

/// Lanes one behind the other, from `lane` on. `from`: where open lines begin that are checked together.
bool RowCells::checkRun(const RowWindow& window, const abi::LoggedAccess& access, Address address,
                        std::uint32_t lane, std::uint32_t lanes) {
  reserve();
  Run run{access.kind,
          address,
          window.of(lane),
          static_cast<std::uint32_t>(std::countr_zero(access.bytes / 4u)),
          narrowSite(access.site),
          inShared(address)};
  Address end = address + Address{lanes} * access.bytes, from = address;
  if (run.shared) return checkCells(window, run, address, end);
  for (Address at = address, next; at < end; at = next) {
    next = std::min((at | (kLineBytes - 1)) + 1, end);
    bool whole = next - at == kLineBytes;
    if (lineOf(at).closed) {
      if (!checkLine(window, run, at, whole)) {
        open(at);
        continue;
      }
    } else if (whole && run.kind == abi::SiteKind::Write) {
      if (!closeLine(window, run, at)) return false;
    } else {
      continue;
    }
    if (!checkCells(window, run, from, at)) return false;
    from = next;
  }
  return checkCells(window, run, from, end);
}

/// Reads of these words change nothing, whoever makes them. What is not so simple is left to the others.
bool RowCells::keepsAll(const RowWindow& window, Address address, std::uint32_t bytes) {
  if (inShared(address)) return keepsRunShared(window, &openCellOf(address), bytes / 4);
  const Line& line = lineOf(address);
  if (line.closed) return bytes <= 16 && keepsReads(window, line);
  return bytes <= 16 && keepsRunGlobal(window, &openCellOf(address), bytes / 4);
}

/// Lanes that all read the same words, those of a dense series of shared memory from `address` on. Beyond the
/// second lane nothing changes any more.
bool RowCells::checkSame(const RowWindow& window, const RowSeries& series, Address address,
                         const std::uint8_t* lane, std::uint32_t count) {
  constexpr std::uint32_t oneToken = 31; // as Run::shift
  Address end = address + Address{series.count} * series.first->bytes;
  for (std::uint32_t i = 0; i < std::min(count, 2u); ++i) {
    reserve();
    Run run{abi::SiteKind::Read, address, window.of(lane[i]), oneToken, narrowSite(series.first->site), true};
    if (!checkCells(window, run, address, end)) return false;
  }
  return true;
}

RowCells::SeriesCheck RowCells::checkSeries(const RowWindow& window, const RowSeries& series,
                                            const Address* at, const RowLanes& lanes, const RowClass& row) {
  constexpr std::uint32_t mostWords = 512, half = kWarpSize / 2;
  std::uint32_t bytes = series.first->bytes;
  auto lowest = static_cast<Address>(std::int64_t{series.lowest}),
       highest = static_cast<Address>(std::int64_t{series.highest}) + bytes;
  bool halves =
      row.shape == RowShape::Halves && row.half[0] == RowShape::Uniform && row.half[1] == RowShape::Uniform;
  if (series.dense && series.count * bytes / 4 <= kMostCells && (row.shape == RowShape::Uniform || halves)) {
    std::uint32_t count = halves ? half : lanes.count;
    bool good = checkSame(window, series, at[0] + lowest, lanes.lane, count) &&
                (!halves || checkSame(window, series, at[half] + lowest, lanes.lane + half, count));
    return good ? SeriesCheck::Settled : SeriesCheck::Failed;
  }
  const auto [first, last] = std::minmax_element(at, at + lanes.count);
  Address from = *first + lowest, to = *last + highest;
  bool settled = to - from <= 4 * mostWords &&
                 keepsRunShared(window, &openCellOf(from), static_cast<std::uint32_t>((to - from) / 4));
  return settled ? SeriesCheck::Settled : SeriesCheck::Apart;
}

/// Lanes of one half of the warp or all of them, of the shape given; `first` as in RowClass.
bool RowCells::checkPart(const RowWindow& window, const abi::LoggedAccess& access, const Address* at,
                         const std::uint8_t* lane, std::uint32_t count, RowShape shape, std::uint32_t first) {
  if (shape == RowShape::Other) return checkEach(window, access, at, lane, count, first);
  Address address = at[0];
  bool aligned = access.bytes >= 4 && !(address & (access.bytes - 1u));
  if (shape == RowShape::Contiguous && aligned && count > 2 && access.kind != abi::SiteKind::Atomic) {
    Address last = address + Address{count} * access.bytes - 1;
    if (inArena(address) && inArena(last) && inShared(address) == inShared(last))
      return checkRun(window, access, address, *lane, count);
  }
  if (shape == RowShape::Uniform && aligned && access.kind == abi::SiteKind::Read && inArena(address) &&
      keepsAll(window, address, access.bytes))
    return true;
  if (shape == RowShape::Contiguous) return checkEach(window, access, at, lane, count, ~std::uint32_t{0});
  // Of equal addresses the second lane brings the cell into the state that the others leave as it is.
  return checkEach(window, access, at, lane, std::min(count, 2u), 1);
}

bool RowCells::check(const RowWindow& window, const abi::LoggedAccess& access, const Address* at,
                     const RowLanes& lanes, const RowClass& row) {
  if (row.shape != RowShape::Halves)
    return checkPart(window, access, at, lanes.lane, lanes.count, row.shape, row.first);
  constexpr std::uint32_t half = kWarpSize / 2;
  // Two halves that read the same: often several threads have read that already, and nothing changes.
  if (access.kind == abi::SiteKind::Read && at[0] == at[half] && row.half[0] == row.half[1] &&
      access.bytes >= 4 && !(at[0] & (access.bytes - 1u)) && inShared(at[0]) &&
      keepsAll(window, at[0], row.half[0] == RowShape::Uniform ? access.bytes : half * access.bytes))
    return true;
  return checkPart(window, access, at, lanes.lane, half, row.half[0], 0) &&
         checkPart(window, access, at + half, lanes.lane + half, half, row.half[1], 0);
}

} // namespace kcheck::runtime
