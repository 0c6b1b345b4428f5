// Sampling as the texture unit does it: coordinates, address modes, filters, conversion of texels. Pure:
// memory is read through a callback, so that tests need no runtime and the runtime can check each read.
#pragma once

#include "instrument/runtime/api/cuda_abi.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace kcheck::runtime::api {

enum class AddressMode : int { Wrap, Clamp, Mirror, Border };

/// Memory seen as an image. Layers and cube faces are slices.
struct Image {
  const std::byte* base = nullptr;
  std::size_t width = 0, height = 1, depth = 1; ///< texels; depth counts layers or faces for those geometries
  std::size_t pitch = 0, slicePitch = 0;        ///< bytes
  cuda::ChannelDesc format{};

  unsigned channels() const {
    return unsigned((format.x != 0) + (format.y != 0) + (format.z != 0) + (format.w != 0));
  }
  unsigned texelBytes() const { return unsigned(format.x + format.y + format.z + format.w) / 8; }
};

struct Sampler {
  std::array<AddressMode, 3> address{AddressMode::Clamp, AddressMode::Clamp, AddressMode::Clamp};
  bool linear = false;          ///< filter, else the nearest texel
  bool normalisedFloat = false; ///< integer texels become [0, 1] or [-1, 1]
  bool normalisedCoordinates = false;
  std::array<float, 4> border{};
  bool linearMemory = false; ///< a 1-D texture of plain memory: integer indices, zero outside
};

/// Called with each texel's address and size before it is read.
using TexelVisit = std::function<void(const std::byte* texel, unsigned bytes)>;

/// A texel's four words: floats, or integers where texels are integers and read as they are.
struct Texel {
  std::array<std::uint32_t, 4> words{};
  bool integer = false;
};

struct Coordinates {
  int dimensions = 1;           ///< filtered ones, 1 to 3
  std::array<float, 3> place{}; ///< as the program gave them
  std::array<int, 3> index{};   ///< used instead when `integer`
  bool integer = false;
  int slice = 0; ///< layer or face, already chosen; only for fewer than 3 dimensions
};

Texel sample(const Image& image, const Sampler& sampler, const Coordinates& at, const TexelVisit& visit);

/// One component of the four texels that a linear filter would use, in CUDA's order: lower left, lower right,
/// upper right, upper left.
Texel gather(const Image& image, const Sampler& sampler, const Coordinates& at, unsigned component,
             const TexelVisit& visit);

/// The face (0 to 5: +x -x +y -y +z -z) that a direction hits, and where on it, in [0, 1].
struct CubePlace {
  int face;
  float s, t;
};
CubePlace cubePlace(float x, float y, float z);

} // namespace kcheck::runtime::api
