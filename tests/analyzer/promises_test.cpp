// What the content of an array, which nobody has promised anything about, makes of a race.
#include "analyzed.h"

#include <gmock/gmock.h>

namespace kcheck::analyzer {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

std::string hintOf(const Analyzed& analyzed, const std::string& kernel) {
  for (const Finding& finding : analyzed.analysis.findings)
    if (finding.kernel.starts_with(kernel + "(")) return finding.hint;
  return "no finding";
}

TEST(Promises, DecideWhatIsSure) {
  const Analyzed analyzed(R"(#include <cuda_runtime.h>
__global__ void scaleRows(float* values, const int* rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < n)
    for (int k = rows[r]; k < rows[r + 1]; ++k) values[k] *= 2;
}
__global__ void scaleClosedRows(float* values, const int* rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < n)
    for (int k = rows[r]; k <= rows[r + 1]; ++k) values[k] *= 2;
}
__global__ void markFirsts(int* start, const int* keys, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && (i == 0 || keys[i] != keys[i - 1])) start[keys[i]] = i;
}
__global__ void findStep(int* found, const int* values, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 1 < n && values[i] < 0 && values[i + 1] >= 0) *found = i;
}
__global__ void scatter(int* out, const int* to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[to[i]] = i;
}
)",
                          Analyzed::launch(4, 64));
  EXPECT_THAT(analyzed.findings("scaleRows"), Each("race-global@5 possible"));
  EXPECT_EQ(analyzed.races("scaleRows"), Answer::Unknown);
  EXPECT_THAT(hintOf(analyzed, "scaleRows"), HasSubstr("kcheck::ascending(rows,"));
  EXPECT_THAT(analyzed.findings("scaleClosedRows"), Each("race-global@10 proved"))
      << "rows that ascend have one element in common";
  EXPECT_THAT(analyzed.findings("markFirsts"), ElementsAre("race-global@14 possible"));
  EXPECT_THAT(analyzed.findings("findStep"), ElementsAre("race-global@18 proved"))
      << "the values decide who writes, not where";
  EXPECT_THAT(hintOf(analyzed, "findStep"), HasSubstr("kcheck::ascending(values,"));
  EXPECT_THAT(analyzed.findings("scatter"), ElementsAre("race-global@22 proved"));
  EXPECT_THAT(hintOf(analyzed, "scatter"), HasSubstr("kcheck::distinct(to,"));
}

} // namespace
} // namespace kcheck::analyzer
