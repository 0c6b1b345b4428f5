// 64 blocks of 64 threads count themselves.
#include <cstdio>

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void count(int* c) { atomicAdd(&c[0], 1); }

int main() {
  int *dc, c = 0;
  cudaMalloc(&dc, sizeof(int));
  cudaMemset(dc, 0, sizeof(int));
  count<<<64, 64>>>(dc);
  cudaMemcpy(&c, dc, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(dc);
  printf("counted %d of %d threads\n", c, 64 * 64);
}
