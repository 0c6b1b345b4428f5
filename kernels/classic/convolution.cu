// A 5x5 filter over an image of 500x300 pixels. The weights are in constant memory; a block loads its pixels
// and a border of two into shared memory, with zeros outside of the image.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kWidth = 500;
constexpr int kHeight = 300;
constexpr int kRadius = 2;
constexpr int kSide = 2 * kRadius + 1;
constexpr int kTileX = 32;
constexpr int kTileY = 8;

__constant__ float weights[kSide * kSide];

__global__ void filter(const float* in, float* out) {
  __shared__ float tile[kTileY + 2 * kRadius][kTileX + 2 * kRadius];
  int left = blockIdx.x * kTileX - kRadius, top = blockIdx.y * kTileY - kRadius;
  for (int y = threadIdx.y; y < kTileY + 2 * kRadius; y += kTileY)
    for (int x = threadIdx.x; x < kTileX + 2 * kRadius; x += kTileX) {
      int gx = left + x, gy = top + y;
      bool inside = gx >= 0 && gx < kWidth && gy >= 0 && gy < kHeight;
      tile[y][x] = inside ? in[gy * kWidth + gx] : 0.0f;
    }
  __syncthreads();

  int gx = blockIdx.x * kTileX + threadIdx.x, gy = blockIdx.y * kTileY + threadIdx.y;
  if (gx >= kWidth || gy >= kHeight) return;
  float sum = 0.0f;
  for (int y = 0; y < kSide; ++y)
    for (int x = 0; x < kSide; ++x) sum += weights[y * kSide + x] * tile[threadIdx.y + y][threadIdx.x + x];
  out[gy * kWidth + gx] = sum;
}

int main() {
  std::vector<float> in(kWidth * kHeight), out(kWidth * kHeight);
  unsigned state = 1;
  for (float& pixel : in) {
    state = state * 1664525u + 1013904223u;
    pixel = float(state >> 24);
  }
  float filterWeights[kSide * kSide];
  for (int i = 0; i < kSide * kSide; ++i) filterWeights[i] = 0.01f * (i + 1);

  float *din, *dout;
  cudaMalloc(&din, kWidth * kHeight * sizeof(float));
  cudaMalloc(&dout, kWidth * kHeight * sizeof(float));
  cudaMemcpy(din, in.data(), kWidth * kHeight * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpyToSymbol(weights, filterWeights, sizeof(filterWeights));
  dim3 block(kTileX, kTileY);
  dim3 grid((kWidth + kTileX - 1) / kTileX, (kHeight + kTileY - 1) / kTileY);
  filter<<<grid, block>>>(din, dout);
  cudaMemcpy(out.data(), dout, kWidth * kHeight * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(din);
  cudaFree(dout);

  int wrong = 0;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      float sum = 0.0f;
      for (int dy = -kRadius; dy <= kRadius; ++dy)
        for (int dx = -kRadius; dx <= kRadius; ++dx) {
          int gx = x + dx, gy = y + dy;
          if (gx < 0 || gx >= kWidth || gy < 0 || gy >= kHeight) continue;
          sum += filterWeights[(dy + kRadius) * kSide + dx + kRadius] * in[gy * kWidth + gx];
        }
      wrong += !(std::fabs(out[y * kWidth + x] - sum) <= 1e-4f * (1.0f + sum));
    }
  printf("convolution: %d of %d pixels wrong\n", wrong, kWidth * kHeight);
  return wrong == 0 ? 0 : 1;
}
