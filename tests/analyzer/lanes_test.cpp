// What shuffles hand on, where the lane that they read may be missing.
#include "analyzed.h"

namespace kcheck::analyzer {
namespace {

/// A lane that is read by its number has to be there.
TEST(Shuffles, FromALaneThatTheLastWarpLacks) {
  const char* text = R"(
#include <cuda_runtime.h>
__global__ void queue(int* count, int* out) {
  int place = atomicAdd(count, 32);
  place = __shfl_sync(~0u, place, 20);
  out[place + (threadIdx.x & 31)] = threadIdx.x;
})";
  for (const std::uint32_t block : {53, 64}) {
    const Analyzed analyzed(text, Analyzed::launch(4, block));
    EXPECT_EQ(analyzed.races("queue"), Answer::Proved) << block;
    EXPECT_EQ(analyzed.barriers("queue"), Answer::Proved) << block;
  }
  for (const std::uint32_t block : {16, 20, 48, 52}) {
    const Analyzed analyzed(text, Analyzed::launch(4, block));
    EXPECT_NE(analyzed.races("queue"), Answer::Proved) << block;
    EXPECT_EQ(analyzed.barriers("queue"), Answer::Unknown) << block;
  }
}

/// Lanes that do not come to a collective and meet the others nowhere else.
TEST(Collectives, OfLanesOfWhichOthersLeave) {
  const Analyzed analyzed(R"(
#include <cuda_runtime.h>
__global__ void othersGoOn(int* y) {
  int t = threadIdx.x, v = t;
  if (t & 1) v += __ballot_sync(~0u, v > 8);
  y[blockIdx.x * 64 + t] = v;
}
__global__ void othersLeave(int* y, int n) {
  int t = blockIdx.x * 64 + threadIdx.x;
  if (t < n) y[t] = __ballot_sync(~0u, t > 8);
}
__global__ void othersHaveLeft(int* y, int n) {
  int t = blockIdx.x * 64 + threadIdx.x;
  if (t >= n) return;
  y[t] = __any_sync(~0u, y[t]);
}
__global__ void readsWhoHasLeft(int* y, int n) {
  int t = blockIdx.x * 64 + threadIdx.x;
  if (t < n) y[t] = __shfl_down_sync(~0u, t, 1);
}
__global__ void readsWholeWarps(int* y, int n) {
  int t = blockIdx.x * 64 + threadIdx.x;
  if (int(blockIdx.x) < n) y[t] = __shfl_down_sync(~0u, t, 1);
}
)",
                          Analyzed::launch(4, 64));
  EXPECT_EQ(analyzed.barriers("othersGoOn"), Answer::Refuted);
  EXPECT_EQ(analyzed.barriers("othersLeave"), Answer::Proved);
  EXPECT_EQ(analyzed.barriers("othersHaveLeft"), Answer::Proved);
  EXPECT_EQ(analyzed.barriers("readsWhoHasLeft"), Answer::Unknown);
  EXPECT_EQ(analyzed.barriers("readsWholeWarps"), Answer::Proved);
}

} // namespace
} // namespace kcheck::analyzer
