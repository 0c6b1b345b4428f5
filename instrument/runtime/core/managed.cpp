#include "instrument/runtime/core/managed.h"

#include "instrument/runtime/core/context.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

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
};

using Pages = std::vector<Address>; ///< where they begin, ascending

/// By the number of a managed array: its pages that were untouched when last looked at.
std::unordered_map<std::uint64_t, Pages>& unwritten() {
  static auto* pages = new std::unordered_map<std::uint64_t, Pages>;
  return *pages;
}

void markUnwritten(Part part) {
  for (Address at = part.begin; at < part.end; at = (at | (kLineBytes - 1)) + 1)
    context().allocations.materialise(at);
  if (Allocation* array = context().allocations.nearest(part.begin)) array->writtenFrom = 0;
  fillShadow(part.begin, part.end - part.begin, kUnwritten);
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

Part partOf(const Allocation& array, Address page) {
  return {page, std::min(page + kPage, reinterpret_cast<Address>(array.base) + array.bytes)};
}

/// All pages of the array that nobody has touched.
Pages firstLook(const PageMap& map, const Allocation& array) {
  auto begin = reinterpret_cast<Address>(array.base);
  std::vector<bool> untouched = map.untouched(begin, (array.bytes + kPage - 1) / kPage);
  Pages pages;
  for (std::size_t i = 0; i < untouched.size(); ++i)
    if (untouched[i]) pages.push_back(begin + i * kPage);
  for (Address page : pages) markUnwritten(partOf(array, page));
  return pages;
}

/// The pages that are still untouched; what is left unwritten of the others counts as written. Pages with few
/// between them are asked for together: a question costs as much as some hundred pages.
void lookAgain(const PageMap& map, const Allocation& array, Pages& pages) {
  constexpr Address kNear = 64 * kPage;
  Pages left;
  for (std::size_t first = 0, next = 0; first < pages.size(); first = next) {
    for (next = first + 1; next < pages.size() && pages[next] - pages[next - 1] <= kNear;) ++next;
    std::vector<bool> untouched = map.untouched(pages[first], (pages[next - 1] - pages[first]) / kPage + 1);
    for (std::size_t i = first; i < next; ++i) {
      if (untouched[(pages[i] - pages[first]) / kPage])
        left.push_back(pages[i]);
      else
        countAsWritten(partOf(array, pages[i]));
    }
  }
  pages = std::move(left);
}

} // namespace

void lookAtManagedPages() {
  std::lock_guard lock(context().mutex);
  std::optional<PageMap> map;
  context().allocations.forEach([&](const Allocation& array) {
    if (array.kind != MemoryKind::Managed || array.name || array.bytes > kLargest) return;
    if (!array.live) {
      unwritten().erase(array.id);
      return;
    }
    auto [entry, isNew] = unwritten().try_emplace(array.id);
    Pages& pages = entry->second;
    if (!isNew && pages.empty()) return;
    if (!map) map.emplace();
    if (isNew)
      pages = firstLook(*map, array);
    else
      lookAgain(*map, array, pages);
  });
}

} // namespace kcheck::runtime
