// Address modes, filters and texel formats of the texture unit.
#include "instrument/runtime/api/texture_fetch.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

extern "C" float __nv_half2float(unsigned); // runtime/math

namespace kcheck::runtime::api {
namespace {

constexpr int kOutside = -1;

/// The texel index on one axis after the address mode; kOutside for a border.
int resolveIndex(long long index, std::size_t size, AddressMode mode) {
  long long count = static_cast<long long>(size);
  if (index >= 0 && index < count) return int(index);
  switch (mode) {
  case AddressMode::Wrap: return int(((index % count) + count) % count);
  case AddressMode::Mirror: {
    long long period = ((index % (2 * count)) + 2 * count) % (2 * count);
    return int(period < count ? period : 2 * count - 1 - period);
  }
  case AddressMode::Border: return kOutside;
  case AddressMode::Clamp: break;
  }
  return int(std::clamp(index, 0ll, count - 1));
}

/// Wrapping and mirroring exist for normalised coordinates only.
AddressMode effectiveMode(const Sampler& sampler, int axis) {
  AddressMode mode = sampler.address[std::size_t(axis)];
  bool repeats = mode == AddressMode::Wrap || mode == AddressMode::Mirror;
  return repeats && !sampler.normalisedCoordinates ? AddressMode::Clamp : mode;
}

long long toIndex(float place) {
  if (std::isnan(place)) return 0;
  return static_cast<long long>(std::clamp(place, -1e9f, 1e9f));
}

/// One axis of a fetch: the lower texel, and the weight of the upper one for a linear filter.
struct Axis {
  long long lower = 0;
  float weight = 0;
};

Axis placeOn(const Image& image, const Sampler& sampler, const Coordinates& at, int axis) {
  const std::size_t sizes[] = {image.width, image.height, image.depth};
  if (at.integer) return {at.index[std::size_t(axis)], 0};
  float place = at.place[std::size_t(axis)];
  if (sampler.normalisedCoordinates) place *= float(sizes[axis]);
  if (!sampler.linear) return {toIndex(std::floor(place)), 0};
  // The hardware keeps eight bits of the fraction, and rounds to them before it looks for the texel.
  float shifted = std::nearbyint((place - 0.5f) * 256) / 256, lower = std::floor(shifted);
  return {toIndex(lower), shifted - lower};
}

/// One weight for each corner; bit i of its number is its side on axis i. The hardware gives them eight bits
/// as well: the far corner's is rounded, and what it lacks goes to its neighbours, so that the sum stays 1.
std::array<float, 8> weightsOf(const std::array<Axis, 3>& axes, int dimensions) {
  std::array<float, 8> weights{1};
  for (unsigned axis = 0; axis < unsigned(dimensions); ++axis) {
    const float side = axes[axis].weight;
    float left = side; // for those below that are not the last
    const unsigned below = 1u << axis;
    for (unsigned corner = below; corner-- > 0;) {
      const float upper = corner ? std::floor(weights[corner] * side * 256 + 0.5f) / 256 : left;
      left -= upper;
      weights[below + corner] = upper;
      weights[corner] -= upper;
    }
  }
  return weights;
}

float fraction(std::int64_t value, int bits, bool isSigned) {
  if (!isSigned) return float(value) / float((std::int64_t{1} << bits) - 1);
  return std::max(-1.0f, float(value) / float((std::int64_t{1} << (bits - 1)) - 1));
}

/// A border's value as texels of that many bits could have it.
float asStored(float border, int bits, bool isSigned) {
  const float most = float((std::int64_t{1} << (isSigned ? bits - 1 : bits)) - 1);
  return std::nearbyint(std::clamp(border, isSigned ? -1.0f : 0.0f, 1.0f) * most) / most;
}

/// A channel's bits as a number of its type; sign-extended.
std::int64_t readInteger(const std::byte* from, int bits, bool isSigned) {
  std::uint64_t value = 0;
  std::memcpy(&value, from, std::size_t(bits / 8));
  return isSigned ? std::int64_t(value << (64 - bits)) >> (64 - bits) : std::int64_t(value);
}

Texel readTexel(const Image& image, const Sampler& sampler, const std::byte* from) {
  Texel texel;
  const int bits[] = {image.format.x, image.format.y, image.format.z, image.format.w};
  bool isFloat = image.format.kind == cuda::ChannelKind::Float;
  texel.integer = !isFloat && !sampler.normalisedFloat;
  texel.words[3] = texel.integer ? 1 : std::bit_cast<std::uint32_t>(1.0f); // absent channels are 0, 0, 1
  for (std::size_t i = 0; i < 4 && bits[i]; from += bits[i] / 8, ++i) {
    if (isFloat) {
      std::int64_t raw = readInteger(from, bits[i], false);
      texel.words[i] =
          bits[i] == 16 ? std::bit_cast<std::uint32_t>(__nv_half2float(unsigned(raw))) : std::uint32_t(raw);
      continue;
    }
    bool isSigned = image.format.kind == cuda::ChannelKind::Signed;
    std::int64_t value = readInteger(from, bits[i], isSigned);
    texel.words[i] = texel.integer ? std::uint32_t(value)
                                   : std::bit_cast<std::uint32_t>(fraction(value, bits[i], isSigned));
  }
  return texel;
}

Texel borderTexel(const Image& image, const Sampler& sampler) {
  Texel texel;
  texel.integer = image.format.kind != cuda::ChannelKind::Float && !sampler.normalisedFloat;
  if (sampler.linearMemory) return texel;
  const int bits[] = {image.format.x, image.format.y, image.format.z, image.format.w};
  bool isSigned = image.format.kind == cuda::ChannelKind::Signed;
  for (std::size_t i = 0; i < 4; ++i) {
    float border = sampler.border[i];
    if (sampler.normalisedFloat && bits[i]) border = asStored(border, bits[i], isSigned);
    const bool isNarrow = texel.integer && bits[i] < 32; // whole words get the bits as they are
    texel.words[i] = isNarrow ? std::uint32_t(int(border)) : std::bit_cast<std::uint32_t>(border);
  }
  return texel;
}

Texel texelAt(const Image& image, const Sampler& sampler, const Coordinates& at,
              const std::array<long long, 3>& place, const TexelVisit& visit) {
  const std::size_t sizes[] = {image.width, image.height, image.depth};
  std::array<int, 3> index{0, 0, at.slice};
  for (int axis = 0; axis < at.dimensions; ++axis) {
    AddressMode mode = sampler.linearMemory ? AddressMode::Border : effectiveMode(sampler, axis);
    index[std::size_t(axis)] = resolveIndex(place[std::size_t(axis)], sizes[axis], mode);
    if (index[std::size_t(axis)] == kOutside) return borderTexel(image, sampler);
  }
  const std::byte* from = image.base + std::size_t(index[2]) * image.slicePitch +
                          std::size_t(index[1]) * image.pitch + std::size_t(index[0]) * image.texelBytes();
  visit(from, image.texelBytes());
  return readTexel(image, sampler, from);
}

Texel blended(const Image& image, const Sampler& sampler, const Coordinates& at,
              const std::array<Axis, 3>& axes, const TexelVisit& visit) {
  std::array<float, 4> sum{};
  const std::array<float, 8> weights = weightsOf(axes, at.dimensions);
  for (unsigned corner = 0; corner < 1u << at.dimensions; ++corner) {
    const float weight = weights[corner];
    std::array<long long, 3> place{};
    for (int axis = 0; axis < at.dimensions; ++axis) {
      bool upper = corner >> axis & 1;
      const Axis& on = axes[std::size_t(axis)];
      place[std::size_t(axis)] = on.lower + upper;
    }
    if (weight == 0) continue; // the texel has no say, and may not even be written
    Texel texel = texelAt(image, sampler, at, place, visit);
    for (std::size_t i = 0; i < 4; ++i) sum[i] += weight * std::bit_cast<float>(texel.words[i]);
  }
  Texel result;
  for (std::size_t i = 0; i < 4; ++i) result.words[i] = std::bit_cast<std::uint32_t>(sum[i]);
  return result;
}

} // namespace

Texel sample(const Image& image, const Sampler& sampler, const Coordinates& at, const TexelVisit& visit) {
  std::array<Axis, 3> axes{};
  std::array<long long, 3> place{};
  for (int axis = 0; axis < at.dimensions; ++axis) {
    axes[std::size_t(axis)] = placeOn(image, sampler, at, axis);
    place[std::size_t(axis)] = axes[std::size_t(axis)].lower;
  }
  bool floats = image.format.kind == cuda::ChannelKind::Float || sampler.normalisedFloat;
  if (sampler.linear && !at.integer && floats) return blended(image, sampler, at, axes, visit);
  return texelAt(image, sampler, at, place, visit);
}

Texel gather(const Image& image, const Sampler& sampler, const Coordinates& at, unsigned component,
             const TexelVisit& visit) {
  Sampler linear = sampler;
  linear.linear = true; // the same four texels, whatever the filter
  Axis x = placeOn(image, linear, at, 0), y = placeOn(image, linear, at, 1);
  const std::array<long long, 3> places[] = {{x.lower, y.lower + 1, 0},
                                             {x.lower + 1, y.lower + 1, 0},
                                             {x.lower + 1, y.lower, 0},
                                             {x.lower, y.lower, 0}};
  Texel result;
  for (std::size_t i = 0; i < 4; ++i) {
    Texel texel = texelAt(image, sampler, at, places[i], visit);
    result.words[i] = texel.words[component];
    result.integer = texel.integer;
  }
  return result;
}

CubePlace cubePlace(float x, float y, float z) {
  float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  CubePlace place{};
  float major, s, t;
  if (ax >= ay && ax >= az) {
    place.face = x < 0, major = ax, s = x < 0 ? z : -z, t = -y;
  } else if (ay >= az) {
    place.face = 2 + (y < 0), major = ay, s = x, t = y < 0 ? -z : z;
  } else {
    place.face = 4 + (z < 0), major = az, s = z < 0 ? -x : x, t = -y;
  }
  place.s = (s / major + 1) / 2;
  place.t = (t / major + 1) / 2;
  return place;
}

} // namespace kcheck::runtime::api
