// Accesses by whole lines of 64 bytes, by parts of them and across them, in order and in races; for the
// comparison of checks that wait with checks on the spot.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int kThreads = 128, kBlocks = 4, kWords = kThreads * kBlocks;

__global__ void copyWhole(const int* in, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i];
}
/// Whole lines of the block's own, read again shifted after the barrier: in order within the block only.
__global__ void shift(int* data, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] = i;
  __syncthreads();
  out[i] = data[(i + 1) % kWords];
}
/// Every block writes the same lines.
__global__ void writeAll(int* data) { data[threadIdx.x] = int(blockIdx.x); }
/// Every block reads them.
__global__ void readAll(const int* data, int* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = data[threadIdx.x] + data[threadIdx.x ^ 1];
}
/// One warp reads lines that another one has written, without a barrier.
__global__ void warpsMeet(int* data, int* out) {
  if (threadIdx.x < 32) data[threadIdx.x] = 7;
  if (threadIdx.x >= 64 && threadIdx.x < 96) out[threadIdx.x] = data[threadIdx.x - 64];
}
__global__ void wide(const double2* in, double2* out, const double* half, double* outHalf) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double2 v = in[i];
  out[i] = make_double2(v.y, v.x);
  outHalf[i] = half[i];
  if (i > 0) out[i].x += half[i - 1];
}
__global__ void partOfLine(int* data, int from, int count) {
  int i = threadIdx.x;
  if (i >= from && i < from + count) data[i] = data[i] + 1;
}
/// Reads what nobody has written, in whole lines and beside them.
__global__ void readsUnwritten(const int* data, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = data[i] + data[(i + 3) % kWords];
}
__global__ void tooFar(int* data) { data[blockIdx.x * blockDim.x + threadIdx.x + 16] = 3; }

int main() {
  int *a, *b, *fresh, *small;
  double *c, *d;
  cudaMalloc(&a, kWords * sizeof(int));
  cudaMalloc(&b, kWords * sizeof(int));
  cudaMalloc(&fresh, kWords * sizeof(int));
  cudaMalloc(&small, 100 * sizeof(int));
  cudaMalloc(&c, 2 * kWords * sizeof(double));
  cudaMalloc(&d, 2 * kWords * sizeof(double));
  cudaMemset(a, 1, kWords * sizeof(int));
  cudaMemset(c, 0, 2 * kWords * sizeof(double));
  cudaMemset(small, 0, 90 * sizeof(int));
  for (int round = 0; round < 2; ++round) {
    copyWhole<<<kBlocks, kThreads>>>(a, b);
    shift<<<kBlocks, kThreads>>>(a, b);
    writeAll<<<kBlocks, kThreads>>>(a);
    readAll<<<kBlocks, kThreads>>>(a, b);
    warpsMeet<<<1, kThreads>>>(a, b);
    wide<<<kBlocks, kThreads>>>((double2*)c, (double2*)d, c, d);
    for (int from : {0, 1, 15, 16, 31}) partOfLine<<<1, 64>>>(a, from, 17);
    copyWhole<<<kBlocks, kThreads>>>(a, b);
    readsUnwritten<<<kBlocks, kThreads>>>(fresh, b);
    partOfLine<<<1, kThreads>>>(small, 3, 97);
    cudaDeviceSynchronize();
  }
  tooFar<<<kBlocks, kThreads>>>(b);
  int result[kWords];
  cudaMemcpy(result, b, sizeof result, cudaMemcpyDeviceToHost);
  std::printf("%d\n", result[5]);
}
