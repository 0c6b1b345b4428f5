// A sparse matrix of 20000 rows in compressed row storage times a vector: one warp per row, whose lanes take
// every 32nd element and add up by shuffles.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kRows = 20000;
constexpr int kBlock = 128;

__global__ void multiply(const int* starts, const int* columns, const float* values, const float* x, float* y,
                         int rows) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  int lane = threadIdx.x % 32;
  if (row >= rows) return; // the whole warp, or none of it
  float sum = 0.0f;
  for (int k = starts[row] + lane; k < starts[row + 1]; k += 32) sum += values[k] * x[columns[k]]; // expect-run: uncoalesced
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
  if (lane == 0) y[row] = sum;
}

int main() {
  std::vector<int> starts(1, 0), columns;
  std::vector<float> values, x(kRows), y(kRows);
  unsigned state = 1;
  for (int row = 0; row < kRows; ++row) {
    state = state * 1664525u + 1013904223u;
    int count = 4 + (state >> 16) % 61;
    for (int k = 0; k < count; ++k) {
      state = state * 1664525u + 1013904223u;
      columns.push_back((state >> 8) % kRows);
      values.push_back(float(state >> 20) / 4096);
    }
    starts.push_back(int(columns.size()));
    x[row] = 1.0f + row % 10;
  }
  size_t count = columns.size();

  int *dstarts, *dcolumns;
  float *dvalues, *dx, *dy;
  cudaMalloc(&dstarts, (kRows + 1) * sizeof(int));
  cudaMalloc(&dcolumns, count * sizeof(int));
  cudaMalloc(&dvalues, count * sizeof(float));
  cudaMalloc(&dx, kRows * sizeof(float));
  cudaMalloc(&dy, kRows * sizeof(float));
  cudaMemcpy(dstarts, starts.data(), (kRows + 1) * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(dcolumns, columns.data(), count * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(dvalues, values.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dx, x.data(), kRows * sizeof(float), cudaMemcpyHostToDevice);
  int warpsPerBlock = kBlock / 32;
  multiply<<<(kRows + warpsPerBlock - 1) / warpsPerBlock, kBlock>>>(dstarts, dcolumns, dvalues, dx, dy,
                                                                    kRows);
  cudaMemcpy(y.data(), dy, kRows * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(dstarts);
  cudaFree(dcolumns);
  cudaFree(dvalues);
  cudaFree(dx);
  cudaFree(dy);

  int wrong = 0;
  for (int row = 0; row < kRows; ++row) {
    double sum = 0.0;
    for (int k = starts[row]; k < starts[row + 1]; ++k) sum += double(values[k]) * x[columns[k]];
    wrong += !(std::fabs(y[row] - sum) <= 1e-4 * (1.0 + sum));
  }
  printf("spmv: %d of %d rows wrong\n", wrong, kRows);
  return wrong == 0 ? 0 : 1;
}
