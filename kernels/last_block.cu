// A sum in one launch: every block stores its partial sum, fences, and draws a ticket by atomicInc. The block
// with the last ticket knows that all others are done, fences in turn, and adds the partial sums up.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kN = 65536;
constexpr int kBlock = 128;
constexpr int kGrid = 64;

__device__ void reduceBlock(int* scratch, int t) {
  for (int s = kBlock / 2; s > 0; s /= 2) {
    __syncthreads();
    if (t < s) scratch[t] += scratch[t + s];
  }
}

__global__ void sumAll(const int* in, int n, int* partial, unsigned* tickets, int* total) {
  __shared__ int scratch[kBlock];
  __shared__ bool last;
  int t = threadIdx.x;
  int sum = 0;
  for (int i = blockIdx.x * kBlock + t; i < n; i += gridDim.x * kBlock) sum += in[i];
  scratch[t] = sum;
  reduceBlock(scratch, t);

  if (t == 0) {
    partial[blockIdx.x] = scratch[0];
    __threadfence(); // the partial sum before the ticket
    unsigned ticket = atomicInc(tickets, gridDim.x - 1);
    __threadfence(); // the ticket before the others' partial sums
    last = ticket == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;

  sum = 0;
  for (int b = t; b < gridDim.x; b += kBlock) sum += partial[b];
  scratch[t] = sum;
  reduceBlock(scratch, t);
  if (t == 0) *total = scratch[0];
}

int main() {
  std::vector<int> in(kN);
  int expected = 0;
  for (int i = 0; i < kN; ++i) {
    in[i] = i % 1000 - 300;
    expected += in[i];
  }

  int *din, *dpartial, *dtotal;
  unsigned* dtickets;
  cudaMalloc(&din, kN * sizeof(int));
  cudaMalloc(&dpartial, kGrid * sizeof(int));
  cudaMalloc(&dtickets, sizeof(unsigned));
  cudaMalloc(&dtotal, sizeof(int));
  cudaMemcpy(din, in.data(), kN * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(dtickets, 0, sizeof(unsigned));
  cudaMemset(dtotal, 0, sizeof(int));
  sumAll<<<kGrid, kBlock>>>(din, kN, dpartial, dtickets, dtotal);
  int total = 0;
  cudaMemcpy(&total, dtotal, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(din);
  cudaFree(dpartial);
  cudaFree(dtickets);
  cudaFree(dtotal);

  printf("last_block: %d, expected %d: %s\n", total, expected, total == expected ? "right" : "wrong");
  return total == expected ? 0 : 1;
}
