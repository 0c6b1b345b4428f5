// Arithmetic that wraps: what a proof takes for granted of it is named, and is nothing that every thread
// which comes there refutes.
#include "analyzed.h"

#include "report/assumptions.h"

#include <gmock/gmock.h>

namespace kcheck::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(Wrapping, ProductsOfIndicesAreNoMatterOfTheLaunch) {
  const Analyzed analyzed(R"(
#include <cuda_runtime.h>
__global__ void shifted(int* p) { p[(blockIdx.x * blockDim.x + threadIdx.x) << 20] = threadIdx.x; }
__global__ void plain(int* p) { p[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x; }
)");
  const PropertyResult& shifted = analyzed.property("shifted", Property::RaceFree);
  if (shifted.answer == Answer::Proved) {
    EXPECT_THAT(shifted.assumptions, Contains(HasSubstr("line 3 does not wrap")));
  }
  const PropertyResult& plain = analyzed.property("plain", Property::RaceFree);
  EXPECT_EQ(plain.answer, Answer::Proved);
  EXPECT_THAT(plain.assumptions, Not(Contains(HasSubstr("does not wrap"))));
}

TEST(Wrapping, MasksOfBlocksRestOnHowManyThereAre) {
  Options anyGrid;
  anyGrid.block = Extent{128, 1, 1};
  anyGrid.grid = Extent{std::nullopt, 1, 1};
  const Analyzed analyzed(R"(
#include <cuda_runtime.h>
__global__ void masked(int* p) {
  p[(size_t)(blockIdx.x & 0xffffff) * 128 + threadIdx.x % 128] = blockIdx.x;
}
__global__ void compared(int* p) {
  if (blockIdx.x >= 0x7000000) p[0] = blockIdx.x;
}
__global__ void whole(int* p) {
  if (threadIdx.x == 0) p[(size_t)blockIdx.x] = blockIdx.x;
}
)",
                          anyGrid);
  for (const char* kernel : {"masked", "compared", "whole"}) {
    const PropertyResult& races = analyzed.property(kernel, Property::RaceFree);
    EXPECT_EQ(races.answer, Answer::Proved) << kernel;
    const auto isSaid = Contains(std::string(kFewThreads));
    if (std::string(kernel) == "whole")
      EXPECT_THAT(races.assumptions, Not(isSaid));
    else
      EXPECT_THAT(races.assumptions, isSaid) << kernel;
  }
}

TEST(Wrapping, WhatOnlyHappensBehindAWrapIsNotProvedWithoutOne) {
  const Analyzed analyzed(R"(
#include <cuda_runtime.h>
__global__ void behind(char* p) {
  unsigned i = threadIdx.x;
  while ((int)i >= 0) i += 60;
  p[i - 0x80000000u] = threadIdx.x;
}
__global__ void below(char* p, unsigned n) {
  for (unsigned i = threadIdx.x; (int)i >= 0; i += 60)
    if ((int)(i + 0x7fffff00u) < 0) p[i & 63] = threadIdx.x;
}
__global__ void bytes(char* p) {
  for (unsigned char i = threadIdx.x; (signed char)i >= 0; i += 60) p[i & 15] = threadIdx.x;
}
)",
                          Analyzed::launch(4, 64));
  for (const char* kernel : {"behind", "below", "bytes"})
    EXPECT_NE(analyzed.races(kernel), Answer::Proved) << kernel;
}

} // namespace
} // namespace kcheck::analyzer
