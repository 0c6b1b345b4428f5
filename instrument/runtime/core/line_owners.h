// Which share of a launch (share.h) each pair of lines belongs to, 128 bytes: what a warp writes side by
// side.
#pragma once

#include "instrument/runtime/core/shadow.h"

#include <atomic>
#include <cstdint>

namespace kcheck::runtime {

inline constexpr Address kOwnedBytes = 2 * kLineBytes;

/// In the launch that runs now. A pair of lines is the share's that comes to it first.
class LineOwners {
public:
  LineOwners();
  void meetLaunch();
  /// Whether the pair of the address is, or now becomes, the share's.
  bool take(Address at, std::uint32_t share) const {
    const std::atomic_ref<std::uint32_t> owner = ownerOf(at);
    std::uint32_t mine = launch | share, now = owner.load(std::memory_order_relaxed);
    if (now == mine) return true;
    if ((now ^ mine) < kMostShares) return false;
    return owner.compare_exchange_strong(now, mine, std::memory_order_relaxed);
  }

  /// The same of each of `count` addresses.
  bool takeEach(const Address* at, std::uint32_t count, std::uint32_t share) const {
    // First a look at all: the processor waits for those that are in no cache together then, while each
    // exchange would keep it from looking further.
    const std::uint32_t mine = launch | share;
    std::uint32_t others = 0;
    for (std::uint32_t i = 0; i < count; ++i) others |= ownerOf(at[i]).load(std::memory_order_relaxed) ^ mine;
    if (!others) return true;
    bool all = true;
    for (std::uint32_t i = 0; i < count; ++i) all &= take(at[i], share);
    return all;
  }

  static constexpr std::uint32_t kMostShares = 256;

private:
  std::atomic_ref<std::uint32_t> ownerOf(Address at) const {
    return std::atomic_ref<std::uint32_t>(owners[(at - kArenaBase) / kOwnedBytes]);
  }

  std::uint32_t* owners;    ///< launch | share
  std::uint32_t launch = 0; ///< a multiple of kMostShares; 0: none
};

} // namespace kcheck::runtime
