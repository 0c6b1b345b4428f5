// Launch dimensions as expressions of a kernel's model.
#pragma once

namespace kcheck::analyzer {

struct KernelState;

/// Fills in the model's index and dimension expressions and what CUDA guarantees about them.
void setUpShape(KernelState& state);

} // namespace kcheck::analyzer
