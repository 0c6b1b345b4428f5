// What one request of a warp costs, by the profilers' definitions (report/report.h). Offsets count from the
// start of an array that begins at a multiple of 256 bytes, as allocations do.
#pragma once

#include "analyzer/traffic/lanes.h"

namespace kcheck::analyzer {

struct RequestCost {
  std::uint64_t sectors = 0, idealSectors = 0, bytes = 0;
  std::uint32_t bankWays = 0;
};

/// `mask` says which lanes take part; each accesses `bytes`, at most 16.
RequestCost costOfGlobal(const LaneProgram::Row& offsets, std::uint32_t mask, std::uint32_t bytes);
RequestCost costOfShared(const LaneProgram::Row& offsets, std::uint32_t mask, std::uint32_t bytes);

} // namespace kcheck::analyzer
