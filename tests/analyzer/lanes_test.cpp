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
  EXPECT_EQ(Analyzed(text, Analyzed::launch(4, 64)).races("queue"), Answer::Proved);
  EXPECT_EQ(Analyzed(text, Analyzed::launch(4, 53)).races("queue"), Answer::Proved);
  for (const std::uint32_t block : {16, 20, 48, 52})
    EXPECT_NE(Analyzed(text, Analyzed::launch(4, block)).races("queue"), Answer::Proved) << block;
}

} // namespace
} // namespace kcheck::analyzer
