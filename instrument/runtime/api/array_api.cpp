// CUDA arrays and mipmapped arrays: allocation, questions about them, channel formats.
#include "instrument/runtime/api/arrays.h"
#include "instrument/runtime/api/errors.h"
#include "instrument/runtime/api/reports.h"
#include "instrument/runtime/core/memory.h"

#include <algorithm>

namespace kcheck::runtime::api {
namespace {

using cuda::Array;
using cuda::ChannelDesc;
using cuda::Extent;

std::size_t atLeastOne(std::size_t extent) { return extent ? extent : 1; }

Error makeArray(Array** result, const ChannelDesc* format, Extent extent, unsigned flags, void* caller) {
  constexpr unsigned known = cuda::ArrayLayered | cuda::ArraySurface | cuda::ArrayCubemap | cuda::ArrayGather;
  if (!result || !format || (flags & ~known) || extent.width == 0) return Error::InvalidValue;
  if (!isFormat(*format)) return Error::InvalidChannelDescriptor;
  bool cube = flags & cuda::ArrayCubemap;
  if (cube && (extent.width != extent.height || extent.depth % 6 != 0 || extent.depth == 0))
    return Error::InvalidValue;
  auto array = std::make_unique<Array>();
  array->format = *format;
  array->extent = extent;
  array->flags = flags;
  array->pitch = extent.width * texelBytes(*format);
  array->slicePitch = array->pitch * atLeastOne(extent.height);
  array->base = static_cast<std::byte*>(
      allocate(array->slicePitch * atLeastOne(extent.depth), MemoryKind::Array, caller));
  if (!array->base) return Error::MemoryAllocation;
  *result = arrays().add(std::move(array));
  return Error::Success;
}

Error freeArray(Array* handle, void* caller) {
  if (!handle) return Error::Success;
  std::unique_ptr<Array> array = arrays().remove(handle);
  if (!array) {
    reportBadFree(handle, "cudaFreeArray", "it is no array, or was freed before", caller);
    return Error::InvalidResourceHandle;
  }
  release(array->base, MemoryKind::Array, caller);
  return Error::Success;
}

Extent levelExtent(Extent extent, unsigned level, unsigned flags) {
  auto halved = [&](std::size_t size) { return size ? std::max<std::size_t>(size >> level, 1) : 0; };
  bool slicesStay = flags & (cuda::ArrayLayered | cuda::ArrayCubemap);
  return {halved(extent.width), halved(extent.height), slicesStay ? extent.depth : halved(extent.depth)};
}

unsigned mostLevels(Extent extent) {
  std::size_t longest = std::max({extent.width, extent.height, extent.depth});
  unsigned levels = 1;
  while (longest >>= 1) ++levels;
  return levels;
}

template <class Body> [[gnu::always_inline]] inline Error withArray(const Array* array, Body&& body) {
  return call([&] { return arrays().contains(array) ? body(*array) : Error::InvalidResourceHandle; });
}

} // namespace

HandleTable<Array>& arrays() {
  static auto* table = new HandleTable<Array>; // outlives every exit handler
  return *table;
}

HandleTable<cuda::MipmappedArray>& mipmappedArrays() {
  static auto* table = new HandleTable<cuda::MipmappedArray>;
  return *table;
}

std::size_t texelBytes(const ChannelDesc& format) {
  return std::size_t(format.x + format.y + format.z + format.w) / 8;
}

bool isFormat(const ChannelDesc& f) {
  if (f.kind < cuda::ChannelKind::Signed || f.kind > cuda::ChannelKind::Float) return false;
  if (f.x != 8 && f.x != 16 && f.x != 32) return false;
  if (f.kind == cuda::ChannelKind::Float && f.x == 8) return false;
  bool one = f.y == 0 && f.z == 0 && f.w == 0, two = f.y == f.x && f.z == 0 && f.w == 0;
  return one || two || (f.y == f.x && f.z == f.x && f.w == f.x);
}

Image imageOf(const Array& array) {
  return {array.base,
          array.extent.width,
          atLeastOne(array.extent.height),
          atLeastOne(array.extent.depth),
          array.pitch,
          array.slicePitch,
          array.format};
}

Side sideOf(const Array& array, std::size_t xBytes, std::size_t y, std::size_t z) {
  return {array.base + z * array.slicePitch + y * array.pitch + xBytes, array.pitch, array.slicePitch};
}

bool contains(const Array& array, std::size_t xBytes, std::size_t y, std::size_t z, std::size_t width,
              std::size_t height, std::size_t depth) {
  auto fits = [](std::size_t from, std::size_t count, std::size_t size) {
    return from <= size && count <= size - from;
  };
  return fits(xBytes, width, array.pitch) && fits(y, height, atLeastOne(array.extent.height)) &&
         fits(z, depth, atLeastOne(array.extent.depth));
}

} // namespace kcheck::runtime::api

using namespace kcheck::runtime;
using namespace kcheck::runtime::api;
namespace cuda = kcheck::cuda;

extern "C" {

Error cudaMallocArray(cuda::Array** array, const cuda::ChannelDesc* format, std::size_t width,
                      std::size_t height, unsigned flags) {
  void* caller = __builtin_return_address(0);
  return call([&] { return makeArray(array, format, {width, height, 0}, flags, caller); });
}

Error cudaMalloc3DArray(cuda::Array** array, const cuda::ChannelDesc* format, cuda::Extent extent,
                        unsigned flags) {
  void* caller = __builtin_return_address(0);
  return call([&] { return makeArray(array, format, extent, flags, caller); });
}

Error cudaFreeArray(cuda::Array* array) {
  void* caller = __builtin_return_address(0);
  return call([&] { return freeArray(array, caller); });
}

Error cudaMallocMipmappedArray(cuda::MipmappedArray** result, const cuda::ChannelDesc* format,
                               cuda::Extent extent, unsigned levels, unsigned flags) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    if (!result || !format || levels == 0) return Error::InvalidValue;
    auto mipmap = std::make_unique<cuda::MipmappedArray>();
    mipmap->format = *format;
    mipmap->extent = extent;
    mipmap->flags = flags;
    for (unsigned level = 0; level < std::min(levels, mostLevels(extent)); ++level) {
      cuda::Array* array = nullptr;
      Error error = makeArray(&array, format, levelExtent(extent, level, flags), flags, caller);
      if (error != Error::Success) {
        for (cuda::Array* made : mipmap->levels) freeArray(made, caller);
        return error;
      }
      mipmap->levels.push_back(array);
    }
    *result = mipmappedArrays().add(std::move(mipmap));
    return Error::Success;
  });
}

Error cudaFreeMipmappedArray(cuda::MipmappedArray* handle) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    if (!handle) return Error::Success;
    auto mipmap = mipmappedArrays().remove(handle);
    if (!mipmap) return Error::InvalidResourceHandle;
    for (cuda::Array* level : mipmap->levels) freeArray(level, caller);
    return Error::Success;
  });
}

Error cudaGetMipmappedArrayLevel(cuda::Array** level, const cuda::MipmappedArray* mipmap, unsigned number) {
  return call([&] {
    if (!level || !mipmappedArrays().contains(mipmap) || number >= mipmap->levels.size())
      return Error::InvalidValue;
    *level = mipmap->levels[number];
    return Error::Success;
  });
}

Error cudaArrayGetInfo(cuda::ChannelDesc* format, cuda::Extent* extent, unsigned* flags,
                       cuda::Array* handle) {
  return withArray(handle, [&](const cuda::Array& array) {
    if (format) *format = array.format;
    if (extent) *extent = array.extent;
    if (flags) *flags = array.flags;
    return Error::Success;
  });
}

Error cudaGetChannelDesc(cuda::ChannelDesc* format, const cuda::Array* handle) {
  return withArray(handle, [&](const cuda::Array& array) {
    if (!format) return Error::InvalidValue;
    *format = array.format;
    return Error::Success;
  });
}

cuda::ChannelDesc cudaCreateChannelDesc(int x, int y, int z, int w, cuda::ChannelKind kind) {
  return {x, y, z, w, kind};
}

} // extern "C"
