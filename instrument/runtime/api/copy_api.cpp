// cudaMemcpy and its linear, pitched, peer and symbol forms. Copies are described as work (work.h) and
// checked there.
#include "instrument/runtime/api/copies.h"
#include "instrument/runtime/api/errors.h"
#include "instrument/runtime/api/later.h"
#include "instrument/runtime/api/pointers.h"
#include "instrument/runtime/api/registry.h"
#include "instrument/runtime/api/reports.h"
#include "instrument/runtime/api/services.h"
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
  hostSeesPrints();
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
  const bool isRead =
      work.width && whereIs(work.from.base) == Where::Host && !isRegisteredHost(work.from.base);
  if ((staged || isRead) && !object->capturing) waitFor(*object); // pageable memory is as it is now
  if (staged) streamSynchronized(object->id);
  return Error::Success;
}

/// The address of the place, from which on the variable has so many bytes.
static Error addressOf(SymbolPlace place, std::size_t bytes, bool written, const char* function, void* caller,
                       void*& address) {
  Symbol variable;
  if (!place.symbol || !findVariable(place.symbol, variable)) return Error::InvalidSymbol;
  if (place.offset > variable.bytes || bytes > variable.bytes - place.offset) {
    reportBadSymbolRange(variable.address, variable.bytes, place.offset, bytes, written, function, caller);
    return Error::InvalidValue;
  }
  address = static_cast<std::byte*>(variable.address) + place.offset;
  return Error::Success;
}

Error copyToSymbol(SymbolPlace to, const void* from, std::size_t bytes, CopyKind kind, const char* function,
                   void* caller, CopyWork& work) {
  void* address = nullptr;
  if (Error error = addressOf(to, bytes, true, function, caller, address); error != Error::Success)
    return error;
  if (kind != CopyKind::HostToDevice && kind != CopyKind::DeviceToDevice && kind != CopyKind::Default)
    return Error::InvalidMemcpyDirection;
  work = linearCopy(address, from, bytes, kind, function, caller);
  return Error::Success;
}

Error copyFromSymbol(void* to, SymbolPlace from, std::size_t bytes, CopyKind kind, const char* function,
                     void* caller, CopyWork& work) {
  void* address = nullptr;
  if (Error error = addressOf(from, bytes, false, function, caller, address); error != Error::Success)
    return error;
  if (kind != CopyKind::DeviceToHost && kind != CopyKind::DeviceToDevice && kind != CopyKind::Default)
    return Error::InvalidMemcpyDirection;
  work = linearCopy(to, address, bytes, kind, function, caller);
  return Error::Success;
}

/// A single row that is longer than its pitch; of several, `check` says what is wrong.
static bool isCutShort(std::size_t toPitch, std::size_t fromPitch, std::size_t width, std::size_t height) {
  auto isShort = [&](std::size_t pitch) { return pitch != 0 && pitch < width; };
  return height == 1 && (isShort(toPitch) || isShort(fromPitch));
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
    if (isCutShort(toPitch, fromPitch, width, height)) return Error::InvalidValue;
    return copyNow(pitchedCopy(to, toPitch, from, fromPitch, width, height, kind, "cudaMemcpy2D", caller),
                   nullptr);
  });
}

Error cudaMemcpy2DAsync(void* to, std::size_t toPitch, const void* from, std::size_t fromPitch,
                        std::size_t width, std::size_t height, CopyKind kind, StreamHandle stream) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    if (isCutShort(toPitch, fromPitch, width, height)) return Error::InvalidValue;
    return copyAsync(
        pitchedCopy(to, toPitch, from, fromPitch, width, height, kind, "cudaMemcpy2DAsync", caller), stream);
  });
}

Error cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                         CopyKind kind) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    CopyWork work;
    Error error = copyToSymbol({symbol, offset}, from, bytes, kind, "cudaMemcpyToSymbol", caller, work);
    return error == Error::Success ? copyNow(work, nullptr) : error;
  });
}

Error cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                              CopyKind kind, StreamHandle stream) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    CopyWork work;
    Error error = copyToSymbol({symbol, offset}, from, bytes, kind, "cudaMemcpyToSymbolAsync", caller, work);
    return error == Error::Success ? copyAsync(work, stream) : error;
  });
}

Error cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                           CopyKind kind) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    CopyWork work;
    Error error = copyFromSymbol(to, {symbol, offset}, bytes, kind, "cudaMemcpyFromSymbol", caller, work);
    return error == Error::Success ? copyNow(work, nullptr) : error;
  });
}

Error cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                CopyKind kind, StreamHandle stream) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    CopyWork work;
    Error error =
        copyFromSymbol(to, {symbol, offset}, bytes, kind, "cudaMemcpyFromSymbolAsync", caller, work);
    return error == Error::Success ? copyAsync(work, stream) : error;
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
