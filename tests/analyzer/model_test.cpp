// What the model says of a kernel, by its dump: phases, closed forms of loops, places of pointers, unrolled
// loops, assumptions.
#include "analyzed.h"

#include <gmock/gmock.h>

namespace kcheck::analyzer {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string modelOf(const std::string& body, Options options = Analyzed::launch(4, 64)) {
  return Analyzed("#include <cuda_runtime.h>\n" + body, options).model;
}

TEST(Model, PhasesBeginAtTheEntryAndBehindEachBarrier) {
  std::string model = modelOf(R"(__global__ void k(int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x];
})");
  EXPECT_THAT(model, HasSubstr("from kernel entry\n    line 4 write: s[threadIdx.x * 4] 4 bytes"));
  EXPECT_THAT(model, HasSubstr("from barrier at line 5\n    line 6 read: s[(63 - threadIdx.x) * 4] 4 bytes"));
  EXPECT_THAT(model, HasSubstr("shared s, 256 bytes, written"));
}

TEST(Model, APhaseGoesOnInTheNextIteration) {
  std::string model = modelOf(R"(__global__ void k(int* out, int n) {
  __shared__ int s[64];
  for (int i = 0; i < n; ++i) {
    s[threadIdx.x] = i;
    __syncthreads();
    out[threadIdx.x] = s[0];
  }
})");
  // Behind the barrier of round k: the read of round k, and the write of round k + 1.
  std::string phase = model.substr(model.find("from barrier at line 6"));
  phase = phase.substr(0, phase.find("phases of the grid"));
  EXPECT_THAT(phase, HasSubstr("line 7 read: s[0]"));
  EXPECT_THAT(phase, HasSubstr("line 5 write: s[threadIdx.x * 4] 4 bytes\n"));
  EXPECT_THAT(phase, HasSubstr("value iteration (line 4) + 1"));
}

TEST(Model, SumsAndChainsInClosedForm) {
  std::string model = modelOf(R"(__global__ void k(int* a, int* b, int* c) {
  for (int i = 0, j = 1, p = 0; i < 10; i += 3, j *= 2, p = 1 - p) {
    a[i] = 1;
    b[j] = 1;
    c[p] = 1;
  }
})");
  EXPECT_THAT(model, HasSubstr("a[iteration (line 3) * 3 * 4]"));
  EXPECT_THAT(model, HasSubstr("iteration (line 3) == 1 ? 2 : iteration (line 3) == 2 ? 4"));
  EXPECT_THAT(model, HasSubstr("(iteration (line 3) & 1) == 0 ? 0 : 1"));
  EXPECT_THAT(model, HasSubstr("if iteration (line 3) < 4"));
}

TEST(Model, VariablesAreThoseOfTheRoundThatTheAccessIsIn) {
  std::string model = modelOf(R"(__global__ void k(int* marks, int* values, unsigned mask) {
  for (unsigned p = 0; p <= mask; ++p) {
    if (marks[(threadIdx.x + p) & mask] == 7) {
      values[p] = 1;
      return;
    }
  }
})");
  const std::string access = model.substr(model.find("line 5 write: values"));
  EXPECT_THAT(access.substr(0, access.find("phases of the grid")),
              HasSubstr("p = last iteration (line 3)'\n"));
}

TEST(Model, ShortLoopsWithoutClosedFormAreRunOneByOne) {
  std::string model = modelOf(R"(__global__ void k(int* out) {
  int r = 0;
  for (int bit = 0; bit < 3; ++bit) r |= (threadIdx.x >> bit & 1) << (2 - bit);
  out[r] = 1;
})");
  EXPECT_THAT(model, Not(HasSubstr("after the loop")));
}

TEST(Model, WhatALoopLeavesBehindIsDefinedByItsExit) {
  std::string model = modelOf(R"(__global__ void k(int* out, int n) {
  int i = threadIdx.x;
  while (i < n) i += 64;
  out[i] = 1;
})");
  EXPECT_THAT(model, HasSubstr("last iteration (line 4)"));
  EXPECT_THAT(model, HasSubstr("n <= threadIdx.x + last iteration (line 4) * 64"));
}

TEST(Model, ContentThatNobodyWritesIsAFunctionOfTheAddress) {
  std::string model = modelOf(R"(__global__ void k(const int* index, int* out) {
  out[index[threadIdx.x]] = index[threadIdx.x] + 1;
})");
  EXPECT_THAT(model, HasSubstr("out[index(threadIdx.x * 4) * 4]"));
  EXPECT_THAT(model, HasSubstr("value index(threadIdx.x * 4) + 1"));
}

TEST(Model, StructParametersLeadToMemoryOfTheirOwn) {
  std::string model = modelOf(R"(struct P { int* a; int n; int* b; };
__global__ void k(P p) { if (threadIdx.x < p.n) p.a[threadIdx.x] = p.b[threadIdx.x]; })");
  EXPECT_THAT(model, HasSubstr("overlaps no other array"));
  EXPECT_THAT(model, Not(HasSubstr("unknown memory")));
}

TEST(Model, DeadReadsAreStillThere) {
  std::string model = modelOf("__global__ void k(int* x) { int unused = x[threadIdx.x]; (void)unused; }");
  EXPECT_THAT(model, HasSubstr("line 2 read: x[threadIdx.x * 4]"));
}

TEST(Findings, ThreadsOfALostUpdate) {
  Analyzed counter("#include <cuda_runtime.h>\n__global__ void count(int* c) { c[0] += 1; }\n",
                   Analyzed::launch(4, 64));
  // The read and the write of the statement, and its write twice; the report joins them.
  ASSERT_EQ(counter.findings("count"),
            (std::vector<std::string>{"race-global@2 proved", "race-global@2 proved"}));
  bool secondIsUpdate = counter.analysis.findings[1].kind == RaceKind::ReadWrite;
  const Finding& finding = counter.analysis.findings[secondIsUpdate];
  EXPECT_EQ(finding.rule, "race-global");
  EXPECT_EQ(finding.verdict, Verdict::Proved);
  EXPECT_EQ(finding.message, "threads update `c[0]` without ordering, so updates are lost");
  EXPECT_EQ(finding.hint, "atomicAdd(&c[0], ...)");
  EXPECT_EQ(finding.scope, RaceScope::InterBlock);
  ASSERT_EQ(finding.accesses.size(), 2u);
  EXPECT_TRUE(finding.accesses[0].block != finding.accesses[1].block);
}

TEST(Findings, WhatIsReadInTheRoundAfterWantsABarrierInEachRound) {
  Analyzed analyzed(R"(#include <cuda_runtime.h>
__global__ void rounds(float* out, int n) {
  __shared__ float b[2][64];
  int t = threadIdx.x;
  b[0][t] = t;
  __syncthreads();
  for (int r = 0; r < n; ++r) b[(r + 1) & 1][t] = b[r & 1][63 - t];
  __syncthreads();
  out[t] = b[0][t];
})",
                    Analyzed::launch(1, 64));
  ASSERT_FALSE(analyzed.analysis.findings.empty());
  EXPECT_EQ(analyzed.analysis.findings[0].hint, "__syncthreads() at the end of each round of the loop");
}

TEST(Findings, MemoryOfABadAccess) {
  Analyzed analyzed(R"(#include <cuda_runtime.h>
__global__ void fill(int* x) { x[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
int main() {
  int* x;
  cudaMalloc(&x, 1000 * sizeof(int));
  fill<<<8, 128>>>(x);
})");
  ASSERT_EQ(analyzed.findings("fill"), std::vector<std::string>{"out-of-bounds@2 proved"});
  const MemoryFact& memory = *analyzed.analysis.findings[0].memory;
  EXPECT_EQ(memory.size, 4000u);
  EXPECT_GE(memory.offset, 4000);
  EXPECT_EQ(memory.allocatedAt.line, 5u);
}

TEST(Properties, AnyLaunchComesFirst) {
  Analyzed analyzed(R"(#include <cuda_runtime.h>
__global__ void own(int* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = i;
}
__global__ void oneBlock(int* x) { x[threadIdx.x] = blockIdx.x; }
int main() {
  int* x;
  cudaMalloc(&x, 4096);
  own<<<8, 128>>>(x, 1000);
  oneBlock<<<1, 128>>>(x);
})");
  EXPECT_EQ(analyzed.property("own", Property::RaceFree).holdsFor, "any one-dimensional launch");
  EXPECT_EQ(analyzed.races("oneBlock"), Answer::Proved) << "for the launch that there is";
  EXPECT_THAT(analyzed.property("oneBlock", Property::RaceFree).holdsFor, HasSubstr("<<<1, 128>>>"));
  ASSERT_EQ(analyzed.analysis.findings.size(), 1u) << "what two blocks would do";
  EXPECT_EQ(analyzed.analysis.findings[0].kernel, "oneBlock(int *)");
  EXPECT_EQ(analyzed.analysis.findings[0].verdict, Verdict::Possible);
  EXPECT_EQ(analyzed.analysis.findings[0].severity, Severity::Note);
  EXPECT_EQ(analyzed.bounds("own"), Answer::Proved);
}

TEST(Properties, RacesAreOpenWhereABarrierIsMissed) {
  Analyzed analyzed(R"(#include <cuda_runtime.h>
__global__ void k(int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  if (threadIdx.x & 1) __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x];
  __syncthreads();
})",
                    Analyzed::launch(4, 64));
  EXPECT_EQ(analyzed.barriers("k"), Answer::Refuted);
  EXPECT_EQ(analyzed.races("k"), Answer::Unknown);
  EXPECT_THAT(analyzed.property("k", Property::RaceFree).reason, HasSubstr("line 5"));
}

} // namespace
} // namespace kcheck::analyzer
