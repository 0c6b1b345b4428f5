// A lock across blocks: atomicCAS takes it, atomicExch gives it back, and fences keep the plain update of the
// critical section between the two. One thread per block takes part.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int kBlocks = 64;

__device__ void acquire(int* mutex) {
  while (atomicCAS(mutex, 0, 1) != 0) {
  }
  __threadfence();
}

__device__ void release(int* mutex) {
  __threadfence();
  atomicExch(mutex, 0);
}

__global__ void addBlocks(int* mutex, int* sum) {
  if (threadIdx.x != 0) return;
  acquire(mutex);
  *sum += blockIdx.x + 1;
  release(mutex);
}

int main() {
  int *mutex, *dsum;
  cudaMalloc(&mutex, sizeof(int));
  cudaMalloc(&dsum, sizeof(int));
  cudaMemset(mutex, 0, sizeof(int));
  cudaMemset(dsum, 0, sizeof(int));
  addBlocks<<<kBlocks, 32>>>(mutex, dsum);
  int sum = 0;
  cudaMemcpy(&sum, dsum, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(mutex);
  cudaFree(dsum);

  int expected = kBlocks * (kBlocks + 1) / 2;
  printf("spin_lock: %d, expected %d: %s\n", sum, expected, sum == expected ? "right" : "wrong");
  return sum == expected ? 0 : 1;
}
