// Element-wise sum of two vectors. 1000 elements need 8 blocks of 128 threads; the last 24 threads have no
// element, and the guard keeps them out. Neighbouring threads touch neighbouring elements: full efficiency.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kN = 1000;
constexpr int kBlock = 128;
constexpr int kGrid = (kN + kBlock - 1) / kBlock;

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void addVectors(const double* x, const double* y, double* z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  z[i] = x[i] + y[i]; // expect-efficiency: load 100 store 100
}

int main() {
  std::vector<double> x(kN), y(kN), z(kN);
  for (int i = 0; i < kN; ++i) {
    x[i] = 0.5 * i;
    y[i] = 1000.0 - i;
  }

  double *dx, *dy, *dz;
  cudaMalloc(&dx, kN * sizeof(double));
  cudaMalloc(&dy, kN * sizeof(double));
  cudaMalloc(&dz, kN * sizeof(double));
  cudaMemcpy(dx, x.data(), kN * sizeof(double), cudaMemcpyHostToDevice);
  cudaMemcpy(dy, y.data(), kN * sizeof(double), cudaMemcpyHostToDevice);
  addVectors<<<kGrid, kBlock>>>(dx, dy, dz, kN);
  cudaMemcpy(z.data(), dz, kN * sizeof(double), cudaMemcpyDeviceToHost);
  cudaFree(dx);
  cudaFree(dy);
  cudaFree(dz);

  int wrong = 0;
  for (int i = 0; i < kN; ++i) wrong += z[i] != x[i] + y[i];
  printf("vecadd: %d of %d elements wrong\n", wrong, kN);
  return wrong == 0 ? 0 : 1;
}
