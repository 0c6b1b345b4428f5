// What the static pass takes for granted of claims, tickets and loops is not so in the wrong twins of the
// kernels that it proves by it: none of them is ever proved, whether a finding tells of it or not.
#include "wrong_kernels.h"

namespace kcheck::analyzer {
namespace {

class WrongKernels : public testing::TestWithParam<const char*> {};

TEST_P(WrongKernels, AreNeverProved) {
  const std::string text = fixture(GetParam());
  const std::vector<std::string> wrong = wrongKernels(text);
  ASSERT_FALSE(wrong.empty());
  Analyzed program(text, Analyzed::launch(4, 64));
  for (const std::string& kernel : wrong) EXPECT_NE(program.races(kernel), Answer::Proved) << kernel;
}

INSTANTIATE_TEST_SUITE_P(Static, WrongKernels,
                         testing::Values("claims.cu", "counted_places.cu", "locks_given_back.cu",
                                         "neighbours.cu", "steps.cu", "tickets.cu", "warp_queues.cu"));

TEST(SharedQueues, AreOpenWhereTheyMayBeTooSmall) {
  Analyzed program(R"(
__device__ int in[128];
extern "C" __global__ void small(int*) {
  __shared__ int queue[63], fill;
  if (threadIdx.x == 0) fill = 0;
  __syncthreads();
  queue[atomicAdd(&fill, 1)] = threadIdx.x;
}
extern "C" __global__ void drawnTwice(int*) {
  __shared__ int queue[64], fill;
  if (threadIdx.x == 0) fill = 0;
  __syncthreads();
  if (in[threadIdx.x] > 0) queue[atomicAdd(&fill, 1)] = threadIdx.x;
  __syncthreads();
  if (in[threadIdx.x + 64] > 0) queue[atomicAdd(&fill, 1)] = threadIdx.x;
}
extern "C" __global__ void setBehind(int*) {
  __shared__ int queue[64], fill;
  queue[atomicAdd(&fill, 1)] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) fill = 0;
}
extern "C" __global__ void drawnInRounds(int* out) {
  __shared__ int queue[64], fill;
  if (threadIdx.x == 0) fill = 0;
  __syncthreads();
  for (int i = 0; i < *out; ++i) queue[atomicAdd(&fill, 1)] = threadIdx.x;
}
)",
                   Analyzed::launch(1, 64));
  for (const char* kernel : {"small", "drawnTwice", "setBehind", "drawnInRounds"})
    EXPECT_NE(program.property(kernel, Property::InBounds).answer, Answer::Proved) << kernel;
}

TEST(OwnPlaces, AreOpenWhereOthersWriteThem) {
  Analyzed program(R"(
extern "C" __global__ void exchanged(int* out) {
  __shared__ int place[64];
  int t = threadIdx.x;
  place[t] = blockIdx.x * 64 + t;
  __syncwarp();
  if (t % 2 == 0) place[t + 1] = blockIdx.x * 64 + t;
  __syncthreads();
  out[place[t]] = t;
}
extern "C" __global__ void behindAnother(int* out) {
  __shared__ int place[64];
  int t = threadIdx.x;
  place[t] = blockIdx.x * 64 + t;
  __syncthreads();
  place[63 - t] = blockIdx.x * 64;
  __syncthreads();
  out[place[t]] = t;
}
)",
                   Analyzed::launch(4, 64));
  for (const char* kernel : {"exchanged", "behindAnother"})
    EXPECT_NE(program.races(kernel), Answer::Proved) << kernel;
}

/// Two threads find the same at one place: that they do not is no witness.
TEST(FoundAtLaunch, IsOneThingAtOnePlace) {
  Analyzed program(R"(
extern "C" __global__ void ofBlock(int* g) {
  int v = g[blockIdx.x];
  if (v > 0) __syncthreads();
  if (threadIdx.x == 0) g[gridDim.x + blockIdx.x] = v;
}
extern "C" __global__ void ofThread(int* g) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = g[i];
  if (v > 0) __syncthreads();
  g[i] = v;
}
)",
                   Analyzed::launch(4, 64));
  EXPECT_NE(program.property("ofBlock", Property::BarriersUniform).answer, Answer::Refuted);
  EXPECT_EQ(program.property("ofThread", Property::BarriersUniform).answer, Answer::Refuted);
}

TEST(HiddenShapes, AreTakenAsFlatAndSaidToBe) {
  const Analyzed analyzed(R"(
#include <cuda_runtime.h>
dim3 shapeFor(int n);
extern "C" __global__ void k(int* x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
void launch(int* x, int n) { k<<<shapeFor(n), 256>>>(x); }
)");
  const PropertyResult& races = analyzed.property("k", Property::RaceFree);
  EXPECT_EQ(races.answer, Answer::Proved);
  EXPECT_NE(std::find(races.assumptions.begin(), races.assumptions.end(),
                      "the grid of the launch in line 5 is one block high and deep"),
            races.assumptions.end())
      << testing::PrintToString(races.assumptions);
  EXPECT_TRUE(analyzed.analysis.provedSafe.empty()) << "the run has to look: the grid may be higher";
}

TEST(HiddenShapes, KnownOnesNeedNoAssumption) {
  const Analyzed analyzed(R"(
#include <cuda_runtime.h>
extern "C" __global__ void k(int* x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
void launch(int* x, int n) { k<<<(n + 255) / 256, 256>>>(x); }
)");
  const PropertyResult& races = analyzed.property("k", Property::RaceFree);
  EXPECT_EQ(races.answer, Answer::Proved);
  for (const std::string& assumption : races.assumptions)
    EXPECT_EQ(assumption.find("is one block"), std::string::npos) << assumption;
}

} // namespace
} // namespace kcheck::analyzer
