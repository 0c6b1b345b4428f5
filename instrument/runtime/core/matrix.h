// Matrix operations of a warp: the lanes' registers come together here.
#pragma once

#include "instrument/runtime/core/state.h"

namespace kcheck::runtime {

/// All lanes of `group` wait in the same kind of matrix operation; their registers get the result. Elements
/// of lanes that are not there count as zero.
void answerMatrix(ThreadState* lanes, std::uint32_t group);

} // namespace kcheck::runtime
