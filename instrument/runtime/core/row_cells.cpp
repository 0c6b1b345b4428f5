#include "instrument/runtime/core/row_cells.h"

#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/overwritten.h"
#include "instrument/runtime/core/row_lanes.h"
#include "instrument/runtime/core/row_runs.h"
#include "instrument/runtime/core/row_steps.h"

#include <algorithm>
#include <bit>

namespace kcheck::runtime {
namespace {

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
      many(block.many), launchMany(block.launchMany), first(block.launch->began),
      ownTokensOrdered(block.ordered == block.born), me(lanes->me) {}

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
  WriteRun entered = enter(window, first, places, count, me, run.shift, run.site);
  if (!entered.isFine) {
    undoLast();
    if (!materialise(from, count)) return false;
    saveRun(from, count);
    entered = enter(window, first, places, count, me, run.shift, run.site);
  }
  if (entered.anyOwn) noteOwn(window, run, from, &cells[cellsUsed - count], &sites[cellsUsed - count], count);
  return entered.isFine;
}

/// Of a run of words: what was in the shadow before the run's write.
void RowCells::noteOwn(const RowWindow& window, const Run& run, Address from, const Cell* were,
                       const CellSites* wereSites, std::uint32_t count) const {
  for (std::uint32_t i = 0; i < count; ++i)
    if (const Address at = from + 4 * i; writesOver(were[i], wereSites[i], run.tokenAt(at), run.site))
      noteOwn(window, run.tokenAt(at), at, wereSites[i].write, kWholeWord);
}

void RowCells::noteOwn(const RowWindow& window, Token me, Address at, std::uint16_t site,
                       unsigned bytes) const {
  if (!contents.segment) return;
  const std::uint64_t found = contents.at((me - window.me) / 2, at & (accessBytes - 1u));
  noteOverwritten(at & ~Address{3}, me, site, static_cast<std::uint32_t>(found << 8 * (at & 3)), bytes);
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
    if (!reads && line.write == run.tokenAt(at) && line.sites.write != run.site)
      for (Address word = at; word < at + kLineBytes; word += 4)
        noteOwn(window, run.tokenAt(word), word, line.sites.write, kWholeWord);
    saveLine(at, line);
    line = next;
  }
  return true;
}

/// A write of a whole open line.
bool RowCells::closeLine(const RowWindow& window, const Run& run, Address at) {
  Token me = run.tokenAt(at);
  const Cell* first = &openCellOf(at);
  WriteRun write = writeRunGlobal(window, first, kLineWords, me, run.shift);
  if (!write.isFine && materialise(at, kLineWords))
    write = writeRunGlobal(window, first, kLineWords, me, run.shift);
  if (!write.isFine) return false;
  if (write.anyOwn) noteOwn(window, run, at, first, &sitesOf(at), kLineWords);
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

/// Of reads through the read-only cache: whether the launch itself has written any of the words.
static bool readOwnWrites(const RowWindow& window, std::uint32_t bytes, const Address* at,
                          std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i)
    for (Address word = at[i] & ~Address{3}; word < at[i] + bytes && inArena(word); word += 4) {
      const Token write = lineOf(word).closed ? lineOf(word).write : openCellOf(word).write;
      if (write >= window.first && (write < kReadSet || write == kBytes)) return true;
    }
  return false;
}

bool RowCells::check(const RowWindow& window, const abi::LoggedAccess& access, const Address* at,
                     const RowLanes& lanes, const RowClass& row, const RowContents& found) {
  contents = found;
  accessBytes = access.bytes;
  if (access.kind == abi::SiteKind::Read && access.order &&
      readOwnWrites(window, access.bytes, at, lanes.count))
    return false;
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
