// Arithmetic that wraps: what a proof takes for granted of it is named, and is nothing that every thread
// which comes there refutes.
#include "analyzed.h"

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
