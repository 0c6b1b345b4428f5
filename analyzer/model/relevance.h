// Which values of a kernel the model needs.
#pragma once

namespace kcheck::analyzer {

struct KernelState;

/// Fills in KernelState::relevant: what addresses, conditions, sizes and written integers depend on.
void findRelevant(KernelState& state);

} // namespace kcheck::analyzer
