// CUDA arrays: opaque to programs, plain rows of texels here (in device memory of their own kind), so that
// copies and texture fetches are address arithmetic.
#pragma once

#include "instrument/runtime/api/cuda_abi.h"
#include "instrument/runtime/api/handles.h"
#include "instrument/runtime/api/texture_fetch.h"
#include "instrument/runtime/api/work.h"

#include <vector>

namespace kcheck::cuda {

struct Array {
  ChannelDesc format{};
  Extent extent{}; ///< as the program gave it; height and depth may be 0
  unsigned flags = 0;
  std::byte* base = nullptr;
  std::size_t pitch = 0, slicePitch = 0; ///< bytes
  bool ownsMemory = true;                ///< false: a level of a mipmapped array
};

struct MipmappedArray {
  std::vector<Array*> levels;
  ChannelDesc format{};
  Extent extent{};
  unsigned flags = 0;
};

} // namespace kcheck::cuda

namespace kcheck::runtime::api {

HandleTable<cuda::Array>& arrays();
HandleTable<cuda::MipmappedArray>& mipmappedArrays();

/// 8-, 16- or 32-bit channels, one, two or four of them.
bool isFormat(const cuda::ChannelDesc& format);
std::size_t texelBytes(const cuda::ChannelDesc& format);

/// The array's memory as an image; slices are layers, faces or depth.
Image imageOf(const cuda::Array& array);
/// The place of byte `xBytes` of row y in slice z, as a side of a copy.
Side sideOf(const cuda::Array& array, std::size_t xBytes, std::size_t y, std::size_t z);
/// Whether a box of bytes, rows and slices from that place on stays in the array.
bool contains(const cuda::Array& array, std::size_t xBytes, std::size_t y, std::size_t z, std::size_t width,
              std::size_t height, std::size_t depth);

} // namespace kcheck::runtime::api
