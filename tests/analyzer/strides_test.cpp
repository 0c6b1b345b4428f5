// How sure a race is whose witness takes strides by which parts of an array lie over each other.
#include "analyzed.h"

namespace kcheck::analyzer {
namespace {

const char* kStrides = R"(
#include <cuda_runtime.h>
struct Block { signed char q[32]; };
__global__ void rightMultipliedOut(float* out, int w, int h) {
  int x = blockDim.x * blockIdx.x + threadIdx.x;
  if (x < w) out[blockIdx.z * h * w + blockIdx.y * w + x] = blockIdx.y;
}
__global__ void rightStrides(float* out, int w, int s1, int s2) {
  int x = blockDim.x * blockIdx.x + threadIdx.x;
  if (x < w) out[blockIdx.z * s2 + blockIdx.y * s1 + x] = blockIdx.y;
}
__global__ void rightPacked(Block* out, int w, int h) {
  int x = blockDim.x * blockIdx.x + threadIdx.x, at = (blockIdx.z * h + blockIdx.y) * w + x;
  if (x < w) out[at / 32].q[at % 32] = blockIdx.y;
}
__global__ void rightSections(float* out, int h, int n) {
  int at = (blockIdx.y * h + blockIdx.x) * 16 + threadIdx.x;
  if (threadIdx.x >= 16) return;
  out[at] = blockIdx.x;
  out[16 * h * n + at] = 1 + blockIdx.x;
}
__global__ void wrongPlane(float* out, int w, int h) {
  int x = blockDim.x * blockIdx.x + threadIdx.x;
  if (x < w) out[blockIdx.y * w + x] = blockIdx.z;
}
__global__ void wrongNeighbour(float* out, int w, int s1, int s2) {
  int x = blockDim.x * blockIdx.x + threadIdx.x;
  if (x >= w) return;
  out[blockIdx.z * s2 + blockIdx.y * s1 + x] = 1;
  out[blockIdx.z * s2 + blockIdx.y * s1 + x + 1] = 2;
}
__global__ void wrongAxis(float* out, int w, int s1, int s2) {
  int x = blockDim.x * blockIdx.x + threadIdx.x;
  if (x < w) out[blockIdx.y * s2 + blockIdx.y * s1 + x] = blockIdx.z;
}
__global__ void wrongChunk(float* out, int m, int c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int j = 0; j <= c; ++j) out[(blockIdx.y * m + i) * c + j] = i;
}
)";

TEST(Strides, ByWhichPartsLieOverEachOtherMakeARacePossible) {
  const Analyzed analyzed(kStrides);
  std::set<std::string> told;
  for (const Finding& finding : analyzed.analysis.findings) {
    const bool isRight = finding.kernel.starts_with("right");
    if (isRight || finding.severity == Severity::Error) told.insert(finding.kernel);
    if (!isRight) continue;
    EXPECT_EQ(finding.verdict, kcheck::Verdict::Possible) << finding.kernel << ": " << finding.message;
  }
  EXPECT_EQ(told.size(), 8u) << "each wrong one has an error";
}

} // namespace
} // namespace kcheck::analyzer
