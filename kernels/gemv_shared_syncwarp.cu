// The shared window with blocks of one warp: `__syncwarp` orders the lanes and is all that 32 threads need.
// With __syncthreads the block could be larger; the fixture without either is wrong.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kN = 1024;
constexpr int kBlock = 32;

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void gemv(int n, double alpha, const double* a, const double* x, double beta, double* y) {
  __shared__ double window[kBlock];
  int t = threadIdx.x;
  int row = blockIdx.x * kBlock + t;
  double sum = 0.0;
  for (int start = 0; start < n; start += kBlock) {
    window[t] = x[start + t];
    __syncwarp(); // loaded
    for (int j = 0; j < kBlock && start + j < n; ++j) {
      sum += a[(start + j) * n + row] * window[j];
    }
    __syncwarp(); // used
  }
  y[row] = alpha * sum + beta * y[row];
}

int main() {
  std::vector<double> a(kN * kN), x(kN), y(kN), result(kN);
  for (int i = 0; i < kN * kN; ++i) a[i] = (i % 17) * 0.25;
  for (int i = 0; i < kN; ++i) {
    x[i] = 1.0 - 0.001 * i;
    y[i] = 0.5 * i;
  }
  const double alpha = 1.5, beta = -0.5;

  double *da, *dx, *dy;
  cudaMalloc(&da, kN * kN * sizeof(double));
  cudaMalloc(&dx, kN * sizeof(double));
  cudaMalloc(&dy, kN * sizeof(double));
  cudaMemcpy(da, a.data(), kN * kN * sizeof(double), cudaMemcpyHostToDevice);
  cudaMemcpy(dx, x.data(), kN * sizeof(double), cudaMemcpyHostToDevice);
  cudaMemcpy(dy, y.data(), kN * sizeof(double), cudaMemcpyHostToDevice);
  gemv<<<(kN + kBlock - 1) / kBlock, kBlock>>>(kN, alpha, da, dx, beta, dy);
  cudaMemcpy(result.data(), dy, kN * sizeof(double), cudaMemcpyDeviceToHost);
  cudaFree(da);
  cudaFree(dx);
  cudaFree(dy);

  int wrong = 0;
  for (int row = 0; row < kN; ++row) {
    double sum = 0.0;
    for (int j = 0; j < kN; ++j) sum += a[j * kN + row] * x[j];
    double expected = alpha * sum + beta * y[row];
    wrong += !(std::fabs(result[row] - expected) <= 1e-9 * (1.0 + std::fabs(expected)));
  }
  printf("gemv_shared_syncwarp: %d of %d rows wrong\n", wrong, kN);
  return wrong == 0 ? 0 : 1;
}
