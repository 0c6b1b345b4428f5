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

/// A place in a device variable, as calls name it.
struct SymbolPlace {
  const void* symbol = nullptr;
  std::size_t offset = 0;
};
/// The work of a copy of so many bytes into a device variable, or out of it. Tells where it leaves the
/// variable.
cuda::Error copyToSymbol(SymbolPlace to, const void* from, std::size_t bytes, cuda::CopyKind kind,
                         const char* function, void* caller, CopyWork& work);
cuda::Error copyFromSymbol(void* to, SymbolPlace from, std::size_t bytes, cuda::CopyKind kind,
                           const char* function, void* caller, CopyWork& work);

} // namespace kcheck::runtime::api
