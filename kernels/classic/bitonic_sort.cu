// Bitonic sort of 32768 numbers: runs of 1024 are sorted in shared memory; longer distances are compared in
// global memory, one launch per distance, until the rest fits into shared memory again.
#include <algorithm>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kN = 32768;
constexpr int kRun = 1024;
constexpr int kBlock = kRun / 2;

__device__ void order(unsigned& a, unsigned& b, bool ascending) {
  if ((a > b) == ascending) {
    unsigned larger = a;
    a = b;
    b = larger;
  }
}

/// Compares at all distances from `distance` down to one, within a run in shared memory.
__device__ void mergeRun(unsigned* run, int distance, bool ascending) {
  for (int d = distance; d > 0; d /= 2) {
    int low = 2 * threadIdx.x - (threadIdx.x & (d - 1));
    order(run[low], run[low + d], ascending);
    __syncthreads();
  }
}

// expect-proved: race-free, barriers-uniform
__global__ void sortRuns(unsigned* data) {
  __shared__ unsigned run[kRun];
  unsigned* mine = data + blockIdx.x * kRun;
  int t = threadIdx.x;
  run[t] = mine[t];
  run[t + kBlock] = mine[t + kBlock];
  __syncthreads();
  for (int size = 2; size < kRun; size *= 2) mergeRun(run, size / 2, (2 * t & size) == 0);
  mergeRun(run, kBlock, blockIdx.x % 2 == 0);
  mine[t] = run[t];
  mine[t + kBlock] = run[t + kBlock];
}

__global__ void compareFar(unsigned* data, int size, int distance) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int low = 2 * t - (t & (distance - 1));
  order(data[low], data[low + distance], (low & size) == 0);
}

// expect-proved: race-free, barriers-uniform
__global__ void mergeRuns(unsigned* data, int size) {
  __shared__ unsigned run[kRun];
  unsigned* mine = data + blockIdx.x * kRun;
  int t = threadIdx.x;
  run[t] = mine[t];
  run[t + kBlock] = mine[t + kBlock];
  __syncthreads();
  mergeRun(run, kBlock, (blockIdx.x * kRun & size) == 0);
  mine[t] = run[t];
  mine[t + kBlock] = run[t + kBlock];
}

int main() {
  std::vector<unsigned> data(kN);
  unsigned state = 1;
  for (unsigned& value : data) {
    state = state * 1664525u + 1013904223u;
    value = state >> 4;
  }
  std::vector<unsigned> expected = data;
  std::sort(expected.begin(), expected.end());

  unsigned* ddata;
  cudaMalloc(&ddata, kN * sizeof(unsigned));
  cudaMemcpy(ddata, data.data(), kN * sizeof(unsigned), cudaMemcpyHostToDevice);
  sortRuns<<<kN / kRun, kBlock>>>(ddata);
  for (int size = 2 * kRun; size <= kN; size *= 2) {
    for (int distance = size / 2; distance >= kRun; distance /= 2)
      compareFar<<<kN / 2 / 256, 256>>>(ddata, size, distance);
    mergeRuns<<<kN / kRun, kBlock>>>(ddata, size);
  }
  cudaMemcpy(data.data(), ddata, kN * sizeof(unsigned), cudaMemcpyDeviceToHost);
  cudaFree(ddata);

  int wrong = 0;
  for (int i = 0; i < kN; ++i) wrong += data[i] != expected[i];
  printf("bitonic_sort: %d of %d elements wrong\n", wrong, kN);
  return wrong == 0 ? 0 : 1;
}
