// Data that goes to the host after one kernel and back to the device before the next, while the device still
// has it: redundant-transfer. Copies are noted as they are performed.
#pragma once

#include "instrument/runtime/api/work.h"

#include <cstddef>

namespace kcheck::runtime::api {

/// A copy of [from, from + bytes) in device memory has arrived at `to` in host memory.
void noteCopyToHost(const std::byte* to, const std::byte* from, std::size_t bytes, void* caller);
/// [from, from + bytes) in host memory is about to be copied to the device.
void noteCopyToDevice(const std::byte* from, std::size_t bytes, void* caller);
/// A kernel starts.
void noteKernel();

} // namespace kcheck::runtime::api
