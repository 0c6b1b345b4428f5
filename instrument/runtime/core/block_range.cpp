#include "instrument/runtime/core/block_range.h"

namespace kcheck::runtime {

std::uint64_t BlockRange::count() const {
  std::uint64_t now = both.load(std::memory_order_relaxed);
  return (now & 0xFFFF'FFFF) - (now >> 32);
}

std::optional<std::uint64_t> BlockRange::takeFirst() {
  std::uint64_t now = both.load(std::memory_order_relaxed);
  while (now >> 32 != (now & 0xFFFF'FFFF))
    if (both.compare_exchange_weak(now, now + (std::uint64_t{1} << 32), std::memory_order_relaxed))
      return now >> 32;
  return std::nullopt;
}

bool BlockRange::takeHalfOf(BlockRange& other) {
  std::uint64_t now = other.both.load(std::memory_order_relaxed);
  while (true) {
    std::uint64_t from = now >> 32, to = now & 0xFFFF'FFFF, middle = from + (to - from) / 2;
    if (from == to) return false;
    if (!other.both.compare_exchange_weak(now, from << 32 | middle, std::memory_order_relaxed)) continue;
    assign(middle, to);
    return true;
  }
}

} // namespace kcheck::runtime
