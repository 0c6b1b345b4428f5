// Matrix product by 16x16 tiles in shared memory. Two barriers per tile: one when it is loaded, one when all
// are done with it, so that nobody overwrites what another thread still reads.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kN = 160; // small for the simulated run; any multiple of the tile is right
constexpr int kTile = 16;

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void multiply(const float* a, const float* b, float* c, int n) {
  __shared__ float tileA[kTile][kTile];
  __shared__ float tileB[kTile][kTile];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * kTile + ty;
  int col = blockIdx.x * kTile + tx;
  float sum = 0.0f;
  for (int start = 0; start < n; start += kTile) {
    tileA[ty][tx] = a[row * n + start + tx];
    tileB[ty][tx] = b[(start + ty) * n + col];
    __syncthreads(); // loaded
    for (int k = 0; k < kTile; ++k) {
      sum += tileA[ty][k] * tileB[k][tx];
    }
    __syncthreads(); // used
  }
  c[row * n + col] = sum;
}

int main() {
  std::vector<float> a(kN * kN), b(kN * kN), c(kN * kN);
  for (int i = 0; i < kN * kN; ++i) {
    a[i] = float(i % 13 - 6);
    b[i] = float(i % 7 - 3);
  }

  float *da, *db, *dc;
  cudaMalloc(&da, kN * kN * sizeof(float));
  cudaMalloc(&db, kN * kN * sizeof(float));
  cudaMalloc(&dc, kN * kN * sizeof(float));
  cudaMemcpy(da, a.data(), kN * kN * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), kN * kN * sizeof(float), cudaMemcpyHostToDevice);
  dim3 block(kTile, kTile);
  dim3 grid((kN + kTile - 1) / kTile, (kN + kTile - 1) / kTile);
  multiply<<<grid, block>>>(da, db, dc, kN);
  cudaMemcpy(c.data(), dc, kN * kN * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(da);
  cudaFree(db);
  cudaFree(dc);

  int wrong = 0;
  for (int row = 0; row < kN; ++row)
    for (int col = 0; col < kN; ++col) {
      float sum = 0.0f;
      for (int k = 0; k < kN; ++k) sum += a[row * kN + k] * b[k * kN + col];
      wrong += c[row * kN + col] != sum; // small whole numbers: exact
    }
  printf("matmul_tiled: %d of %d elements wrong\n", wrong, kN * kN);
  return wrong == 0 ? 0 : 1;
}
