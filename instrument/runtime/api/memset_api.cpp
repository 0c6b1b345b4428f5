// cudaMemset and its pitched, 3-D and asynchronous forms.
#include "instrument/runtime/api/errors.h"
#include "instrument/runtime/api/pointers.h"
#include "instrument/runtime/api/stream.h"
#include "instrument/runtime/api/work.h"

namespace kcheck::runtime::api {
namespace {

FillWork filling(void* to, std::size_t pitch, std::size_t slicePitch, int value, cuda::Extent extent,
                 const char* function, void* caller) {
  FillWork work;
  work.to = {static_cast<std::byte*>(to), pitch, slicePitch};
  work.width = extent.width;
  work.height = extent.height;
  work.depth = extent.depth;
  work.value = std::uint32_t(value) & 0xff;
  work.function = function;
  work.caller = caller;
  return work;
}

Error fill(const FillWork& work, cuda::StreamHandle stream) {
  Error error = check(work);
  return error == Error::Success ? submit(stream, work) : error;
}

/// The forms without a stream: the host waits for what it sees itself, pinned and managed memory, and for
/// nothing else.
Error fillNow(const FillWork& work) {
  Error error = fill(work, nullptr);
  const Where where = whereIs(work.to.base);
  if (error != Error::Success || (where != Where::Pinned && where != Where::Managed)) return error;
  hostWaitsFor(*resolve(cuda::StreamHandle{}));
  return deviceErrorAtSynchronisation();
}

FillWork filling3D(const cuda::PitchedPointer& to, int value, cuda::Extent extent, const char* function,
                   void* caller) {
  return filling(to.pointer, to.pitch, to.pitch * to.ysize, value, extent, function, caller);
}

} // namespace
} // namespace kcheck::runtime::api

using namespace kcheck::runtime::api;
namespace cuda = kcheck::cuda;

extern "C" {

Error cudaMemset(void* to, int value, std::size_t bytes) {
  void* caller = __builtin_return_address(0);
  return call([&] { return fillNow(filling(to, bytes, bytes, value, {bytes, 1, 1}, "cudaMemset", caller)); });
}

Error cudaMemsetAsync(void* to, int value, std::size_t bytes, cuda::StreamHandle stream) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    return fill(filling(to, bytes, bytes, value, {bytes, 1, 1}, "cudaMemsetAsync", caller), stream);
  });
}

Error cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    return fillNow(filling(to, pitch, pitch * height, value, {width, height, 1}, "cudaMemset2D", caller));
  });
}

Error cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height,
                        cuda::StreamHandle stream) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    return fill(filling(to, pitch, pitch * height, value, {width, height, 1}, "cudaMemset2DAsync", caller),
                stream);
  });
}

Error cudaMemset3D(cuda::PitchedPointer to, int value, cuda::Extent extent) {
  void* caller = __builtin_return_address(0);
  return call([&] { return fillNow(filling3D(to, value, extent, "cudaMemset3D", caller)); });
}

Error cudaMemset3DAsync(cuda::PitchedPointer to, int value, cuda::Extent extent, cuda::StreamHandle stream) {
  void* caller = __builtin_return_address(0);
  return call([&] { return fill(filling3D(to, value, extent, "cudaMemset3DAsync", caller), stream); });
}

} // extern "C"
