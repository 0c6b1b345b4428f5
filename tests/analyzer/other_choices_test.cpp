// What goes wrong in a launch of kcheck's own choice is sure where it does in others too.
#include "analyzed.h"

#include <gtest/gtest.h>

namespace kcheck::analyzer {
namespace {

const char* const kKernels = R"(
__global__ void anywhere(const float* in, float* out) {
  __shared__ float s[128];
  s[threadIdx.x] = in[threadIdx.x];
  out[threadIdx.x] = s[127 - threadIdx.x];
}
__global__ void amongWarps(const int* in, int* out) {
  int sum = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) out[blockIdx.x] = sum;
}
__global__ void amongMany(const int* keys, int* bins) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  bins[i % 256] += keys[i];
}
__global__ void forSome(const int* in, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 0;
  if (threadIdx.x + 1 < 100) __syncthreads();
  out[i] += in[i];
}
__global__ void inHigherGrids(const float* in, float* a, float* b) {
  const int x = blockIdx.x * 64 + threadIdx.x;
  if (blockIdx.y == 0) a[x] = in[x];
  else b[x] += in[x];
}
__global__ void inWiderRows(const float* in, float* out) {
  __shared__ float m[8][17];
  const int x = threadIdx.x, y = threadIdx.y;
  m[y][x] = x < 8 ? in[blockIdx.x * 64 + y * 8 + x] : 0.f;
  __syncthreads();
  if (x >= 8) out[blockIdx.x * 64 + y * 8 + x - 8] = m[y][x - 8];
}
)";

TEST(OtherChoices, WhatHappensInSomeLaunchesAloneIsPossible) {
  const Analyzed analyzed(kKernels);
  std::map<std::string, const Finding*> worst;
  for (const Finding& finding : analyzed.analysis.findings) {
    const Finding*& known = worst[finding.kernel.substr(0, finding.kernel.find('('))];
    if (!known || finding.severity > known->severity) known = &finding;
  }
  ASSERT_EQ(worst.size(), 6u);
  for (const char* sure : {"anywhere", "amongWarps", "amongMany", "forSome"}) {
    EXPECT_EQ(worst[sure]->severity, Severity::Error) << sure;
    EXPECT_EQ(worst[sure]->verdict, kcheck::Verdict::Proved) << sure;
  }
  for (const auto& [open, well] :
       {std::pair{"inHigherGrids", "<<<(4,2), 64>>>"}, std::pair{"inWiderRows", "<<<4, (16,8)>>>"}}) {
    EXPECT_EQ(worst[open]->severity, Severity::Warning) << open;
    EXPECT_EQ(worst[open]->verdict, kcheck::Verdict::Possible) << open;
    EXPECT_TRUE(worst[open]->reason.ends_with(std::string("and nothing goes wrong for ") + well))
        << worst[open]->reason;
  }
}

} // namespace
} // namespace kcheck::analyzer
