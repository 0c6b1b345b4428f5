// Sampling: address modes, filters, texel formats, gathers and cube faces, against the rules of CUDA's
// programming guide.
#include "instrument/runtime/api/texture_fetch.h"

#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <vector>

using namespace kcheck::runtime::api;
using kcheck::cuda::ChannelKind;

namespace {

template <class T>
Image imageOf(const std::vector<T>& texels, std::size_t width, std::size_t height, ChannelKind kind) {
  Image image;
  image.base = reinterpret_cast<const std::byte*>(texels.data());
  image.width = width;
  image.height = height;
  image.depth = texels.size() / width / height;
  image.pitch = width * sizeof(T);
  image.slicePitch = image.pitch * height;
  image.format = {int(8 * sizeof(T)), 0, 0, 0, kind};
  return image;
}

const std::vector<float> kRow = {10, 20, 30, 40};

float at(const Image& image, const Sampler& sampler, float x, float y = 0.5f, float z = 0.5f) {
  Coordinates place;
  place.dimensions = image.depth > 1 ? 3 : image.height > 1 ? 2 : 1;
  place.place = {x, y, z};
  return std::bit_cast<float>(sample(image, sampler, place, [](auto, auto) {}).words[0]);
}

TEST(TextureFetch, PointFilterTakesTheTexelBelow) {
  Image image = imageOf(kRow, 4, 1, ChannelKind::Float);
  EXPECT_EQ(at(image, {}, 0.0f), 10);
  EXPECT_EQ(at(image, {}, 0.99f), 10);
  EXPECT_EQ(at(image, {}, 1.0f), 20);
  EXPECT_EQ(at(image, {}, 3.5f), 40);
}

TEST(TextureFetch, LinearFilterIsCentredOnTexels) {
  Image image = imageOf(kRow, 4, 1, ChannelKind::Float);
  Sampler sampler;
  sampler.linear = true;
  EXPECT_EQ(at(image, sampler, 0.5f), 10);
  EXPECT_EQ(at(image, sampler, 1.0f), 15);
  EXPECT_EQ(at(image, sampler, 1.25f), 17.5);
  EXPECT_EQ(at(image, sampler, 0.0f), 10) << "clamped";
  EXPECT_EQ(at(image, sampler, 4.0f), 40) << "clamped";
  // Eight bits of fraction: 1/1000 is rounded to 0.
  EXPECT_EQ(at(image, sampler, 0.501f), 10);
}

TEST(TextureFetch, LinearFilterInTwoAndThreeDimensions) {
  Sampler sampler;
  sampler.linear = true;
  std::vector<float> plane = {0, 4, 8, 12};
  EXPECT_EQ(at(imageOf(plane, 2, 2, ChannelKind::Float), sampler, 1.0f, 1.0f), 6);
  EXPECT_EQ(at(imageOf(plane, 2, 2, ChannelKind::Float), sampler, 1.0f, 0.75f), 4);
  // Weights of corners have eight bits, too: 253/256 * 160/256 is 158/256, half of 253/256 is 127/256.
  std::vector<float> corner = {0.5f, 0.5f, 0.5f, 1.75f};
  EXPECT_EQ(at(imageOf(corner, 2, 2, ChannelKind::Float), sampler, 1.48828125f, 1.125f), 1.271484375f);
  EXPECT_EQ(at(imageOf(corner, 2, 2, ChannelKind::Float), sampler, 1.48828125f, 1.0f), 1.1201171875f);
  std::vector<float> cube = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(at(imageOf(cube, 2, 2, ChannelKind::Float), sampler, 1.0f, 1.0f, 1.0f), 3.5);
  EXPECT_EQ(at(imageOf(cube, 2, 2, ChannelKind::Float), sampler, 0.5f, 0.5f, 1.5f), 4);
}

TEST(TextureFetch, AddressModes) {
  Image image = imageOf(kRow, 4, 1, ChannelKind::Float);
  Sampler sampler;
  EXPECT_EQ(at(image, sampler, -3), 10);
  EXPECT_EQ(at(image, sampler, 9), 40);
  sampler.address[0] = AddressMode::Border;
  sampler.border = {-1, 0, 0, 0};
  EXPECT_EQ(at(image, sampler, -0.5f), -1);
  EXPECT_EQ(at(image, sampler, 3.5f), 40);
  EXPECT_EQ(at(image, sampler, 4.0f), -1);
  sampler.normalisedCoordinates = true;
  sampler.address[0] = AddressMode::Wrap;
  EXPECT_EQ(at(image, sampler, 1.125f), 10);
  EXPECT_EQ(at(image, sampler, -0.125f), 40);
  sampler.address[0] = AddressMode::Mirror;
  EXPECT_EQ(at(image, sampler, 1.125f), 40);
  EXPECT_EQ(at(image, sampler, -0.125f), 10);
  EXPECT_EQ(at(image, sampler, 1.875f), 10);
  sampler.normalisedCoordinates = false;
  EXPECT_EQ(at(image, sampler, 5.0f), 40) << "without normalised coordinates it clamps";
}

TEST(TextureFetch, BordersAreWhatTexelsCouldBe) {
  std::vector<std::uint8_t> bytes = {0, 255, 51};
  Sampler sampler;
  sampler.address[0] = AddressMode::Border;
  sampler.border = {0.25f, 0, 0, 0};
  sampler.normalisedFloat = true;
  EXPECT_EQ(at(imageOf(bytes, 3, 1, ChannelKind::Unsigned), sampler, -1), 64 / 255.0f);
  EXPECT_EQ(at(imageOf(bytes, 3, 1, ChannelKind::Signed), sampler, -1), 32 / 127.0f);
  sampler.normalisedFloat = false;
  std::vector<std::uint32_t> words = {1, 2, 3};
  EXPECT_EQ(at(imageOf(words, 3, 1, ChannelKind::Unsigned), sampler, -1), 0.25f) << "bits as they are";
}

TEST(TextureFetch, IntegersStayOrBecomeFractions) {
  std::vector<std::uint8_t> bytes = {0, 255, 51};
  Image image = imageOf(bytes, 3, 1, ChannelKind::Unsigned);
  Coordinates place;
  place.place[0] = 1;
  Texel texel = sample(image, {}, place, [](auto, auto) {});
  EXPECT_TRUE(texel.integer);
  EXPECT_EQ(texel.words[0], 255u);
  Sampler sampler;
  sampler.normalisedFloat = true;
  EXPECT_EQ(at(image, sampler, 1), 1.0f);
  EXPECT_FLOAT_EQ(at(image, sampler, 2), 0.2f);
  std::vector<std::int16_t> shorts = {-32768, -32767, 32767, -5};
  image = imageOf(shorts, 4, 1, ChannelKind::Signed);
  EXPECT_EQ(at(image, sampler, 0), -1.0f);
  EXPECT_EQ(at(image, sampler, 1), -1.0f);
  EXPECT_EQ(at(image, sampler, 2), 1.0f);
  place.place[0] = 3;
  EXPECT_EQ(int(sample(image, {}, place, [](auto, auto) {}).words[0]), -5);
}

TEST(TextureFetch, ChannelsAndHalves) {
  std::vector<float> pairs = {1, 2, 3, 4};
  Image image = imageOf(pairs, 2, 1, ChannelKind::Float);
  image.format = {32, 32, 0, 0, ChannelKind::Float};
  Coordinates place;
  place.place[0] = 1;
  Texel texel = sample(image, {}, place, [](auto, auto) {});
  EXPECT_EQ(std::bit_cast<float>(texel.words[0]), 3);
  EXPECT_EQ(std::bit_cast<float>(texel.words[1]), 4);
  EXPECT_EQ(std::bit_cast<float>(texel.words[2]), 0);
  EXPECT_EQ(std::bit_cast<float>(texel.words[3]), 1);
  std::vector<std::uint16_t> halves = {0x3c00, 0xc000};
  EXPECT_EQ(at(imageOf(halves, 2, 1, ChannelKind::Float), {}, 1), -2);
}

TEST(TextureFetch, LinearMemoryIsZeroOutside) {
  Image image = imageOf(kRow, 4, 1, ChannelKind::Float);
  Sampler sampler;
  sampler.linearMemory = true;
  sampler.border = {5, 5, 5, 5};
  Coordinates place;
  place.integer = true;
  place.index[0] = 2;
  EXPECT_EQ(std::bit_cast<float>(sample(image, sampler, place, [](auto, auto) {}).words[0]), 30);
  for (int outside : {-1, 4, 1 << 30}) {
    place.index[0] = outside;
    EXPECT_EQ(sample(image, sampler, place, [](auto, auto) { FAIL() << "nothing may be read"; }).words[0],
              0u);
  }
}

TEST(TextureFetch, ReportsEveryTexelThatCounts) {
  std::vector<float> plane = {0, 4, 8, 12};
  Image image = imageOf(plane, 2, 2, ChannelKind::Float);
  Sampler sampler;
  sampler.linear = true;
  auto reads = [&](float x, float y) {
    Coordinates place;
    place.dimensions = 2;
    place.place = {x, y, 0};
    int count = 0;
    sample(image, sampler, place, [&](const std::byte* from, unsigned bytes) {
      EXPECT_GE(from, image.base);
      EXPECT_EQ(bytes, 4u);
      ++count;
    });
    return count;
  };
  EXPECT_EQ(reads(1, 1), 4);
  EXPECT_EQ(reads(0.5f, 1), 2) << "a texel of weight zero is not read";
  EXPECT_EQ(reads(0.5f, 0.5f), 1);
}

TEST(TextureFetch, GatherGoesRoundTheFourTexels) {
  std::vector<float> plane = {0, 4, 8, 12};
  Coordinates place;
  place.dimensions = 2;
  place.place = {1, 1, 0};
  Texel texel = gather(imageOf(plane, 2, 2, ChannelKind::Float), {}, place, 0, [](auto, auto) {});
  EXPECT_EQ(std::bit_cast<float>(texel.words[0]), 8);
  EXPECT_EQ(std::bit_cast<float>(texel.words[1]), 12);
  EXPECT_EQ(std::bit_cast<float>(texel.words[2]), 4);
  EXPECT_EQ(std::bit_cast<float>(texel.words[3]), 0);
}

TEST(TextureFetch, CubeDirectionsHitTheirFaces) {
  EXPECT_EQ(cubePlace(1, 0, 0).face, 0);
  EXPECT_EQ(cubePlace(-2, 1, 0).face, 1);
  EXPECT_EQ(cubePlace(0, 3, 1).face, 2);
  EXPECT_EQ(cubePlace(0, -3, 1).face, 3);
  EXPECT_EQ(cubePlace(0.5f, 0, 1).face, 4);
  EXPECT_EQ(cubePlace(0.5f, 0, -1).face, 5);
  CubePlace middle = cubePlace(1, 0, 0);
  EXPECT_EQ(middle.s, 0.5f);
  EXPECT_EQ(middle.t, 0.5f);
  CubePlace corner = cubePlace(1, 1, -1); // +x: s runs against z, t against y
  EXPECT_EQ(corner.s, 1);
  EXPECT_EQ(corner.t, 0);
}

} // namespace
