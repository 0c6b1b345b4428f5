// How the copying API functions describe and start their work.
#pragma once

#include "instrument/runtime/api/work.h"

namespace kcheck::runtime::api {

CopyWork linearCopy(void* to, const void* from, std::size_t bytes, cuda::CopyKind kind, const char* function,
                    void* caller);
CopyWork pitchedCopy(void* to, std::size_t toPitch, const void* from, std::size_t fromPitch,
                     std::size_t width, std::size_t height, cuda::CopyKind kind, const char* function,
                     void* caller);

/// Checks and performs a copy that the host waits for (unless it is between device buffers).
cuda::Error copyNow(CopyWork work, cuda::StreamHandle stream);
/// Checks and submits a copy that the host does not wait for.
cuda::Error copyAsync(CopyWork work, cuda::StreamHandle stream);

/// The work that the parameters of a 3-D copy describe.
cuda::Error describeCopy(const cuda::Copy3D& parameters, const char* function, void* caller, CopyWork& work);

/// The address of `bytes` bytes at `offset` in a device variable, for a copy to or from it.
cuda::Error symbolCopy(const void* symbol, std::size_t offset, std::size_t bytes, cuda::CopyKind kind,
                       bool toSymbol, void*& address);

} // namespace kcheck::runtime::api
