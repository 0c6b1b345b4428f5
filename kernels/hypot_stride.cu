// Grid-stride `hypot` over a million floats, launched twice: with 128 blocks of 64 threads, and with one
// single thread. The loop makes both right; the second one is serial, which is no way to use a GPU.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kN = 1000000;

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void hypotAll(const float* a, const float* b, float* c, int n) {
  int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    c[i] = hypotf(a[i], b[i]);
  }
}

static int countWrong(const std::vector<float>& a, const std::vector<float>& b, const std::vector<float>& c) {
  int wrong = 0;
  for (int i = 0; i < kN; ++i) {
    float expected = std::hypot(a[i], b[i]);
    wrong += !(std::fabs(c[i] - expected) <= 1e-6f * expected);
  }
  return wrong;
}

int main() {
  std::vector<float> a(kN), b(kN), wide(kN), serial(kN);
  for (int i = 0; i < kN; ++i) {
    a[i] = 0.25f * (i % 1000);
    b[i] = 1.0f + 0.5f * (i % 777);
  }

  float *da, *db, *dc;
  cudaMalloc(&da, kN * sizeof(float));
  cudaMalloc(&db, kN * sizeof(float));
  cudaMalloc(&dc, kN * sizeof(float));
  cudaMemcpy(da, a.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
  hypotAll<<<128, 64>>>(da, db, dc, kN);
  cudaMemcpy(wide.data(), dc, kN * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemset(dc, 0, kN * sizeof(float));
  hypotAll<<<1, 1>>>(da, db, dc, kN); // expect: launch-shape
  cudaMemcpy(serial.data(), dc, kN * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(da);
  cudaFree(db);
  cudaFree(dc);

  int wrong = countWrong(a, b, wide) + countWrong(a, b, serial);
  printf("hypot_stride: %d of %d elements wrong\n", wrong, 2 * kN);
  return wrong == 0 ? 0 : 1;
}
