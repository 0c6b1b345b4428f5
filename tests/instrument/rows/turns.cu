// Lanes that take different ways within the turns of a loop, come together again, and leave at different times;
// in order and in races, for the comparison of checks that wait with checks on the spot.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int kThreads = 128, kBlocks = 6, kAll = kThreads * kBlocks, kWords = 1024, kOwn = 16;

__device__ unsigned hashed(unsigned x) { return (x * 2654435761u) >> 11; }

/// Each thread keeps some of what it reads, in places of its own.
__global__ void filter(const int* in, int* kept, int* lengths) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, length = 0;
  for (int k = 0; k < int(hashed(i) % kOwn); ++k) {
    int value = in[hashed(i * 31 + k) % kWords];
    if (value % 3 == 0) kept[i * kOwn + length++] = value;
  }
  lengths[i] = length;
}
/// The same, where nothing is accessed between the choice and the next turn, and some turns end early.
__global__ void filterBackwards(const int* in, int* kept, int* lengths) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, length = 0;
  for (int k = int(hashed(i) % kOwn); k > 0; --k) {
    if ((i + k) % 4 == 1) continue;
    int value = in[hashed(i * 31 + k) % kWords];
    if (value % 5 == 0) break;
    if (value % 2)
      kept[i * kOwn + length++] = value;
    else
      kept[i * kOwn + kOwn - 1] = kept[i * kOwn + kOwn - 1] + 1;
  }
  lengths[i] = length;
}
/// Loops in a loop, each of a length of its own.
__global__ void nested(const int* in, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int r = 0; r < int(hashed(i) % 3) + 1; ++r) {
    for (int k = 0; k < int(hashed(i * 7 + r) % 5); ++k)
      if (in[(i + k * 33) % kWords] % 2) out[i * 2] += k;
    if (in[(i * 3 + r) % kWords] % 3) out[i * 2 + 1] += r;
  }
}
/// Two ways, with an atomic each.
__global__ void ways(const int* in, int* odd, int* even) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < int(hashed(i) % 9); ++k) {
    int value = in[hashed(i * 5 + k) % kWords];
    if (value % 2)
      atomicAdd(&odd[value % 64], 1);
    else
      atomicAdd(&even[value % 32], k);
  }
}
/// Some threads write what others do.
__global__ void collide(const int* in, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < int(hashed(i) % 6); ++k)
    if (in[hashed(i + k) % kWords] % 2) out[hashed(i * 3 + k) % 4096] = k;
}
/// One lane reads what its neighbour has written in a turn before.
__global__ void peek(const int* in, int* out, int* seen) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < int(hashed(i) % 5) + 2; ++k) {
    if (in[(i + k) % kWords] % 3 == 0) out[i] = k;
    if (i == 333 && k == 2) seen[0] = out[334];
  }
}

int main() {
  int *in, *big, *small;
  cudaMalloc(&in, kWords * sizeof(int));
  cudaMalloc(&big, kAll * kOwn * sizeof(int));
  cudaMalloc(&small, 4096 * sizeof(int));
  static int values[kWords];
  for (int i = 0; i < kWords; ++i) values[i] = (i * 7919) % 1009;
  cudaMemcpy(in, values, sizeof values, cudaMemcpyHostToDevice);
  cudaMemset(big, 0, kAll * kOwn * sizeof(int));
  cudaMemset(small, 0, 4096 * sizeof(int));
  filter<<<kBlocks, kThreads>>>(in, big, small);
  filterBackwards<<<kBlocks, kThreads>>>(in, big, small);
  nested<<<kBlocks, kThreads>>>(in, big);
  ways<<<kBlocks, kThreads>>>(in, big, big + 64);
  collide<<<kBlocks, kThreads>>>(in, small);
  peek<<<kBlocks, kThreads>>>(in, big, small);
  static int result[kAll];
  cudaMemcpy(result, big, sizeof result, cudaMemcpyDeviceToHost);
  long sum = 0;
  for (int one : result) sum += one;
  std::printf("%ld\n", sum);
  cudaFree(in);
  cudaFree(big);
  cudaFree(small);
}
