// Words that no thread writes are found when they are copied to the host: the last one, and every other one.
// expect-report: unwritten-output
// expect-report: the last 4 of them, from byte 252 of `first`
// expect-report: 128 of them, the first at byte 4 of `second`
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
