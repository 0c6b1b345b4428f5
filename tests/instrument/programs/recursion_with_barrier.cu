// Waits below recursion and below calls through pointers: these kernels run on stacks of their own.
#include "check.h"

__shared__ int cells[64];

__device__ int descend(int depth, int t) {
  cells[t] = depth + t;
  __syncthreads();
  int neighbour = cells[(t + 1) % 64];
  __syncthreads();
  return depth == 0 ? neighbour : neighbour + descend(depth - 1, t);
}

__device__ int shiftUp(int v) { return __shfl_up_sync(~0u, v, 1); }
__device__ int shiftDown(int v) { return __shfl_down_sync(~0u, v, 1); }
__device__ int (*shifts[2])(int) = {shiftUp, shiftDown};

__global__ void recursive(int* out, int depth) { out[threadIdx.x] = descend(depth, threadIdx.x); }
__global__ void indirect(int* out, int which) { out[threadIdx.x] = shifts[which](threadIdx.x); }

__device__ void leave(int depth) {
  if (depth == 0) asm volatile("exit;");
  leave(depth - 1);
  __syncthreads();
}
__global__ void exits(int* out) {
  out[threadIdx.x] = 1;
  if (threadIdx.x % 2) leave(3);
  out[threadIdx.x] = 2;
}

int main() {
  Buffer<int> out(64);
  recursive<<<1, 64>>>(out.data, 3);
  cudaDeviceSynchronize();
  for (int i = 0; i < 64; ++i) same("recursive", i, out[i], 3 + 2 + 1 + 0 + 4 * ((i + 1) % 64));
  indirect<<<1, 32>>>(out.data, 1);
  cudaDeviceSynchronize();
  for (int i = 0; i < 32; ++i) same("indirect", i, out[i], i < 31 ? i + 1 : 31);
  exits<<<1, 32>>>(out.data);
  cudaDeviceSynchronize();
  for (int i = 0; i < 32; ++i) same("exits", i, out[i], i % 2 ? 1 : 2);
  return finish();
}
