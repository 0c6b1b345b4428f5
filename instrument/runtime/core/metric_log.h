// The access log of a block's warps (metrics.h).
#pragma once

#include <cstdint>
#include <vector>

namespace kcheck::runtime {

struct MetricLog {
  struct Entry {
    std::uint64_t word;
  };
};

} // namespace kcheck::runtime
