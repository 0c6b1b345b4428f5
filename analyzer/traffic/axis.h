// Blocks along an axis or rounds of a loop, of which a large launch has more than can be looked at.
#pragma once

#include <algorithm>
#include <cstdint>

namespace kcheck::analyzer {

/// Values of one axis (blocks along x, a counter) with how many each stands for.
struct Axis {
  std::int64_t first = 0;
  std::uint64_t count = 1, taken = 1;
  std::int64_t value(std::uint64_t i) const {
    if (taken == count || i == 0) return first + std::int64_t(i);
    if (i + 1 == taken) return first + std::int64_t(count) - 1;
    // One value of each stretch, at changing distances from its start: strides in the data have no beat.
    const std::uint64_t inner = count - 2, from = (i - 1) * inner / (taken - 2), to = i * inner / (taken - 2);
    return first + 1 + std::int64_t(from + (i * 5 + 3) % std::max<std::uint64_t>(1, to - from));
  }
  double weight(std::uint64_t i) const {
    if (taken == count || i == 0 || i + 1 == taken) return 1;
    const std::uint64_t inner = count - 2, from = (i - 1) * inner / (taken - 2), to = i * inner / (taken - 2);
    return double(to - from);
  }
  bool isSampled() const { return taken != count; }
};

} // namespace kcheck::analyzer
