// A vector of four added to each row of a 4x4 matrix: all threads of a column read the same vector element,
// which many may read at once.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int kN = 4;

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void addToRows(const int* matrix, const int* vector, int* out) {
  int x = threadIdx.x, y = threadIdx.y;
  out[y * kN + x] = matrix[y * kN + x] + vector[x];
}

int main() {
  int matrix[kN * kN], vector[kN] = {100, 200, 300, 400}, out[kN * kN] = {};
  for (int i = 0; i < kN * kN; ++i) matrix[i] = i;

  int *dmatrix, *dvector, *dout;
  cudaMalloc(&dmatrix, sizeof(matrix));
  cudaMalloc(&dvector, sizeof(vector));
  cudaMalloc(&dout, sizeof(out));
  cudaMemcpy(dmatrix, matrix, sizeof(matrix), cudaMemcpyHostToDevice);
  cudaMemcpy(dvector, vector, sizeof(vector), cudaMemcpyHostToDevice);
  addToRows<<<1, dim3(kN, kN)>>>(dmatrix, dvector, dout); // expect: launch-shape
  cudaMemcpy(out, dout, sizeof(out), cudaMemcpyDeviceToHost);
  cudaFree(dmatrix);
  cudaFree(dvector);
  cudaFree(dout);

  int wrong = 0;
  for (int i = 0; i < kN * kN; ++i) wrong += out[i] != matrix[i] + vector[i % kN];
  printf("broadcast_add: %d of %d elements wrong\n", wrong, kN * kN);
  return wrong == 0 ? 0 : 1;
}
