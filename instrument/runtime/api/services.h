// Services of the device side that keep state between calls: output of printf, the device heap.
#pragma once

namespace kcheck::runtime::api {

/// Writes what kernels have printed to the program's stdout. CUDA does so when the host synchronises or
/// launches.
void flushPrintf();

} // namespace kcheck::runtime::api
