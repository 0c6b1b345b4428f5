// Which loop symbols are the same for all threads of a block or grid.
#pragma once

namespace kcheck::analyzer {

struct KernelState;

/// Settles Symbol::varies of every loop symbol: the least assignment that agrees with exit conditions, start
/// values and what an iteration does.
void settleUniformity(KernelState& state);

} // namespace kcheck::analyzer
