// Which share of a launch (share.h) each line of 64 bytes belongs to.
#pragma once

#include "instrument/runtime/core/shadow.h"

#include <atomic>
#include <cstdint>

namespace kcheck::runtime {

/// In the launch that runs now. A line is the share's that comes to it first.
class LineOwners {
public:
  LineOwners();
  void meetLaunch();
  /// Whether the line of the address is, or now becomes, the share's.
  bool take(Address at, std::uint32_t share) const {
    std::atomic_ref<std::uint32_t> owner(owners[(at - kArenaBase) / kLineBytes]);
    std::uint32_t mine = launch | share, now = owner.load(std::memory_order_relaxed);
    if (now == mine) return true;
    if ((now ^ mine) < kMostShares) return false;
    return owner.compare_exchange_strong(now, mine, std::memory_order_relaxed);
  }

  static constexpr std::uint32_t kMostShares = 256;

private:
  std::uint32_t* owners;    ///< launch | share
  std::uint32_t launch = 0; ///< a multiple of kMostShares; 0: none
};

} // namespace kcheck::runtime
