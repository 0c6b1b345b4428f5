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
                         testing::Values("claims.cu", "counted_places.cu", "neighbours.cu", "steps.cu",
                                         "tickets.cu", "warp_queues.cu"));

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
