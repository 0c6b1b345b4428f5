// What must not be proved is not, and what stays unknown says why.
#include "analyzed.h"
#include "unproved_kernels.h"

#include <gmock/gmock.h>

namespace kcheck::analyzer {
namespace {

using testing::HasSubstr;

// One test for all of them, so that they are analysed once.
TEST(Honesty, NothingIsProvedWrongly) {
  const Analyzed analyzed(kUnprovedKernels, Analyzed::launch(4, 64));
  for (const char* kernel : {"twoCounters",
                             "counterAlsoSet",
                             "halfOfAWord",
                             "roomStartsBelow",
                             "lastBlockOfFewer",
                             "ticketsTooClose",
                             "ticketsWrap",
                             "ticketsOfBlocks",
                             "narrowTicket",
                             "throughParameter",
                             "recursion",
                             "noBody",
                             "assemblyStore",
                             "strangeAssembly",
                             "carryFromNowhere",
                             "carryOfStrangeAssembly",
                             "carryThatNobodyAddsUp",
                             "stepFromMemory",
                             "valueOfLastRound",
                             "loopNotReached",
                             "waitsForFlag",
                             "loadedPointers",
                             "changedPointers",
                             "list",
                             "partialBarrier",
                             "halfSyncwarp",
                             "unsignedStride",
                             "sharedPointerInShared",
                             "alignedByBits",
                             "tableOfShared",
                             "claimGivenBack",
                             "claimOfEachBlock",
                             "ticketsOfRounds",
                             "ticketsBeforeAndAfterReset"}) {
    const PropertyResult& answer = analyzed.property(kernel, Property::RaceFree);
    EXPECT_NE(answer.answer, Answer::Proved) << kernel;
    if (answer.answer == Answer::Unknown) {
      EXPECT_FALSE(answer.reason.empty()) << kernel;
    }
  }
  EXPECT_NE(analyzed.barriers("shuffledBound"), Answer::Proved);
  EXPECT_NE(analyzed.barriers("leavesUnderDivergence"), Answer::Proved)
      << "an exit condition is uniform, but who comes to it is not";
  auto reason = [&](const char* kernel) { return analyzed.property(kernel, Property::RaceFree).reason; };
  EXPECT_THAT(reason("recursion"), HasSubstr("recursive"));
  EXPECT_THAT(reason("noBody"), HasSubstr("no body"));
  EXPECT_THAT(reason("strangeAssembly"), HasSubstr("bulk.move"));
  EXPECT_THAT(reason("throughParameter"), HasSubstr("pointer"));
}

TEST(Honesty, BarriersOfSomeThreadsAreNotProved) {
  const Analyzed analyzed(R"(
#include <cuda_runtime.h>
extern "C" __global__ void k(const int* in, int* out) {
  __shared__ int tile[32];
  if (threadIdx.x < 32) {
    tile[threadIdx.x] = in[threadIdx.x]; // nobody arrives at barrier 1
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[threadIdx.x - 32] = tile[63 - threadIdx.x];
  }
}
)");
  const PropertyResult barriers = analyzed.property("k", Property::BarriersUniform);
  EXPECT_EQ(barriers.answer, Answer::Unknown);
  EXPECT_THAT(barriers.reason, HasSubstr("line 8: whether all threads come"));
}

TEST(Honesty, BarriersByMemoryThatThreadsRaceForAreNotProved) {
  const auto barriers = [](const std::string& counter) {
    const Analyzed analyzed("#include <cuda_runtime.h>\n"
                            "extern \"C\" __global__ void k(int* count, float* out) {\n"
                            "  while (count[" +
                            counter + "] < 10) {\n" +
                            "    out[blockIdx.x * blockDim.x + threadIdx.x] += 1;\n"
                            "    __syncthreads();\n"
                            "    if (threadIdx.x == 0) count[" +
                            counter + "] += 1;\n    __syncthreads();\n  }\n}\n");
    return analyzed.property("k", Property::BarriersUniform);
  };
  EXPECT_EQ(barriers("blockIdx.x").answer, Answer::Proved);
  EXPECT_EQ(barriers("0").answer, Answer::Unknown);
  EXPECT_THAT(barriers("0").reason, HasSubstr("line 3: who comes to the barrier in line"));

  const Analyzed summed(R"(
#include <cuda_runtime.h>
extern "C" __global__ void k(int* flags, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum += flags[i];
  if (sum > 3) __syncthreads();
  __syncthreads();
  if (blockIdx.x == 1 && threadIdx.x == 0) flags[0] = 1;
}
)");
  EXPECT_EQ(summed.property("k", Property::BarriersUniform).answer, Answer::Unknown)
      << "carried out of a loop";
}

} // namespace
} // namespace kcheck::analyzer
