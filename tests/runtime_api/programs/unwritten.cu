// Words that no thread writes are found when they are copied to the host: the last one, and every other one.
// expect-report: unwritten-output
// expect-report: from byte 252 on
// expect-report: from byte 4 on
// expect-status: 1
#include "check.h"

__global__ void allButLast(int* out) {
  if (threadIdx.x < 63) out[threadIdx.x] = 1;
}
__global__ void even(int* out) { out[2 * threadIdx.x] = 1; }

int main() {
  int *first, *second, host[64];
  OK(cudaMalloc(&first, sizeof host));
  OK(cudaMalloc(&second, sizeof host));
  allButLast<<<1, 64>>>(first);
  OK(cudaMemcpy(host, first, sizeof host, cudaMemcpyDeviceToHost));
  even<<<1, 32>>>(second);
  OK(cudaMemcpy(host, second, sizeof host, cudaMemcpyDeviceToHost));
  OK(cudaFree(first));
  OK(cudaFree(second));
  std::printf("PASS\n");
}
