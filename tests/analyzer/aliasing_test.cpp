// Parameters that may lead to one buffer.
#include "analyzed.h"

#include <gmock/gmock.h>

namespace kcheck::analyzer {
namespace {

using testing::HasSubstr;

// The same buffer twice: what is race-free for distinct arrays is not.
TEST(Aliasing, SameBufferForTwoParameters) {
  Analyzed same(R"(
#include <cuda_runtime.h>
__global__ void shift(const int* in, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i + 1];
}
int main() {
  int *a;
  cudaMalloc(&a, 1024 * sizeof(int));
  shift<<<4, 64>>>(a, a);
})");
  EXPECT_EQ(same.races("shift"), Answer::Refuted);
}

TEST(Aliasing, DistinctBuffersAndTheOptionThatTheyMayOverlap) {
  const char* text = R"(
#include <cuda_runtime.h>
__global__ void shift(const int* in, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i + 1];
})";
  Analyzed distinct(text, Analyzed::launch(4, 64));
  EXPECT_EQ(distinct.races("shift"), Answer::Proved);
  EXPECT_THAT(distinct.property("shift", Property::RaceFree).assumptions,
              testing::Contains(HasSubstr("do not overlap")));
  Options options = Analyzed::launch(4, 64);
  options.mayAlias = true;
  Analyzed overlapping(text, options);
  EXPECT_NE(overlapping.races("shift"), Answer::Proved);
}

} // namespace
} // namespace kcheck::analyzer
