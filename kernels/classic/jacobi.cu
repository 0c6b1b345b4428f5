// Heat on a plate of 258x258 points with fixed edges: 50 Jacobi steps between two arrays that the host
// exchanges, and then the largest change of one more step, block by block.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <utility>
#include <vector>

constexpr int kSize = 258;
constexpr int kPoints = kSize * kSize;
constexpr int kSteps = 50;
constexpr int kTile = 16;

__global__ void relax(const float* before, float* after) {
  int x = blockIdx.x * kTile + threadIdx.x + 1;
  int y = blockIdx.y * kTile + threadIdx.y + 1;
  int i = y * kSize + x;
  after[i] = 0.25f * (before[i - 1] + before[i + 1] + before[i - kSize] + before[i + kSize]);
}

__global__ void largestChange(const float* before, const float* after, float* changes) {
  __shared__ float largest[kTile * kTile];
  int x = blockIdx.x * kTile + threadIdx.x + 1;
  int y = blockIdx.y * kTile + threadIdx.y + 1;
  int t = threadIdx.y * kTile + threadIdx.x;
  largest[t] = fabsf(after[y * kSize + x] - before[y * kSize + x]);
  __syncthreads();
  for (int s = kTile * kTile / 2; s > 0; s /= 2) {
    if (t < s) largest[t] = fmaxf(largest[t], largest[t + s]);
    __syncthreads();
  }
  if (t == 0) changes[blockIdx.y * gridDim.x + blockIdx.x] = largest[0];
}

int main() {
  constexpr int kBlocks = (kSize - 2) / kTile;
  std::vector<float> plate(kPoints, 0.0f), result(kPoints), changes(kBlocks * kBlocks);
  for (int x = 0; x < kSize; ++x) {
    plate[x] = 100.0f;
    plate[(kSize - 1) * kSize + x] = 0.5f * x;
  }

  float *dbefore, *dafter, *dchanges;
  cudaMalloc(&dbefore, kPoints * sizeof(float));
  cudaMalloc(&dafter, kPoints * sizeof(float));
  cudaMalloc(&dchanges, kBlocks * kBlocks * sizeof(float));
  cudaMemcpy(dbefore, plate.data(), kPoints * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dafter, plate.data(), kPoints * sizeof(float), cudaMemcpyHostToDevice);
  dim3 grid(kBlocks, kBlocks), block(kTile, kTile);
  for (int step = 0; step < kSteps; ++step) {
    relax<<<grid, block>>>(dbefore, dafter);
    std::swap(dbefore, dafter);
  }
  relax<<<grid, block>>>(dbefore, dafter);
  largestChange<<<grid, block>>>(dbefore, dafter, dchanges);
  cudaMemcpy(result.data(), dafter, kPoints * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(changes.data(), dchanges, kBlocks * kBlocks * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(dbefore);
  cudaFree(dafter);
  cudaFree(dchanges);

  float expectedChange = 0.0f, change = 0.0f;
  for (int step = 0; step <= kSteps; ++step) {
    std::vector<float> before = plate;
    expectedChange = 0.0f;
    for (int y = 1; y + 1 < kSize; ++y)
      for (int x = 1; x + 1 < kSize; ++x) {
        int i = y * kSize + x;
        plate[i] = 0.25f * (before[i - 1] + before[i + 1] + before[i - kSize] + before[i + kSize]);
        expectedChange = std::fmax(expectedChange, std::fabs(plate[i] - before[i]));
      }
  }
  int wrong = 0;
  for (int i = 0; i < kPoints; ++i) wrong += !(std::fabs(result[i] - plate[i]) < 1e-3f);
  for (float one : changes) change = std::fmax(change, one);
  wrong += !(std::fabs(change - expectedChange) < 1e-3f);
  printf("jacobi: %d of %d points wrong\n", wrong, kPoints);
  return wrong == 0 ? 0 : 1;
}
