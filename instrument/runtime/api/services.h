// Services of the device side that keep state between calls: output of printf, the device heap.
#pragma once

namespace kcheck::runtime::api {

/// Writes what kernels have printed to the program's stdout. CUDA does so when the host synchronises or
/// launches.
void flushPrintf();

/// The host does something that waits for the whole device, though no stream tells: cudaFree, a copy.
void hostSeesPrints();
/// At exit: kernels that have printed and that nobody has waited for. On a GPU nothing of that appears.
void reportUnseenPrints();

} // namespace kcheck::runtime::api
