// Loops that wait for other threads: a spin lock within and between blocks, a flag with a payload, a ticket
// lock, and waiting on a volatile counter.
#include "check.h"

__device__ int lock = 0, owners = 0;
__global__ void critical(int* sum) {
  bool done = false;
  while (!done) {
    if (atomicCAS(&lock, 0, 1) == 0) {
      __threadfence();
      *sum += 1;
      owners++;
      __threadfence();
      atomicExch(&lock, 0);
      done = true;
    }
  }
}

__device__ volatile int flag = 0;
__device__ int payload = 0;
__global__ void produce(int* out) {
  if (blockIdx.x == gridDim.x - 1) { // the last block produces for all before it
    if (threadIdx.x == 0) {
      payload = 123;
      __threadfence();
      flag = 1;
    }
    return;
  }
  if (threadIdx.x == 0) {
    while (flag == 0) {
    }
    __threadfence();
    out[blockIdx.x] = payload;
  }
}

__device__ unsigned nextTicket = 0, served = 0;
__global__ void tickets(int* sum) {
  unsigned mine = atomicAdd(&nextTicket, 1);
  while (atomicAdd(&served, 0) != mine) __nanosleep(10);
  __threadfence();
  *sum += 2;
  __threadfence();
  atomicAdd(&served, 1);
}

int main() {
  Buffer<int> out(8), sum(2);
  critical<<<8, 16>>>(&sum[0]);
  cudaDeviceSynchronize();
  same("lock", 0, sum[0], 128);
  produce<<<8, 32>>>(out.data);
  cudaDeviceSynchronize();
  for (int i = 0; i < 7; ++i) same("flag", i, out[i], 123);
  tickets<<<4, 8>>>(&sum[1]);
  cudaDeviceSynchronize();
  same("tickets", 0, sum[1], 64);
  return finish();
}
