// Reads of what has no value yet.
#include "wrong_kernels.h"

#include <gmock/gmock.h>

namespace kcheck::analyzer {
namespace {

using testing::HasSubstr;

/// The wrong halves of fixtures/static/locals_written.cu, and shared memory that is read out of sight.
TEST(Initialization, NotProvedWhereSomePathReadsTooEarly) {
  const std::string text = fixture("locals_written.cu") + R"(
__global__ void throughAssembly(int* out) {
  __shared__ int tile[32];
  int v;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "l"(__cvta_generic_to_shared(&tile[threadIdx.x])));
  out[me()] = v;
}

__global__ void deadInSmallLaunches(int* out) {
  __shared__ int tile[2048];
  int v = 0;
  if (blockDim.x > 512) v = tile[threadIdx.x];
  out[me()] = v;
}
)";
  Analyzed analyzed(text, Analyzed::launch(4, 64));
  for (const char* kernel :
       {"oneArm", "oneMember", "throughHelper", "halfOfNumber", "notEveryRound", "arraySum", "innerField"}) {
    const PropertyResult& answer = analyzed.property(kernel, Property::Initialized);
    EXPECT_EQ(answer.answer, Answer::Unknown) << kernel;
    EXPECT_FALSE(answer.reason.empty()) << kernel;
  }
  EXPECT_EQ(analyzed.property("throughAssembly", Property::Initialized).answer, Answer::Refuted);
  const PropertyResult& small = analyzed.property("deadInSmallLaunches", Property::Initialized);
  EXPECT_EQ(small.answer, Answer::Proved);
  EXPECT_EQ(small.holdsFor, "<<<4, 64>>>"); // and for no more than that
  EXPECT_THAT(analyzed.property("notEveryRound", Property::Initialized).reason, HasSubstr("`best`"));
}

/// A field is stored with what stands beside it in its word, as it was found.
TEST(Initialization, IsOfTheBitsThatAreStored) {
  Analyzed analyzed(R"(
struct Bits { unsigned a : 3, b : 13, c : 16; };
__global__ void other(int* p) {
  __shared__ Bits s[64];
  s[threadIdx.x].b = threadIdx.x;
  __syncthreads();
  p[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x].c;
}
__global__ void wholeFirst(int* p) {
  __shared__ unsigned s[64];
  s[threadIdx.x] = 0;
  ((Bits*)s)[threadIdx.x].b = threadIdx.x;
  __syncthreads();
  p[blockIdx.x * 64 + threadIdx.x] = ((Bits*)s)[63 - threadIdx.x].c;
}
)",
                    Analyzed::launch(4, 64));
  EXPECT_EQ(analyzed.property("other", Property::Initialized).answer, Answer::Unknown);
  EXPECT_EQ(analyzed.property("wholeFirst", Property::Initialized).answer, Answer::Proved);
}

} // namespace
} // namespace kcheck::analyzer
