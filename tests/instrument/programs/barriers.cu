// Barriers in loops, in both forms of reduction, and named barriers of part of a block.
#include "check.h"

__global__ void rotate(int* out, int rounds) {
  __shared__ int ring[64];
  int t = threadIdx.x;
  ring[t] = t;
  __syncthreads();
  for (int i = 0; i < rounds; ++i) {
    int next = ring[(t + 1) % 64];
    __syncthreads();
    ring[t] = next;
    __syncthreads();
  }
  out[t] = ring[t];
}

__global__ void votes(int* out) {
  int t = threadIdx.x;
  out[t] = __syncthreads_count(t % 3 == 0) * 4 + (__syncthreads_and(t < 96) ? 2 : 0) + (__syncthreads_or(t == 95) ? 1 : 0);
}

__global__ void halves(int* out) {
  __shared__ int value[2];
  int half = threadIdx.x / 64;
  if (threadIdx.x % 64 == 0) value[half] = half + 10;
  asm volatile("bar.sync %0, %1;" ::"r"(half + 1), "r"(64) : "memory");
  out[threadIdx.x] = value[half];
}

__global__ void dynamicShared(int* out, int n) {
  extern __shared__ int tile[];
  int t = threadIdx.x;
  tile[t] = 3 * t;
  __syncthreads();
  out[t] = tile[n - 1 - t];
}

/// Leaves at several places, by return and by exit.
__global__ void leaves(int* out) {
  int t = threadIdx.x;
  out[t] = 1;
  if (t % 4 == 3) return;
  out[t] = 2;
  __syncthreads();
  if (t % 4 == 2) asm volatile("exit;");
  out[t] = 3;
  __syncthreads();
  if (t % 4 == 1) return;
  out[t] = 4;
}

int main() {
  Buffer<int> out(128);
  leaves<<<1, 64>>>(out.data);
  cudaDeviceSynchronize();
  for (int i = 0; i < 64; ++i) same("leaves", i, out[i], 4 - i % 4);
  rotate<<<1, 64>>>(out.data, 5);
  cudaDeviceSynchronize();
  for (int i = 0; i < 64; ++i) same("rotate", i, out[i], (i + 5) % 64);
  votes<<<1, 96>>>(out.data);
  cudaDeviceSynchronize();
  for (int i = 0; i < 96; ++i) same("votes", i, out[i], 32 * 4 + 2 + 1);
  halves<<<1, 128>>>(out.data);
  cudaDeviceSynchronize();
  for (int i = 0; i < 128; ++i) same("halves", i, out[i], i / 64 + 10);
  dynamicShared<<<1, 128, 128 * sizeof(int)>>>(out.data, 128);
  cudaDeviceSynchronize();
  for (int i = 0; i < 128; ++i) same("dynamicShared", i, out[i], 3 * (127 - i));
  return finish();
}
