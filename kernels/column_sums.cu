// The sum of each column of a 1024x1024 matrix, one thread per column. In every step a warp reads 32
// neighbours of one row: full efficiency.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kN = 1024;
constexpr int kBlock = 256;

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void sumColumns(const float* matrix, float* sums, int n) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= n) return;
  float sum = 0.0f;
  for (int row = 0; row < n; ++row) {
    sum += matrix[row * n + column]; // expect-efficiency: 100
  }
  sums[column] = sum; // expect-efficiency: 100
}

int main() {
  std::vector<float> matrix(kN * kN), sums(kN);
  for (int i = 0; i < kN * kN; ++i) matrix[i] = float(i % 101);

  float *dmatrix, *dsums;
  cudaMalloc(&dmatrix, kN * kN * sizeof(float));
  cudaMalloc(&dsums, kN * sizeof(float));
  cudaMemcpy(dmatrix, matrix.data(), kN * kN * sizeof(float), cudaMemcpyHostToDevice);
  sumColumns<<<kN / kBlock, kBlock>>>(dmatrix, dsums, kN);
  cudaMemcpy(sums.data(), dsums, kN * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(dmatrix);
  cudaFree(dsums);

  int wrong = 0;
  for (int column = 0; column < kN; ++column) {
    float sum = 0.0f;
    for (int row = 0; row < kN; ++row) sum += matrix[row * kN + column];
    wrong += sums[column] != sum; // small whole numbers: exact
  }
  printf("column_sums: %d of %d sums wrong\n", wrong, kN);
  return wrong == 0 ? 0 : 1;
}
