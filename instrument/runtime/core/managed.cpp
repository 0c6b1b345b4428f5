#include "instrument/runtime/core/managed.h"

#include "instrument/runtime/core/context.h"

#include <algorithm>
#include <set>

#include <fcntl.h>
#include <unistd.h>

namespace kcheck::runtime {
namespace {

constexpr Address kPage = 4096;
/// Larger arrays count as written: looking at all their pages would take longer than it is worth.
constexpr std::size_t kLargest = std::size_t{64} << 20;

/// What the system says of the pages of this process.
class PageMap {
public:
  PageMap() : file(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {
    // Where pages are not told, all look untouched, and so does the one that this stands in.
    tells = !untouched(reinterpret_cast<Address>(this) & ~(kPage - 1), 1)[0];
  }
  ~PageMap() {
    if (file >= 0) close(file);
  }
  PageMap(const PageMap&) = delete;
  PageMap& operator=(const PageMap&) = delete;

  /// Neither in memory nor swapped out; one entry for each page from `first` on, false where nobody knows.
  std::vector<bool> untouched(Address first, std::size_t count) const {
    constexpr std::uint64_t inUse = std::uint64_t{3} << 62;
    std::vector<std::uint64_t> entries(count);
    auto bytes = static_cast<ssize_t>(count * sizeof(std::uint64_t));
    std::vector<bool> pages(count);
    auto offset = static_cast<off_t>(first / kPage * sizeof(std::uint64_t));
    if (pread(file, entries.data(), static_cast<std::size_t>(bytes), offset) != bytes) return pages;
    for (std::size_t i = 0; i < count; ++i) pages[i] = tells && !(entries[i] & inUse);
    return pages;
  }

private:
  int file;
  bool tells = true;
};

struct Part {
  Address begin, end;
  bool operator<(const Part& other) const { return begin < other.begin; }
};

/// Parts of pages that were untouched when last looked at.
std::set<Part>& unwritten() {
  static auto* parts = new std::set<Part>;
  return *parts;
}

/// The allocations whose pages have been looked at, by number.
std::set<std::uint64_t>& known() {
  static auto* numbers = new std::set<std::uint64_t>;
  return *numbers;
}

void markUnwritten(Part part) {
  for (Address at = part.begin; at < part.end; at = (at | (kLineBytes - 1)) + 1)
    context().allocations.materialise(at);
  if (Allocation* array = context().allocations.nearest(part.begin)) array->writtenFrom = 0;
  fillShadow(part.begin, part.end - part.begin, kUnwritten);
  unwritten().insert(part);
}

void countAsWritten(Part part) {
  for (Address at = part.begin; at < part.end; at += 4) {
    if (const Line& line = lineOf(at); line.closed && line.write != kUnwritten) {
      at |= kLineBytes - 4;
      continue;
    }
    const Cell& cell = cellOf(at);
    if (cell.write == kUnwritten) {
      fillShadow(at, 4, kOld);
    } else if (cell.write == kBytes) {
      for (Address byte = at; byte < std::min(at + 4, part.end); ++byte)
        if (cellOf(at).write == kBytes && byteCells(cellOf(at)).cell[byte & 3].write == kUnwritten)
          fillShadow(byte, 1, kOld);
    }
  }
}

bool isLive(Part part) {
  const Allocation* owner = context().allocations.nearest(part.begin);
  auto base = owner ? reinterpret_cast<Address>(owner->base) : 0;
  return owner && owner->live && part.begin >= base && part.end <= base + owner->bytes;
}

} // namespace

void lookAtManagedPages() {
  std::lock_guard lock(context().mutex);
  std::vector<const Allocation*> fresh;
  context().allocations.forEach([&](const Allocation& allocation) {
    bool ours = allocation.live && allocation.kind == MemoryKind::Managed && !allocation.name;
    if (ours && allocation.bytes <= kLargest && known().insert(allocation.id).second)
      fresh.push_back(&allocation);
  });
  if (fresh.empty() && unwritten().empty()) return;
  PageMap map;
  std::erase_if(unwritten(), [&](const Part& part) {
    if (!isLive(part)) return true;
    if (map.untouched(part.begin & ~(kPage - 1), 1)[0]) return false;
    countAsWritten(part);
    return true;
  });
  for (const Allocation* allocation : fresh) {
    auto begin = reinterpret_cast<Address>(allocation->base), end = begin + allocation->bytes;
    std::vector<bool> pages = map.untouched(begin, (allocation->bytes + kPage - 1) / kPage);
    for (std::size_t i = 0; i < pages.size(); ++i)
      if (pages[i]) markUnwritten({begin + i * kPage, std::min(begin + (i + 1) * kPage, end)});
  }
}

} // namespace kcheck::runtime
