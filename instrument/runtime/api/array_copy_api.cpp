// Copies to, from and between CUDA arrays, and 3-D copies between any two sides.
#include "instrument/runtime/api/arrays.h"
#include "instrument/runtime/api/copies.h"
#include "instrument/runtime/api/errors.h"

namespace kcheck::runtime::api {
namespace {

using cuda::Array;
using cuda::CopyKind;
using cuda::StreamHandle;

/// A rectangle in an array, and the array's side of a copy of it.
struct Rectangle {
  Array* array;
  std::size_t x, y; ///< bytes, rows
};

Error place(const Rectangle& rectangle, std::size_t width, std::size_t height, Side& side) {
  if (!arrays().contains(rectangle.array)) return Error::InvalidResourceHandle;
  if (!contains(*rectangle.array, rectangle.x, rectangle.y, 0, width, height, 1)) return Error::InvalidValue;
  side = sideOf(*rectangle.array, rectangle.x, rectangle.y, 0);
  return Error::Success;
}

struct PlaneCopy {
  std::size_t width, height;
  CopyKind kind;
  const char* function;
  void* caller;
  bool async;
  StreamHandle stream;
};

Error start(CopyWork work, const PlaneCopy& copy) {
  work.width = copy.width;
  work.height = copy.height;
  work.kind = copy.kind;
  work.function = copy.function;
  work.caller = copy.caller;
  return copy.async ? copyAsync(work, copy.stream) : copyNow(work, copy.stream);
}

Error toArray(const Rectangle& to, const void* from, std::size_t pitch, const PlaneCopy& copy) {
  CopyWork work;
  if (Error error = place(to, copy.width, copy.height, work.to); error != Error::Success) return error;
  work.from = {static_cast<std::byte*>(const_cast<void*>(from)), pitch, pitch * copy.height};
  return start(work, copy);
}

Error fromArray(void* to, std::size_t pitch, const Rectangle& from, const PlaneCopy& copy) {
  CopyWork work;
  if (Error error = place(from, copy.width, copy.height, work.from); error != Error::Success) return error;
  work.to = {static_cast<std::byte*>(to), pitch, pitch * copy.height};
  return start(work, copy);
}

/// The old linear forms run on from row to row.
Error linearRows(const Array* array, std::size_t bytes, std::size_t& width, std::size_t& height) {
  if (!arrays().contains(array)) return Error::InvalidResourceHandle;
  width = bytes < array->pitch ? bytes : array->pitch;
  height = width ? bytes / width : 0;
  return width * height == bytes ? Error::Success : Error::InvalidValue;
}

/// One side of a 3-D copy. Positions are in the side's own elements: texels of an array, bytes behind a
/// pointer.
Error placeSide(Array* array, const cuda::PitchedPointer& pointer, cuda::Position at, std::size_t unit,
                std::size_t width, const cuda::Extent& extent, Side& side) {
  if (array) {
    if (!arrays().contains(array)) return Error::InvalidResourceHandle;
    if (!contains(*array, at.x * unit, at.y, at.z, width, extent.height, extent.depth))
      return Error::InvalidValue;
    side = sideOf(*array, at.x * unit, at.y, at.z);
    return Error::Success;
  }
  if (!pointer.pointer) return Error::InvalidValue;
  if (extent.depth > 1 && pointer.ysize < extent.height) return Error::InvalidValue;
  std::size_t slice = pointer.pitch * pointer.ysize;
  side = {static_cast<std::byte*>(pointer.pointer) + at.z * slice + at.y * pointer.pitch + at.x,
          pointer.pitch, slice};
  return Error::Success;
}

} // namespace

Error describeCopy(const cuda::Copy3D& parameters, const char* function, void* caller, CopyWork& work) {
  std::size_t unit = 1;
  if (arrays().contains(parameters.sourceArray)) unit = texelBytes(parameters.sourceArray->format);
  if (arrays().contains(parameters.targetArray)) unit = texelBytes(parameters.targetArray->format);
  work = {};
  work.width = parameters.extent.width * unit;
  work.height = parameters.extent.height;
  work.depth = parameters.extent.depth;
  work.kind = parameters.kind;
  work.function = function;
  work.caller = caller;
  Error error = placeSide(parameters.targetArray, parameters.targetPointer, parameters.targetPosition, unit,
                          work.width, parameters.extent, work.to);
  if (error != Error::Success) return error;
  return placeSide(parameters.sourceArray, parameters.sourcePointer, parameters.sourcePosition, unit,
                   work.width, parameters.extent, work.from);
}

} // namespace kcheck::runtime::api

using namespace kcheck::runtime::api;
using kcheck::cuda::Array;
using kcheck::cuda::CopyKind;
using kcheck::cuda::StreamHandle;
namespace cuda = kcheck::cuda;

extern "C" {

Error cudaMemcpy2DToArray(Array* to, std::size_t x, std::size_t y, const void* from, std::size_t pitch,
                          std::size_t width, std::size_t height, CopyKind kind) {
  PlaneCopy copy{width, height, kind, "cudaMemcpy2DToArray", __builtin_return_address(0), false, nullptr};
  return call([&] { return toArray({to, x, y}, from, pitch, copy); });
}

Error cudaMemcpy2DToArrayAsync(Array* to, std::size_t x, std::size_t y, const void* from, std::size_t pitch,
                               std::size_t width, std::size_t height, CopyKind kind, StreamHandle stream) {
  PlaneCopy copy{width, height, kind, "cudaMemcpy2DToArrayAsync", __builtin_return_address(0), true, stream};
  return call([&] { return toArray({to, x, y}, from, pitch, copy); });
}

Error cudaMemcpy2DFromArray(void* to, std::size_t pitch, const Array* from, std::size_t x, std::size_t y,
                            std::size_t width, std::size_t height, CopyKind kind) {
  PlaneCopy copy{width, height, kind, "cudaMemcpy2DFromArray", __builtin_return_address(0), false, nullptr};
  return call([&] { return fromArray(to, pitch, {const_cast<Array*>(from), x, y}, copy); });
}

Error cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, const Array* from, std::size_t x, std::size_t y,
                                 std::size_t width, std::size_t height, CopyKind kind, StreamHandle stream) {
  PlaneCopy copy{width, height, kind, "cudaMemcpy2DFromArrayAsync", __builtin_return_address(0),
                 true,  stream};
  return call([&] { return fromArray(to, pitch, {const_cast<Array*>(from), x, y}, copy); });
}

Error cudaMemcpy2DArrayToArray(Array* to, std::size_t toX, std::size_t toY, const Array* from,
                               std::size_t fromX, std::size_t fromY, std::size_t width, std::size_t height,
                               CopyKind kind) {
  PlaneCopy copy{width, height, kind, "cudaMemcpy2DArrayToArray", __builtin_return_address(0),
                 false, nullptr};
  return call([&] {
    kcheck::runtime::api::Side source;
    Rectangle rectangle{const_cast<Array*>(from), fromX, fromY};
    if (Error error = place(rectangle, width, height, source); error != Error::Success) return error;
    return toArray({to, toX, toY}, source.base, source.pitch, copy);
  });
}

Error cudaMemcpyArrayToArray(Array* to, std::size_t toX, std::size_t toY, const Array* from,
                             std::size_t fromX, std::size_t fromY, std::size_t bytes, CopyKind kind) {
  PlaneCopy copy{0, 0, kind, "cudaMemcpyArrayToArray", __builtin_return_address(0), false, nullptr};
  return call([&] {
    Error error = linearRows(to, bytes, copy.width, copy.height);
    if (error != Error::Success) return error;
    kcheck::runtime::api::Side source;
    error = place({const_cast<Array*>(from), fromX, fromY}, copy.width, copy.height, source);
    return error == Error::Success ? toArray({to, toX, toY}, source.base, source.pitch, copy) : error;
  });
}

Error cudaMemcpyToArray(Array* to, std::size_t x, std::size_t y, const void* from, std::size_t bytes,
                        CopyKind kind) {
  PlaneCopy copy{0, 0, kind, "cudaMemcpyToArray", __builtin_return_address(0), false, nullptr};
  return call([&] {
    Error error = linearRows(to, bytes, copy.width, copy.height);
    return error == Error::Success ? toArray({to, x, y}, from, copy.width, copy) : error;
  });
}

Error cudaMemcpyFromArray(void* to, const Array* from, std::size_t x, std::size_t y, std::size_t bytes,
                          CopyKind kind) {
  PlaneCopy copy{0, 0, kind, "cudaMemcpyFromArray", __builtin_return_address(0), false, nullptr};
  return call([&] {
    Error error = linearRows(from, bytes, copy.width, copy.height);
    return error == Error::Success ? fromArray(to, copy.width, {const_cast<Array*>(from), x, y}, copy)
                                   : error;
  });
}

Error cudaMemcpyToArrayAsync(Array* to, std::size_t x, std::size_t y, const void* from, std::size_t bytes,
                             CopyKind kind, StreamHandle stream) {
  PlaneCopy copy{0, 0, kind, "cudaMemcpyToArrayAsync", __builtin_return_address(0), true, stream};
  return call([&] {
    Error error = linearRows(to, bytes, copy.width, copy.height);
    return error == Error::Success ? toArray({to, x, y}, from, copy.width, copy) : error;
  });
}

Error cudaMemcpyFromArrayAsync(void* to, const Array* from, std::size_t x, std::size_t y, std::size_t bytes,
                               CopyKind kind, StreamHandle stream) {
  PlaneCopy copy{0, 0, kind, "cudaMemcpyFromArrayAsync", __builtin_return_address(0), true, stream};
  return call([&] {
    Error error = linearRows(from, bytes, copy.width, copy.height);
    return error == Error::Success ? fromArray(to, copy.width, {const_cast<Array*>(from), x, y}, copy)
                                   : error;
  });
}

Error cudaMemcpy3D(const cuda::Copy3D* parameters) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    CopyWork work;
    if (!parameters) return Error::InvalidValue;
    Error error = describeCopy(*parameters, "cudaMemcpy3D", caller, work);
    return error == Error::Success ? copyNow(work, nullptr) : error;
  });
}

Error cudaMemcpy3DAsync(const cuda::Copy3D* parameters, StreamHandle stream) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    CopyWork work;
    if (!parameters) return Error::InvalidValue;
    Error error = describeCopy(*parameters, "cudaMemcpy3DAsync", caller, work);
    return error == Error::Success ? copyAsync(work, stream) : error;
  });
}

static cuda::Copy3D withoutPeers(const cuda::PeerCopy3D& p) {
  return {p.sourceArray,    p.sourcePosition, p.sourcePointer, p.targetArray,
          p.targetPosition, p.targetPointer,  p.extent,        CopyKind::Default};
}

Error cudaMemcpy3DPeer(const cuda::PeerCopy3D* parameters) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    CopyWork work;
    if (!parameters) return Error::InvalidValue;
    if (parameters->sourceDevice != 0 || parameters->targetDevice != 0) return Error::InvalidDevice;
    Error error = describeCopy(withoutPeers(*parameters), "cudaMemcpy3DPeer", caller, work);
    return error == Error::Success ? copyNow(work, nullptr) : error;
  });
}

Error cudaMemcpy3DPeerAsync(const cuda::PeerCopy3D* parameters, StreamHandle stream) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    CopyWork work;
    if (!parameters) return Error::InvalidValue;
    if (parameters->sourceDevice != 0 || parameters->targetDevice != 0) return Error::InvalidDevice;
    Error error = describeCopy(withoutPeers(*parameters), "cudaMemcpy3DPeerAsync", caller, work);
    return error == Error::Success ? copyAsync(work, stream) : error;
  });
}

} // extern "C"
