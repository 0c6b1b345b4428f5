#include "instrument/runtime/core/shadow.h"

#include "instrument/runtime/core/overwritten.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <sys/mman.h>

namespace kcheck::runtime {
namespace {

/// Short, and hardly ever held by another thread.
class SpinLock {
public:
  explicit SpinLock(std::atomic_flag& flag) : flag(flag) {
    while (flag.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  ~SpinLock() { flag.clear(std::memory_order_release); }
  SpinLock(const SpinLock&) = delete;
  SpinLock& operator=(const SpinLock&) = delete;

private:
  std::atomic_flag& flag;
};

/// Byte cells by index, which keep their place when the table grows. Several threads take and give.
class ByteCellTable {
public:
  ByteCellTable() : chunks(static_cast<ByteCells**>(std::calloc(kMostChunks, sizeof(ByteCells*)))) {
    if (!chunks) std::abort();
  }
  /// For the word whose cell this is.
  std::uint32_t take(const Cell& cell) {
    const SpinLock lock(busy);
    ++used[isShared(cell)];
    if (!free.empty()) {
      std::uint32_t index = free.back();
      free.pop_back();
      return index;
    }
    if (next % kChunk == 0) chunks[next / kChunk] = new ByteCells[kChunk]{};
    return next++;
  }
  /// Back from an expanded cell, whose content is the caller's affair then.
  void give(const Cell& cell) {
    const SpinLock lock(busy);
    --used[isShared(cell)];
    ByteCells& bytes = (*this)[cell.read];
    delete[] bytes.hidden;
    bytes.hidden = nullptr;
    free.push_back(cell.read);
  }
  /// Of shared memory, or of the rest.
  bool empty(bool shared) const { return used[shared] == 0; }
  ByteCells& operator[](std::uint32_t index) { return chunks[index / kChunk][index % kChunk]; }

private:
  static constexpr std::uint32_t kChunk = 4096;
  static constexpr std::size_t kMostChunks = (std::size_t{1} << 32) / kChunk;
  ByteCells** chunks;
  std::vector<std::uint32_t> free;
  std::uint32_t next = 0;
  std::atomic<std::size_t> used[2] = {0, 0};
  std::atomic_flag busy;

  static bool isShared(const Cell& cell) { return inShared(reinterpret_cast<Address>(&cell) / 2); }
};

ByteCellTable& table() {
  static ByteCellTable* instance = new ByteCellTable; // outlives every exit handler
  return *instance;
}

bool mapAt(Address address, std::size_t bytes) {
  void* wanted = reinterpret_cast<void*>(address);
  void* got = mmap(wanted, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got != wanted) {
    if (got != MAP_FAILED) munmap(got, bytes);
    return false;
  }
  madvise(got, bytes, MADV_DONTDUMP);
  return true;
}

void setBytes(Address address, unsigned first, unsigned last, Token write, std::uint16_t site) {
  Cell& cell = cellOf(address);
  CellSites& sites = sitesOf(address);
  ByteCells& bytes = cell.write == kBytes ? byteCells(cell) : expand(cell, sites);
  for (unsigned i = first; i < last; ++i) {
    bytes.cell[i] = {write, 0};
    bytes.sites[i] = {site, kWideSite};
    if (bytes.hidden) bytes.hidden[i] = Hidden();
  }
  collapse(cell, sites);
}

/// The pages that lie entirely within [begin, end).
void giveBack(Address begin, Address end) {
  constexpr Address page = 4096;
  begin = (begin + page - 1) & ~(page - 1);
  end &= ~(page - 1);
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

/// Opens lines whose cells nobody needs any more; both ends are at the start of a line.
void forgetLines(Address begin, Address end) {
  constexpr Address page = 4096;
  auto from = reinterpret_cast<Address>(&lineOf(begin)),
       to = from + (end - begin) / kLineBytes * sizeof(Line);
  Address wholeFrom = std::min((from + page - 1) & ~(page - 1), to),
          wholeTo = std::max(to & ~(page - 1), wholeFrom);
  std::memset(reinterpret_cast<void*>(from), 0, wholeFrom - from);
  giveBack(wholeFrom, wholeTo);
  std::memset(reinterpret_cast<void*>(wholeTo), 0, to - wholeTo);
}

} // namespace

bool mapArenas() {
  static const bool mapped = mapAt(kArenaBase, kArenaBytes) && mapAt(kCellBase, 2 * kArenaBytes) &&
                             mapAt(kArenaBase + kSitesDistance, kArenaBytes) &&
                             mapAt(kReadersBase, 4 * kArenaBytes) && mapAt(kLinesBase, kArenaBytes / 4) &&
                             mapAt(kOverwrittenBase, kArenaBytes / 4 * sizeof(Overwritten));
  return mapped;
}

void openLine(Address address) {
  address &= ~(kLineBytes - 1);
  Line& line = lineOf(address);
  const Line now = line;
  assert(now.closed);
  Cell* cells = &openCellOf(address);
  for (unsigned i = 0; i < kLineWords; ++i)
    cells[i] = {now.write + 2 * (i >> now.writeShift), now.read + 2 * (i >> now.readShift)};
  std::fill_n(&sitesOf(address), kLineWords, now.sites);
  line.closed = 0;
}

ByteCells& byteCells(const Cell& cell) {
  assert(cell.write == kBytes);
  return table()[cell.read];
}

ByteCells& expand(Cell& cell, CellSites sites) {
  assert(cell.write != kBytes);
  std::uint32_t index = table().take(cell);
  ByteCells& bytes = table()[index];
  std::fill(bytes.cell, bytes.cell + 4, cell);
  std::fill(bytes.sites, bytes.sites + 4, sites);
  cell = {kBytes, index};
  return bytes;
}

void unexpand(Cell& cell, const Cell& before) {
  table().give(cell);
  cell = before;
}

Hidden& hiddenOf(ByteCells& bytes, unsigned byte) {
  if (!bytes.hidden) bytes.hidden = new Hidden[4];
  return bytes.hidden[byte];
}

void collapse(Cell& cell, CellSites& sites) {
  assert(cell.write == kBytes);
  ByteCells& bytes = byteCells(cell);
  if (!std::all_of(bytes.cell + 1, bytes.cell + 4, [&](const Cell& other) { return other == bytes.cell[0]; }))
    return;
  auto hides = [](const Hidden& hidden) { return hidden.write || hidden.read; };
  if (bytes.hidden && std::any_of(bytes.hidden, bytes.hidden + 4, hides)) return;
  Cell one = bytes.cell[0];
  sites = bytes.sites[0];
  table().give(cell);
  cell = one;
}

void fillShadow(Address address, std::size_t bytes, Token write, std::uint16_t site) {
  Address end = address + bytes;
  if (address & 3) {
    unsigned last = static_cast<unsigned>(std::min<Address>(4, (address & 3) + bytes));
    setBytes(address, address & 3, last, write, site);
    address = (address | 3) + 1;
  }
  bool shared = inShared(address), byteCells = !table().empty(shared);
  while (address + 4 <= end) {
    bool whole = !shared && write != kUnknown && address % kLineBytes == 0 && address + kLineBytes <= end;
    Line& line = lineOf(address);
    Address part = std::min((address | (kLineBytes - 1)) + 1, end & ~Address{3});
    if (!whole) cellOf(address);
    if (byteCells && !line.closed)
      for (Address at = address; at < part; at += 4)
        if (Cell& cell = openCellOf(at); cell.write == kBytes) {
          table().give(cell);
          cell = {};
        }
    if (whole) {
      line = {write, 0, {site, kWideSite}, 1, kAllSame, kAllSame, 0};
    } else {
      std::fill_n(&openCellOf(address), (part - address) / 4, Cell{write, 0});
      std::fill_n(&sitesOf(address), (part - address) / 4, CellSites{site, kWideSite});
    }
    address = part;
  }
  if (address < end) setBytes(address, 0, static_cast<unsigned>(end - address), write, site);
}

void dropShadow(Address address, std::size_t bytes) {
  constexpr Address page = 4096;
  Address end = address + bytes;
  // Whole pages of the shadow are dropped unread; byte cells must be given back first, if there are any at
  // all.
  Address wholeFrom = (address * 2 + page - 1) / page * page / 2, wholeTo = end * 2 / page * page / 2;
  bool byteCellsInUse = !table().empty(inShared(address));
  for (Address at = address & ~Address{3}; at < end; at += 4) {
    if (!byteCellsInUse && at >= wholeFrom && at < wholeTo) {
      at = wholeTo - 4;
      continue;
    }
    Cell& cell = cellOf(at);
    if (cell.write == kBytes) table().give(cell);
    if (cell.write != kUnknown) cell = {kUnknown, 0};
  }
  if (wholeFrom < wholeTo) forgetLines(wholeFrom, wholeTo);
  giveBack(address * 2, end * 2);
  giveBack(address + kSitesDistance, end + kSitesDistance);
  giveBack(reinterpret_cast<Address>(&overwrittenOf(address)),
           reinterpret_cast<Address>(&overwrittenOf(end)));
}

} // namespace kcheck::runtime
