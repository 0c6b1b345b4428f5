// The table of allocations behind memory.h: where they lie in the arenas, their redzones, and what has been
// freed but not yet reused.
#pragma once

#include "instrument/runtime/core/memory.h"
#include "instrument/runtime/core/shadow.h"

#include <atomic>
#include <deque>
#include <map>

namespace kcheck::runtime {

/// What the simulated device has; allocations beyond fail as cudaMalloc does.
inline constexpr std::size_t kDeviceMemoryBytes = std::size_t{16} << 30;

/// Where managed memory begins in the global arena.
inline constexpr Address kManagedBase = kArenaBase + kGlobalBytes / 2;

class Allocations {
public:
  /// The part of the global arena that holds device memory so far.
  Address deviceEnd() const { return global.next; }
  void* add(std::size_t bytes, MemoryKind kind, void* caller, const char* name);
  FreeResult remove(void* pointer, MemoryKind kind, void* caller);
  /// As find() of memory.h.
  Allocation* nearest(Address address);
  /// Gives unlooked-at cells around `address` their first state; false when no live allocation has the
  /// address.
  bool materialise(Address address);
  template <class Visit> void forEach(Visit visit) const {
    for (auto& [base, allocation] : all) visit(allocation);
  }

private:
  struct Zone {
    Address next, end;
    std::map<Address, std::size_t> holes{};
    std::deque<Address> quarantine{}; ///< oldest first
  };
  Zone& zoneOf(MemoryKind kind);
  Address place(Zone& zone, std::size_t room);
  void evict(Zone& zone);
  static std::size_t roomOf(std::size_t bytes, MemoryKind kind);

  Zone global{kArenaBase + kWindowBytes, kManagedBase - kWindowBytes};
  Zone managed{kManagedBase, kArenaBase + kGlobalBytes}; ///< pages of its own: the host may see them or not
  Zone pinned{kPinnedBase + kWindowBytes, kPinnedBase + kPinnedBytes};
  std::map<Address, Allocation> all;       ///< by base; quarantined ones included
  std::atomic<Allocation*> last = nullptr; ///< of the latest search; several threads search
  std::size_t live = 0;
  std::uint64_t count = 0;
};

} // namespace kcheck::runtime
