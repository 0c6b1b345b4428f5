// 64 blocks of 64 threads count themselves.
#include <cstdio>

__global__ void count(int* c) {
  c[0] += 1; // expect: race-global
}

int main() {
  int *dc, c = 0;
  cudaMalloc(&dc, sizeof(int));
  cudaMemset(dc, 0, sizeof(int));
  count<<<64, 64>>>(dc);
  cudaMemcpy(&c, dc, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(dc);
  printf("counted %d of %d threads\n", c, 64 * 64);
}
