// Sum by blocks: a tree in shared memory with a barrier in every step, until one warp is left; that warp adds
// the rest by shuffles that all 32 lanes take part in. One partial sum per block.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kN = 65536;
constexpr int kBlock = 256;
constexpr int kGrid = kN / kBlock;

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void reduce(const int* in, int* partial) {
  __shared__ int scratch[kBlock];
  int t = threadIdx.x;
  scratch[t] = in[blockIdx.x * kBlock + t];
  __syncthreads();
  for (int s = kBlock / 2; s >= 32; s /= 2) {
    if (t < s) {
      scratch[t] += scratch[t + s];
    }
    __syncthreads();
  }
  if (t < 32) {
    int sum = scratch[t];
    for (int d = 16; d > 0; d /= 2) {
      sum += __shfl_down_sync(0xffffffff, sum, d);
    }
    if (t == 0) partial[blockIdx.x] = sum;
  }
}

int main() {
  std::vector<int> in(kN), partial(kGrid);
  for (int i = 0; i < kN; ++i) in[i] = i % 1000 - 400;

  int *din, *dpartial;
  cudaMalloc(&din, kN * sizeof(int));
  cudaMalloc(&dpartial, kGrid * sizeof(int));
  cudaMemcpy(din, in.data(), kN * sizeof(int), cudaMemcpyHostToDevice);
  reduce<<<kGrid, kBlock>>>(din, dpartial);
  cudaMemcpy(partial.data(), dpartial, kGrid * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(din);
  cudaFree(dpartial);

  int wrong = 0;
  for (int b = 0; b < kGrid; ++b) {
    int sum = 0;
    for (int t = 0; t < kBlock; ++t) sum += in[b * kBlock + t];
    wrong += partial[b] != sum;
  }
  printf("reduce_block: %d of %d partial sums wrong\n", wrong, kGrid);
  return wrong == 0 ? 0 : 1;
}
