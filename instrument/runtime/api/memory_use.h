// Allocation and release as all allocating API functions share it.
#pragma once

#include "instrument/runtime/api/cuda_abi.h"
#include "instrument/runtime/core/memory.h"

namespace kcheck::runtime::api {

/// Null and Success for zero bytes.
cuda::Error allocateLinear(void** pointer, std::size_t bytes, MemoryKind kind, void* caller);
/// `device`: device or managed memory, else pinned. Reports what cannot be freed.
cuda::Error freeLinear(void* pointer, bool device, const char* function, void* caller);
/// What host code gives free() or delete: false where it is the host's own. Else that is told, and it is
/// freed.
bool freedAsHosts(void* pointer, const char* function, void* caller);
std::size_t deviceBytesInUse();

} // namespace kcheck::runtime::api
