// How wide a block is by what a kernel does where its threads' indices stand: for launches of kcheck's own
// choice.
#pragma once

#include "analyzer/kernel_model.h"

#include <array>
#include <cstdint>

namespace kcheck::analyzer {

inline constexpr std::int64_t kMostThreads = 1024; ///< of a block

/// How wide a block may be along each axis; threads of more would come to what belongs to the next row, block
/// or round, or leave an array of known size. 0: nothing says so.
using Axes = std::array<std::int64_t, 3>;
Axes widthsOfBlock(const KernelModel& model);

/// `threadIdx.x < 10`
bool comparesWithNumber(Expr n, Expr thread);

} // namespace kcheck::analyzer
