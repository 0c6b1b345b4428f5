// The sum of each row of a 1024x1024 matrix, one thread per row. In every step a warp reads one element of
// each of 32 rows: 32 sectors for 128 bytes, an eighth of what is moved.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kN = 1024;
constexpr int kBlock = 256;

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void sumRows(const float* matrix, float* sums, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  float sum = 0.0f;
  for (int column = 0; column < n; ++column) {
    sum += matrix[row * n + column]; // expect-efficiency: 12.5 // expect: uncoalesced
  }
  sums[row] = sum; // expect-efficiency: 100
}

int main() {
  std::vector<float> matrix(kN * kN), sums(kN);
  for (int i = 0; i < kN * kN; ++i) matrix[i] = float(i % 101);

  float *dmatrix, *dsums;
  cudaMalloc(&dmatrix, kN * kN * sizeof(float));
  cudaMalloc(&dsums, kN * sizeof(float));
  cudaMemcpy(dmatrix, matrix.data(), kN * kN * sizeof(float), cudaMemcpyHostToDevice);
  sumRows<<<kN / kBlock, kBlock>>>(dmatrix, dsums, kN);
  cudaMemcpy(sums.data(), dsums, kN * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(dmatrix);
  cudaFree(dsums);

  int wrong = 0;
  for (int row = 0; row < kN; ++row) {
    float sum = 0.0f;
    for (int column = 0; column < kN; ++column) sum += matrix[row * kN + column];
    wrong += sums[row] != sum; // small whole numbers: exact
  }
  printf("row_sums: %d of %d sums wrong\n", wrong, kN);
  return wrong == 0 ? 0 : 1;
}
