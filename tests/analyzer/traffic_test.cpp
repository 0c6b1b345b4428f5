// Memory traffic as the static pass computes it, in the profilers' own figures, and what it says of launches.
#include "analyzed.h"

#include <cmath>

namespace kcheck::analyzer {
namespace {

struct Figures {
  double loads = 0, stores = 0; ///< efficiency in percent
  double sectors = 0;           ///< per request, of the loads
  unsigned ways = 0;
  std::uint64_t requests = 0;
};

Figures figures(const Analyzed& analyzed, unsigned line) {
  Figures result;
  for (const Metric& metric : analyzed.analysis.metrics) {
    if (metric.where.line != line) continue;
    EXPECT_EQ(metric.source, Source::Static);
    if (metric.space == MemorySpace::Shared) result.ways = std::max(result.ways, metric.bankWays);
    if (metric.space != MemorySpace::Global) continue;
    if (metric.access == AccessKind::Write) result.stores = metric.efficiency();
    if (metric.access != AccessKind::Read) continue;
    result.loads = metric.efficiency();
    result.sectors = metric.sectorsPerRequest();
    result.requests += metric.requests;
  }
  return result;
}

std::string program(const std::string& kernel, const std::string& launch) {
  return kernel +
         "\nint main() {\n  float *a, *b;\n  cudaMalloc(&a, 4 << 20);\n  cudaMalloc(&b, 4 << 20);\n  " +
         launch + "\n}\n";
}

class Strides : public testing::TestWithParam<std::pair<int, double>> {};

TEST_P(Strides, CostSectors) {
  const auto [stride, sectors] = GetParam();
  const Analyzed analyzed(program("__global__ void k(float* b, const float* a, int s) {\n"
                                  "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                  "  b[i] = a[i * s];\n" // line 3
                                  "}",
                                  "k<<<64, 128>>>(b, a, " + std::to_string(stride) + ");"));
  EXPECT_DOUBLE_EQ(figures(analyzed, 3).sectors, sectors);
  EXPECT_DOUBLE_EQ(figures(analyzed, 3).loads, 400 / sectors);
  EXPECT_DOUBLE_EQ(figures(analyzed, 3).stores, 100);
  EXPECT_EQ(figures(analyzed, 3).requests, 256u);
}
INSTANTIATE_TEST_SUITE_P(Traffic, Strides,
                         testing::Values(std::pair(1, 4.0), std::pair(2, 8.0), std::pair(4, 16.0),
                                         std::pair(8, 32.0), std::pair(32, 32.0)));

TEST(Traffic, OffsetsCostAFifthSector) {
  const Analyzed analyzed(program("__global__ void k(float* b, const float* a) {\n"
                                  "  b[threadIdx.x] = a[threadIdx.x + 1];\n"
                                  "}",
                                  "k<<<1, 32>>>(b, a);"));
  EXPECT_DOUBLE_EQ(figures(analyzed, 2).sectors, 5);
  EXPECT_DOUBLE_EQ(figures(analyzed, 2).loads, 80);
}

TEST(Traffic, LoopsCountEveryRound) {
  const Analyzed analyzed(program("__global__ void k(float* b, const float* a, int n) {\n"
                                  "  float sum = 0;\n"
                                  "  for (int j = 0; j < n; ++j) sum += a[threadIdx.x * n + j];\n"
                                  "  b[threadIdx.x] = sum;\n"
                                  "}",
                                  "k<<<1, 64>>>(b, a, 100);"));
  EXPECT_DOUBLE_EQ(figures(analyzed, 3).sectors, 32);
  EXPECT_DOUBLE_EQ(figures(analyzed, 3).loads, 12.5);
  EXPECT_EQ(figures(analyzed, 3).requests, 200u);
}

TEST(Traffic, GuardsAndStridesOfTheGrid) {
  const Analyzed analyzed(program("__global__ void k(float* b, const float* a, int n) {\n"
                                  "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;\n"
                                  "       i += gridDim.x * blockDim.x)\n"
                                  "    b[i] = a[i];\n"
                                  "}",
                                  "k<<<4, 64>>>(b, a, 1000);"));
  EXPECT_EQ(figures(analyzed, 4).requests, 32u); // 31 full warps and one of 8 lanes
  EXPECT_DOUBLE_EQ(figures(analyzed, 4).loads, 100);
}

TEST(Traffic, BanksOfATile) {
  const auto column = [](const char* pitch) {
    const Analyzed analyzed(program(std::string("__global__ void k(float* b) {\n"
                                                "  __shared__ float t[32][") +
                                        pitch +
                                        "];\n"
                                        "  t[threadIdx.y][threadIdx.x] = 1;\n"
                                        "  __syncthreads();\n"
                                        "  b[threadIdx.y * 32 + threadIdx.x] = t[threadIdx.x][threadIdx.y];\n"
                                        "}",
                                    "k<<<1, dim3(32, 32)>>>(b);"));
    return figures(analyzed, 5).ways;
  };
  EXPECT_EQ(column("32"), 32u);
  EXPECT_EQ(column("33"), 1u);
  EXPECT_EQ(column("34"), 2u);
}

TEST(Traffic, ContentOfMemoryGivesNoFigures) {
  const Analyzed analyzed(program("__global__ void k(float* b, const int* a) {\n"
                                  "  b[a[threadIdx.x]] = 1;\n"
                                  "}",
                                  "k<<<1, 32>>>(b, (const int*)a);"));
  EXPECT_DOUBLE_EQ(figures(analyzed, 2).loads, 100);
  EXPECT_DOUBLE_EQ(figures(analyzed, 2).stores, 0);
}

TEST(Traffic, NotesSayWhy) {
  const Analyzed analyzed(program("__global__ void k(float* b, const float* a, int n) {\n"
                                  "  int row = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                  "  float sum = 0;\n"
                                  "  for (int j = 0; j < n; ++j) sum += a[row * n + j];\n"
                                  "  b[row] = sum;\n"
                                  "}",
                                  "k<<<4, 128>>>(b, a, 512);"));
  ASSERT_EQ(analyzed.findings("k"), std::vector<std::string>{"uncoalesced@4 proved"});
  const Finding& note = analyzed.analysis.findings.front();
  ASSERT_EQ(note.notes.size(), 1u);
  EXPECT_EQ(note.notes[0].message,
            "consecutive threads are 4*n bytes apart: threadIdx.x is in the row index");
}

std::vector<std::string> coverage(const std::string& body, const std::string& launch) {
  std::vector<std::string> found;
  const Analyzed analyzed(
      "__global__ void k(int* a, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  " + body +
      "\n}\nint main() {\n  int* a;\n  cudaMalloc(&a, 4096 * sizeof(int));\n  " + launch + "\n}\n");
  for (const Finding& finding : analyzed.analysis.findings)
    if (finding.rule == "launch-coverage") found.push_back(finding.message);
  return found;
}

TEST(Coverage, FewerThreadsThanElements) {
  EXPECT_EQ(coverage("a[i] = i;", "k<<<16, 128>>>(a, 4096);"),
            std::vector<std::string>{
                "16 blocks of 128 threads write 2048 of the 4096 elements of `a`, and no launch the rest"});
  EXPECT_TRUE(coverage("a[i] = i;", "k<<<32, 128>>>(a, 4096);").empty());
  EXPECT_TRUE(
      coverage("for (; i < n; i += gridDim.x * blockDim.x) a[i] = i;", "k<<<16, 128>>>(a, 4096);").empty());
  EXPECT_TRUE(coverage("if (i < n) a[i] = i;", "k<<<16, 128>>>(a, 2000);").empty()); // asked for no more
  EXPECT_TRUE(coverage("a[i] = i;", "k<<<16, 128>>>(a, 0); k<<<16, 128>>>(a + 2048, 0);").empty());
}

TEST(Coverage, FarMoreThreadsThanElements) {
  EXPECT_EQ(coverage("if (i < n) a[i] = i;", "k<<<4096, 128>>>(a, 4096);"),
            std::vector<std::string>{"only 32 of 4096 blocks have anything to do"});
  EXPECT_TRUE(coverage("if (i < n) a[i] = i;", "k<<<33, 128>>>(a, 4096);").empty());
}

} // namespace
} // namespace kcheck::analyzer
