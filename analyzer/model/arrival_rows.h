// Which blocks count themselves in at one counter: those of the whole grid, or of a row of it, where each row
// has a counter of its own (`atomicAdd(&count[blockIdx.y], 1)`).
#pragma once

#include "analyzer/kernel_model.h"
#include "analyzer/model/one_thread.h"

#include <optional>

namespace kcheck::analyzer {

/// One thread of each block counts it in.
struct Arrival {
  ThreadPlace thread{};
  RowAxes row = 0;
  friend bool operator==(const Arrival&, const Arrival&) = default;
};

/// The axes of which a counter at `offset` leads to another place for each index, and none else does. Nothing
/// where two rows may meet at one, or that is not known.
std::optional<RowAxes> rowAxesOf(const KernelModel& model, Expr offset, std::int64_t bytes);

} // namespace kcheck::analyzer
