// How sure a race is whose witness takes a column beyond the rows.
#include "analyzed.h"

namespace kcheck::analyzer {
namespace {

const char* kRows = R"(
#include <cuda_runtime.h>
__global__ void without(float* d, int n, int k) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
  if (j < n && j != k) d[i * n + j] += d[i * n + k];
}
__global__ void with(float* d, int n, int k) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
  if (j < n) d[i * n + j] += d[i * n + k];
}
__global__ void below(float* d, int n, int k) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
  if (j < n && j != k) d[i * n + j] += d[i * n + n + k];
}
)";

TEST(Columns, BeyondTheRowsMakeARacePossible) {
  const Analyzed analyzed(kRows);
  ASSERT_FALSE(analyzed.analysis.findings.empty());
  for (const Finding& finding : analyzed.analysis.findings) {
    const bool isWithout = finding.kernel.starts_with("without(");
    EXPECT_EQ(finding.verdict, isWithout ? kcheck::Verdict::Possible : kcheck::Verdict::Proved)
        << finding.kernel;
  }
  EXPECT_EQ(analyzed.races("without"), Answer::Unknown);
  EXPECT_EQ(analyzed.races("with"), Answer::Refuted);
  EXPECT_EQ(analyzed.races("below"), Answer::Refuted);
}

} // namespace
} // namespace kcheck::analyzer
