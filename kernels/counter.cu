// Every thread adds one to the same counter. The increment is one atomic operation, so no update is lost:
// the count is the number of threads, whatever the shape of the launch.
#include <cstdio>
#include <cuda_runtime.h>

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void countThreads(int* c) { atomicAdd(&c[0], 1); }

int main() {
  int* c;
  cudaMalloc(&c, sizeof(int));
  int first = 0, second = 0;

  cudaMemset(c, 0, sizeof(int));
  countThreads<<<64, 64>>>(c);
  cudaMemcpy(&first, c, sizeof(int), cudaMemcpyDeviceToHost);

  cudaMemset(c, 0, sizeof(int));
  countThreads<<<4, 128>>>(c);
  cudaMemcpy(&second, c, sizeof(int), cudaMemcpyDeviceToHost);

  cudaFree(c);
  bool ok = first == 64 * 64 && second == 4 * 128;
  printf("counter: %d of 4096, %d of 512: %s\n", first, second, ok ? "right" : "wrong");
  return ok ? 0 : 1;
}
