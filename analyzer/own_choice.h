// The launch that kcheck looks at where none is known: one that the kernel's own numbers fit.
#pragma once

#include "analyzer/launches.h"
#include "analyzer/model/model_builder.h"

namespace kcheck::analyzer {

/// Sets the launch of `plan`, which is kcheck's own choice, to another one if that is better than `usual`,
/// its model. A kernel may be written for blocks of one size (`out[blockIdx.x * 256 + threadIdx.x]`, a shared
/// array of 64 elements), or end at once in a launch of the usual shape (`if (gridDim.x > 2) return;`): what
/// it does in others is not shown by that. Returns whether there is another to look at.
bool choosesOther(LaunchPlan& plan, const KernelModel& usual, const PreparedModule& prepared,
                  const KernelCode& code, const Facts& facts);

/// How many accesses some thread may do.
std::size_t countDone(const KernelModel& model);

/// How many accesses may leave an array of the kernel's file, as far as their place is known.
std::size_t countMisfits(const KernelModel& model);

} // namespace kcheck::analyzer
