// Texture and surface instructions of kernels (abi.h says how they are encoded): each texel they touch is
// reported to the detectors like any other access.
#include "instrument/abi.h"
#include "instrument/runtime/api/errors.h"
#include "instrument/runtime/api/reports.h"
#include "instrument/runtime/api/texture_objects.h"
#include "instrument/runtime/core/outside.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

extern "C" {
void kcRead(kcheck::abi::ThreadContext* thread, const void* address, std::uint64_t bytes, std::uint32_t site);
void kcWrite(kcheck::abi::ThreadContext* thread, const void* address, std::uint64_t bytes,
             std::uint32_t site);
}

namespace kcheck::runtime::api {
namespace {

using abi::TextureGeometry;
using abi::TextureMode;

/// The operand words of an instruction, read in order.
class Words {
public:
  explicit Words(const void* words) : next_(static_cast<const std::uint32_t*>(words)) {}
  int integer() { return std::bit_cast<int>(*next_++); }
  float number() { return std::bit_cast<float>(*next_++); }

private:
  const std::uint32_t* next_;
};

TextureGeometry geometryOf(std::uint32_t operation) { return TextureGeometry(operation & 15); }

int dimensionsOf(TextureGeometry geometry) {
  switch (geometry) {
  case TextureGeometry::Line:
  case TextureGeometry::LineArray: return 1;
  case TextureGeometry::Volume: return 3;
  default: return 2;
  }
}

bool hasLayer(TextureGeometry geometry) {
  return geometry == TextureGeometry::LineArray || geometry == TextureGeometry::PlaneArray ||
         geometry == TextureGeometry::CubeArray;
}

bool isCube(TextureGeometry geometry) {
  return geometry == TextureGeometry::Cube || geometry == TextureGeometry::CubeArray;
}

/// The place of a fetch. Layers out of range are clamped; a cube's direction becomes a face and a place on
/// it.
Coordinates placeOf(std::uint32_t operation, Words& words, const Image& image) {
  TextureGeometry geometry = geometryOf(operation);
  Coordinates at;
  at.dimensions = dimensionsOf(geometry);
  at.integer = operation & abi::TextureIntegerCoordinates;
  int layer = hasLayer(geometry) ? words.integer() : 0;
  int layers = int(image.depth) / (isCube(geometry) ? 6 : 1);
  if (hasLayer(geometry))
    at.slice = int(std::min(unsigned(layer), unsigned(std::max(layers - 1, 0)))); // layers are unsigned
  if (isCube(geometry)) {
    float x = words.number(), y = words.number(), z = words.number();
    CubePlace place = cubePlace(x, y, z);
    at.slice = at.slice * 6 + place.face;
    at.place = {place.s, place.t, 0}; // in [0, 1]: cube textures have normalised coordinates
    return at;
  }
  for (int axis = 0; axis < at.dimensions; ++axis) {
    if (at.integer)
      at.index[std::size_t(axis)] = words.integer();
    else
      at.place[std::size_t(axis)] = words.number();
  }
  return at;
}

/// The level of detail that two gradients ask for: log2 of the longer step in texels.
float levelOfGradients(Words& words, int dimensions, const Image& image, const Sampler& sampler) {
  const std::size_t sizes[] = {image.width, image.height, image.depth};
  float longest = 0;
  for (int gradient = 0; gradient < 2; ++gradient) {
    float squares = 0;
    for (int axis = 0; axis < dimensions; ++axis) {
      float step = words.number() * (sampler.normalisedCoordinates ? float(sizes[axis]) : 1.0f);
      squares += step * step;
    }
    longest = std::max(longest, std::sqrt(squares));
  }
  return longest > 0 ? std::log2(longest) : 0;
}

Texel mixed(const Texel& lower, const Texel& upper, float weight) {
  Texel result;
  for (std::size_t i = 0; i < 4; ++i)
    result.words[i] = std::bit_cast<std::uint32_t>((1 - weight) * std::bit_cast<float>(lower.words[i]) +
                                                   weight * std::bit_cast<float>(upper.words[i]));
  return result;
}

Texel fetch(const TextureObject& object, std::uint32_t operation, Words words, const TexelVisit& visit) {
  const Image& first = object.levels.front();
  Coordinates at = placeOf(operation, words, first);
  Sampler sampler = object.sampler;
  sampler.normalisedCoordinates |= isCube(geometryOf(operation));
  auto mode = TextureMode(operation >> 7 & 3);
  if (mode == TextureMode::Gather) return gather(first, sampler, at, operation >> 9 & 3, visit);
  float level = 0;
  if (mode == TextureMode::Level) level = words.number();
  if (mode == TextureMode::Gradient) level = levelOfGradients(words, at.dimensions, first, sampler);
  float most = std::min(float(object.levels.size() - 1), std::max(object.mostLevel, object.leastLevel));
  level = std::clamp(level + object.levelBias, std::min(object.leastLevel, most), most);
  if (!object.linearMipmaps)
    return sample(object.levels[std::size_t(std::nearbyint(level))], sampler, at, visit);
  auto lower = std::size_t(level);
  float weight = level - float(lower);
  Texel texel = sample(object.levels[lower], sampler, at, visit);
  if (weight == 0 || texel.integer) return texel;
  return mixed(texel, sample(object.levels[lower + 1], sampler, at, visit), weight);
}

TextureObject& usable(abi::ThreadContext* thread, unsigned long long handle, bool surface,
                      std::uint32_t site) {
  TextureObject* object = textureObject(handle);
  if (object && object->live && object->surface == surface) return *object;
  const char* sentence =
      !object ? "no texture or surface object is behind the handle: no call made it, or that call failed"
      : !object->live ? "the texture or surface object behind the handle was destroyed before"
      : surface       ? "the handle is one of a texture object, where a surface object is wanted"
                      : "the handle is one of a surface object, where a texture object is wanted";
  stopWithoutObject(thread, sentence, site);
}

/// The bytes that a surface access means; null when it lies outside and does nothing.
std::byte* surfacePlace(const TextureObject& object, std::uint32_t operation, Words words, std::size_t bytes,
                        bool& outside) {
  TextureGeometry geometry = geometryOf(operation);
  const Image& image = object.levels.front();
  long long layer = hasLayer(geometry) ? words.integer() : 0;
  long long x = words.integer(), y = dimensionsOf(geometry) > 1 ? words.integer() : 0;
  long long z = dimensionsOf(geometry) > 2 ? words.integer() : layer;
  const long long width = static_cast<long long>(image.width) * static_cast<long long>(image.texelBytes());
  const long long height = static_cast<long long>(image.height), depth = static_cast<long long>(image.depth);
  const long long most = width - static_cast<long long>(bytes);
  outside = x < 0 || x > most || y < 0 || y >= height || z < 0 || z >= depth;
  if (outside && abi::SurfaceOutside(operation >> 9 & 3) != abi::SurfaceOutside::Clamp) return nullptr;
  x = std::clamp(x, 0ll, std::max(most, 0ll));
  y = std::clamp(y, 0ll, height - 1);
  z = std::clamp(z, 0ll, depth - 1);
  return const_cast<std::byte*>(image.base) + std::size_t(z) * image.slicePitch +
         std::size_t(y) * image.pitch + std::size_t(x);
}

std::string besideArray(const Image& image, std::size_t bytes, bool store) {
  std::string size = std::to_string(image.width * image.texelBytes()) + " bytes in a row";
  if (image.height > 1) size += ", " + std::to_string(image.height) + " rows";
  if (image.depth > 1) size += ", " + std::to_string(image.depth) + " layers";
  return std::string("a surface ") + (store ? "write" : "read") + " of " + std::to_string(bytes) +
         (bytes == 1 ? " byte" : " bytes") + " is not within the array, which has " + size +
         " (x counts bytes), and its boundary mode ends the kernel there";
}

} // namespace
} // namespace kcheck::runtime::api

using namespace kcheck::runtime::api;
using kcheck::abi::ThreadContext;

extern "C" {

void kcTexture(ThreadContext* thread, std::uint64_t handle, std::uint32_t operation, const void* words,
               void* result, std::uint32_t site) {
  std::memset(result, 0, 16);
  Texel texel = fetch(usable(thread, handle, false, site), operation, Words(words),
                      [&](const std::byte* at, unsigned bytes) { kcRead(thread, at, bytes, site); });
  std::memcpy(result, texel.words.data(), 16); // a fetch through another type sees the bits, as on the device
}

void kcSurface(ThreadContext* thread, std::uint64_t handle, std::uint32_t operation, const void* words,
               void* data, std::uint32_t site) {
  const std::size_t bytes = std::size_t{1} << (operation >> 5 & 3) << (operation >> 7 & 3);
  const bool store = operation & kcheck::abi::SurfaceStore;
  if (!store) std::memset(data, 0, bytes);
  const TextureObject& object = usable(thread, handle, true, site);
  bool outside = false;
  std::byte* place = surfacePlace(object, operation, Words(words), bytes, outside);
  if (outside && kcheck::abi::SurfaceOutside(operation >> 9 & 3) == kcheck::abi::SurfaceOutside::Trap) {
    stopBesideObject(thread, besideArray(object.levels.front(), bytes, store).c_str(), site,
                     store ? kcheck::runtime::AccessKind::Write : kcheck::runtime::AccessKind::Read);
  }
  if (!place) return;
  if (store) {
    kcWrite(thread, place, bytes, site);
    std::memcpy(place, data, bytes);
  } else {
    kcRead(thread, place, bytes, site);
    std::memcpy(data, place, bytes);
  }
}

} // extern "C"
