#include "instrument/runtime/core/host_heap.h"

#include "instrument/runtime/core/crew.h"
#include "instrument/runtime/core/shadow.h"

#include <cstdio>
#include <cstring>

#include <unistd.h>

namespace kcheck::runtime {
namespace {

constexpr std::size_t kHeader = 16, kFlags = 7, kOwnMapping = 2;

struct Heap {
  Address begin = 0, end = 0;
  bool holds(Address at) const { return at >= begin && at < end; }
};

/// Where the program's break began, by the kernel's own account.
Address startOfBreak() {
  static const Address start = [] {
    Address found = 0;
    std::FILE* maps = std::fopen("/proc/self/maps", "r");
    if (!maps) return found;
    char line[512];
    while (!found && std::fgets(line, sizeof line, maps))
      if (std::strstr(line, "[heap]")) std::sscanf(line, "%zx", &found);
    std::fclose(maps);
    return found;
  }();
  return start;
}

std::size_t sizeWord(Address block) {
  std::size_t word;
  std::memcpy(&word, reinterpret_cast<const void*>(block + kHeader / 2), sizeof word);
  return word;
}

constexpr unsigned kMostBlocks = 1 << 18, kFewBlocks = 1 << 12;
unsigned blocksSeen = 0; ///< when they were last gone through

/// Where the block ends that holds the address: from the heap's start on, one leads to the next.
std::optional<Address> endOfBlock(const Heap& heap, Address at) {
  Address block = heap.begin;
  for (blocksSeen = 0; blocksSeen < kMostBlocks && block + kHeader <= at; ++blocksSeen) {
    const std::size_t size = sizeWord(block) & ~kFlags;
    if (size < 2 * kHeader || size % kHeader) return {};
    const Address next = block + size;
    if (at < next) return next + kHeader / 2; // the next one's first word is its, too
    block = next;
  }
  return {};
}

} // namespace

std::optional<std::size_t> tooLittleRoom(const void* pointer, std::size_t bytes) {
  const auto at = reinterpret_cast<Address>(pointer);
  const Heap heap{startOfBreak(), reinterpret_cast<Address>(sbrk(0))};
  if (!heap.begin || !heap.holds(at)) return {};
  // Of many blocks the words before the place are believed, as malloc leaves them. A place within a block may
  // have such words before it as well, of a smaller block that was there once.
  if (blocksSeen > kFewBlocks && at % kHeader == 0 && at >= heap.begin + kHeader) {
    const std::size_t size = sizeWord(at - kHeader);
    const std::size_t room = (size & ~kFlags) - kHeader / 2;
    if (!(size & kOwnMapping) && bytes <= room && size < heap.end - at) return {};
  }
  const std::optional<Address> end = endOfBlock(heap, at);
  if (!end || *end - at >= bytes) return {};
  // Where other threads change the heap meanwhile, the way to the block may have been a wrong one. What lies
  // before a block in use stays mapped.
  return programHasOneThread() ? std::optional(*end - at) : std::nullopt;
}

} // namespace kcheck::runtime
