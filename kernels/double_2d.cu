// Every element of a 1024x1024 matrix doubled in place: blocks of 64x16 threads, a grid by rounding up, a
// guard on both axes. threadIdx.x runs along a row, so a warp touches neighbours.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kN = 1024;

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void doubleAll(float* a, int n) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < n && col < n) {
    a[row * n + col] *= 2.0f;
  }
}

int main() {
  std::vector<float> a(kN * kN);
  for (int i = 0; i < kN * kN; ++i) a[i] = 0.5f * (i % 10007);

  float* da;
  cudaMalloc(&da, kN * kN * sizeof(float));
  cudaMemcpy(da, a.data(), kN * kN * sizeof(float), cudaMemcpyHostToDevice);
  dim3 block(64, 16);
  dim3 grid((kN + block.x - 1) / block.x, (kN + block.y - 1) / block.y);
  doubleAll<<<grid, block>>>(da, kN);
  cudaMemcpy(a.data(), da, kN * kN * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(da);

  int wrong = 0;
  for (int i = 0; i < kN * kN; ++i) wrong += a[i] != float(i % 10007);
  printf("double_2d: %d of %d elements wrong\n", wrong, kN * kN);
  return wrong == 0 ? 0 : 1;
}
