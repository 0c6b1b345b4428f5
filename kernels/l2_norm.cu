// The Euclidean norm of every row of a matrix, one thread per row. Neighbouring threads are a whole row apart
// in memory, so each reads a sector of its own: right, but wasteful for long rows.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kRows = 1024;
constexpr int kCols = 256;

__global__ void rowNorms(const float* matrix, float* out, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int k = 0; k < cols; ++k) {
    float value = matrix[row * cols + k]; // expect: uncoalesced
    sum += value * value;
  }
  out[row] = sqrtf(sum);
}

int main() {
  std::vector<float> matrix(kRows * kCols), out(kRows);
  for (int i = 0; i < kRows * kCols; ++i) matrix[i] = 0.01f * (i % 101);

  float *dmatrix, *dout;
  cudaMalloc(&dmatrix, kRows * kCols * sizeof(float));
  cudaMalloc(&dout, kRows * sizeof(float));
  cudaMemcpy(dmatrix, matrix.data(), kRows * kCols * sizeof(float), cudaMemcpyHostToDevice);
  rowNorms<<<kRows / 128, 128>>>(dmatrix, dout, kRows, kCols);
  cudaMemcpy(out.data(), dout, kRows * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(dmatrix);
  cudaFree(dout);

  int wrong = 0;
  for (int row = 0; row < kRows; ++row) {
    double sum = 0.0;
    for (int k = 0; k < kCols; ++k) sum += double(matrix[row * kCols + k]) * matrix[row * kCols + k];
    wrong += !(std::fabs(out[row] - std::sqrt(sum)) <= 1e-4 * std::sqrt(sum));
  }
  printf("l2_norm: %d of %d rows wrong\n", wrong, kRows);
  return wrong == 0 ? 0 : 1;
}
