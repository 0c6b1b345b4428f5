// cudaMemcpy and its linear, pitched, peer and symbol forms. Copies are described as work (work.h) and
// checked there.
#include "instrument/runtime/api/copies.h"
#include "instrument/runtime/api/errors.h"
#include "instrument/runtime/api/pointers.h"
#include "instrument/runtime/api/registry.h"
#include "instrument/runtime/api/stream.h"
#include "instrument/runtime/core/launch.h"

namespace kcheck::runtime::api {

using cuda::CopyKind;
using cuda::StreamHandle;

CopyWork linearCopy(void* to, const void* from, std::size_t bytes, CopyKind kind, const char* function,
                    void* caller) {
  return pitchedCopy(to, bytes, from, bytes, bytes, 1, kind, function, caller);
}

CopyWork pitchedCopy(void* to, std::size_t toPitch, const void* from, std::size_t fromPitch,
                     std::size_t width, std::size_t height, CopyKind kind, const char* function,
                     void* caller) {
  CopyWork work;
  work.to = {static_cast<std::byte*>(to), toPitch, toPitch * height};
  work.from = {static_cast<std::byte*>(const_cast<void*>(from)), fromPitch, fromPitch * height};
  work.width = width;
  work.height = height;
  work.kind = kind;
  work.function = function;
  work.caller = caller;
  return work;
}

Error copyNow(CopyWork work, StreamHandle stream) {
  if (Error error = check(work); error != Error::Success) return error;
  cuda::Stream* object = resolve(stream);
  if (!object) return Error::InvalidResourceHandle;
  bool touchesHost = whereIs(work.to.base) == Where::Host || whereIs(work.to.base) == Where::Pinned ||
                     whereIs(work.from.base) == Where::Host || whereIs(work.from.base) == Where::Pinned;
  if (Error error = submit(stream, work); error != Error::Success) return error;
  if (!touchesHost) return Error::Success; // between device buffers the host does not wait
  hostWaitsFor(*object);
  return deviceErrorAtSynchronisation();
}

Error copyAsync(CopyWork work, StreamHandle stream) {
  if (Error error = check(work); error != Error::Success) return error;
  cuda::Stream* object = resolve(stream);
  if (!object) return Error::InvalidResourceHandle;
  // Into pageable memory the driver copies through a buffer of its own and returns when all is done.
  bool staged = work.width && whereIs(work.to.base) == Where::Host && !isRegisteredHost(work.to.base) &&
                whereIs(work.from.base) != Where::Host && !object->capturing;
  if (Error error = submit(stream, work); error != Error::Success) return error;
  if (staged) streamSynchronized(object->id);
  return Error::Success;
}

Error symbolCopy(const void* symbol, std::size_t offset, std::size_t bytes, CopyKind kind, bool toSymbol,
                 void*& address) {
  Symbol variable;
  if (!symbol || !findVariable(symbol, variable)) return Error::InvalidSymbol;
  if (offset > variable.bytes || bytes > variable.bytes - offset) return Error::InvalidValue;
  bool host = kind == (toSymbol ? CopyKind::HostToDevice : CopyKind::DeviceToHost);
  if (!host && kind != CopyKind::DeviceToDevice && kind != CopyKind::Default)
    return Error::InvalidMemcpyDirection;
  address = static_cast<std::byte*>(variable.address) + offset;
  return Error::Success;
}

} // namespace kcheck::runtime::api

using namespace kcheck::runtime::api;
using kcheck::cuda::CopyKind;
using kcheck::cuda::StreamHandle;

extern "C" {

Error cudaMemcpy(void* to, const void* from, std::size_t bytes, CopyKind kind) {
  void* caller = __builtin_return_address(0);
  return call([&] { return copyNow(linearCopy(to, from, bytes, kind, "cudaMemcpy", caller), nullptr); });
}

Error cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, CopyKind kind, StreamHandle stream) {
  void* caller = __builtin_return_address(0);
  return call(
      [&] { return copyAsync(linearCopy(to, from, bytes, kind, "cudaMemcpyAsync", caller), stream); });
}

Error cudaMemcpyPeer(void* to, int toDevice, const void* from, int fromDevice, std::size_t bytes) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    if (toDevice != 0 || fromDevice != 0) return Error::InvalidDevice;
    return copyNow(linearCopy(to, from, bytes, CopyKind::DeviceToDevice, "cudaMemcpyPeer", caller), nullptr);
  });
}

Error cudaMemcpyPeerAsync(void* to, int toDevice, const void* from, int fromDevice, std::size_t bytes,
                          StreamHandle stream) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    if (toDevice != 0 || fromDevice != 0) return Error::InvalidDevice;
    return copyAsync(linearCopy(to, from, bytes, CopyKind::DeviceToDevice, "cudaMemcpyPeerAsync", caller),
                     stream);
  });
}

Error cudaMemcpy2D(void* to, std::size_t toPitch, const void* from, std::size_t fromPitch, std::size_t width,
                   std::size_t height, CopyKind kind) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    return copyNow(pitchedCopy(to, toPitch, from, fromPitch, width, height, kind, "cudaMemcpy2D", caller),
                   nullptr);
  });
}

Error cudaMemcpy2DAsync(void* to, std::size_t toPitch, const void* from, std::size_t fromPitch,
                        std::size_t width, std::size_t height, CopyKind kind, StreamHandle stream) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    return copyAsync(
        pitchedCopy(to, toPitch, from, fromPitch, width, height, kind, "cudaMemcpy2DAsync", caller), stream);
  });
}

Error cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                         CopyKind kind) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    void* address = nullptr;
    Error error = symbolCopy(symbol, offset, bytes, kind, true, address);
    if (error != Error::Success) return error;
    return copyNow(linearCopy(address, from, bytes, kind, "cudaMemcpyToSymbol", caller), nullptr);
  });
}

Error cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                              CopyKind kind, StreamHandle stream) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    void* address = nullptr;
    Error error = symbolCopy(symbol, offset, bytes, kind, true, address);
    if (error != Error::Success) return error;
    return copyAsync(linearCopy(address, from, bytes, kind, "cudaMemcpyToSymbolAsync", caller), stream);
  });
}

Error cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                           CopyKind kind) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    void* address = nullptr;
    Error error = symbolCopy(symbol, offset, bytes, kind, false, address);
    if (error != Error::Success) return error;
    return copyNow(linearCopy(to, address, bytes, kind, "cudaMemcpyFromSymbol", caller), nullptr);
  });
}

Error cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                CopyKind kind, StreamHandle stream) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    void* address = nullptr;
    Error error = symbolCopy(symbol, offset, bytes, kind, false, address);
    if (error != Error::Success) return error;
    return copyAsync(linearCopy(to, address, bytes, kind, "cudaMemcpyFromSymbolAsync", caller), stream);
  });
}

Error cudaGetSymbolAddress(void** address, const void* symbol) {
  return call([&] {
    Symbol variable;
    if (!address) return Error::InvalidValue;
    if (!symbol || !findVariable(symbol, variable)) return Error::InvalidSymbol;
    *address = variable.address;
    return Error::Success;
  });
}

Error cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  return call([&] {
    Symbol variable;
    if (!bytes) return Error::InvalidValue;
    if (!symbol || !findVariable(symbol, variable)) return Error::InvalidSymbol;
    *bytes = variable.bytes;
    return Error::Success;
  });
}

} // extern "C"
