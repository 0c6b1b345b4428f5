// A block in the middle of the grid crashes: with several threads as with one, the launch ends there. Another
// one asserts.
#include <cassert>
#include <cstdio>
#include <cuda_runtime.h>

constexpr int kThreads = 96, kBlocks = 61;

__global__ void crash(int* out, int* const* rows) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = i;
  if (blockIdx.x == kBlocks / 2) *rows[0] = i;
}
__global__ void check(const int* in) {
  assert(in[blockIdx.x * blockDim.x + threadIdx.x] != kThreads * (kBlocks - 2) + 7);
}

int main() {
  int *out = nullptr, **rows = nullptr;
  cudaMalloc(&out, kThreads * kBlocks * sizeof(int));
  cudaMalloc(&rows, sizeof(int*));
  cudaMemset(out, 0, kThreads * kBlocks * sizeof(int));
  cudaMemset(rows, 0, sizeof(int*));
  crash<<<kBlocks, kThreads>>>(out, rows);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cudaDeviceReset();
  cudaMalloc(&out, kThreads * kBlocks * sizeof(int));
  int host[kThreads * kBlocks];
  for (int i = 0; i < kThreads * kBlocks; ++i) host[i] = i;
  cudaMemcpy(out, host, sizeof host, cudaMemcpyHostToDevice);
  check<<<kBlocks, kThreads>>>(out);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
