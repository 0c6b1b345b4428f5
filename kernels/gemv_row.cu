// y = alpha A x + beta y in double precision, A stored by rows, one thread per row. Neighbouring threads read
// 8192 bytes apart: each load of A moves 32 sectors, 1024 bytes, for the 256 bytes that a warp needs.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kN = 1024;
constexpr int kBlock = 128;

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void gemv(int n, double alpha, const double* a, const double* x, double beta, double* y) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  double sum = 0.0;
  for (int j = 0; j < n; ++j) {
    double value = a[row * n + j]; // expect-efficiency: 25 // expect-sectors: 32 // expect: uncoalesced
    sum += value * x[j];
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
  gemv<<<kN / kBlock, kBlock>>>(kN, alpha, da, dx, beta, dy);
  cudaMemcpy(result.data(), dy, kN * sizeof(double), cudaMemcpyDeviceToHost);
  cudaFree(da);
  cudaFree(dx);
  cudaFree(dy);

  int wrong = 0;
  for (int row = 0; row < kN; ++row) {
    double sum = 0.0;
    for (int j = 0; j < kN; ++j) sum += a[row * kN + j] * x[j];
    double expected = alpha * sum + beta * y[row];
    wrong += !(std::fabs(result[row] - expected) <= 1e-9 * (1.0 + std::fabs(expected)));
  }
  printf("gemv_row: %d of %d rows wrong\n", wrong, kN);
  return wrong == 0 ? 0 : 1;
}
