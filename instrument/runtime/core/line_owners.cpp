#include "instrument/runtime/core/line_owners.h"

#include <cstdlib>

#include <sys/mman.h>

namespace kcheck::runtime {

LineOwners::LineOwners() {
  constexpr std::size_t bytes = kArenaBytes / kOwnedBytes * sizeof(std::uint32_t);
  void* room =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) std::abort();
  madvise(room, bytes, MADV_DONTDUMP);
  owners = static_cast<std::uint32_t*>(room);
}

void LineOwners::meetLaunch() {
  launch += kMostShares;
  if (launch) return; // 2^24 launches later: nobody is to be taken for one of the first
  madvise(owners, kArenaBytes / kOwnedBytes * sizeof(std::uint32_t), MADV_DONTNEED);
  launch = kMostShares;
}

} // namespace kcheck::runtime
