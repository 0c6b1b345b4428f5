// As barrier_copies, but __syncthreads() stands where the barrier was waited for.
// expect-report: used while an asynchronous copy may still write it [race-shared]
// expect-status: 1
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda/barrier>
#include <vector>
__global__ void stage(int* out, const int* in, int batches) {
  auto block = cooperative_groups::this_thread_block();
  extern __shared__ int shared[];
  __shared__ cuda::barrier<cuda::thread_scope::thread_scope_block> barrier;
  if (block.thread_rank() == 0) init(&barrier, block.size());
  block.sync();
  for (int b = 0; b < batches; ++b) {
    size_t at = size_t(blockIdx.x) * block.size() + size_t(gridDim.x) * block.size() * b;
    cuda::memcpy_async(block, shared, in + at, sizeof(int) * block.size(), barrier);
    block.sync();
    out[at + threadIdx.x] = shared[block.size() - 1 - threadIdx.x];
    block.sync();
  }
}
using Bar = cuda::barrier<cuda::thread_scope_block>;
__device__ void producer(Bar ready[], Bar filled[], float* buffer, float* in, int N, int len) {
  for (int i = 0; i < (N / len); ++i) {
    ready[i % 2].arrive_and_wait();
    for (int j = threadIdx.x; j < len; j += 32) buffer[(i % 2) * len + j] = in[i * len + j];
    auto token = filled[i % 2].arrive();
    (void)token;
  }
}
__device__ void consumer(Bar ready[], Bar filled[], float* buffer, float* out, int N, int len) {
  auto t1 = ready[0].arrive();
  auto t2 = ready[1].arrive();
  (void)t1;
  (void)t2;
  for (int i = 0; i < (N / len); ++i) {
    filled[i % 2].arrive_and_wait();
    for (int j = threadIdx.x - 32; j < len; j += 96)
      out[i * len + j] = 2 * buffer[(i % 2) * len + len - 1 - j];
    auto token = ready[i % 2].arrive();
    (void)token;
  }
}
__global__ void producer_consumer_pattern(int N, float* in, float* out, int len) {
  extern __shared__ float buffer[];
  __shared__ Bar bar[4];
  auto block = cooperative_groups::this_thread_block();
  if (block.thread_rank() < 4) init(bar + block.thread_rank(), block.size());
  block.sync();
  if (block.thread_rank() < 32)
    producer(bar, bar + 2, buffer, in, N, len);
  else
    consumer(bar, bar + 2, buffer, out, N, len);
}
int main() {
  const int grid = 2, block = 128, batches = 4, n = grid * block * batches;
  int *in, *out;
  cudaMallocManaged(&in, n * 4);
  cudaMallocManaged(&out, n * 4);
  for (int i = 0; i < n; ++i) in[i] = i;
  stage<<<grid, block, block * 4>>>(out, in, batches);
  cudaDeviceSynchronize();
  int bad = 0;
  for (int b = 0; b < n / block; ++b)
    for (int i = 0; i < block; ++i) bad += out[b * block + i] != in[b * block + block - 1 - i];
  printf("stage %d\n", bad);
  float *fi, *fo;
  cudaMallocManaged(&fi, 1024 * 4);
  cudaMallocManaged(&fo, 1024 * 4);
  for (int i = 0; i < 1024; ++i) fi[i] = i;
  producer_consumer_pattern<<<1, 128, 2 * 96 * 4>>>(960, fi, fo, 96);
  cudaDeviceSynchronize();
  for (int b = 0; b < 10; ++b)
    for (int j = 0; j < 96; ++j) bad += fo[b * 96 + j] != 2 * fi[b * 96 + 95 - j];
  printf("PASS %d\n", bad);
  cudaFree(in);
  cudaFree(out);
  cudaFree(fi);
  cudaFree(fo);
  return 0;
}
