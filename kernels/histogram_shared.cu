// Histogram by blocks: each block zeroes 100 bins in shared memory, counts into them with shared atomics, and
// adds them to the global bins at the end. Two barriers divide the three phases.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kN = 100000;
constexpr int kBins = 100;
constexpr int kBlock = 64; // fewer threads than bins: zeroing and merging need loops

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void histogram(const float* x, int* bins, int n) {
  __shared__ int local[kBins];
  for (int b = threadIdx.x; b < kBins; b += blockDim.x) {
    local[b] = 0;
  }
  __syncthreads(); // zeroed

  int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    int bin = int(floorf(x[i] * kBins));
    if (bin >= 0 && bin < kBins) {
      atomicAdd(&local[bin], 1);
    }
  }
  __syncthreads(); // counted

  for (int b = threadIdx.x; b < kBins; b += blockDim.x) {
    int count = local[b];
    atomicAdd(&bins[b], count);
  }
}

int main() {
  std::vector<float> x(kN);
  unsigned state = 1;
  for (float& value : x) {
    state = state * 1664525u + 1013904223u;
    value = 1.1f * float(state >> 8) / (1u << 24) - 0.05f;
  }
  int bins[kBins], expected[kBins] = {};
  for (float value : x) {
    int bin = int(std::floor(value * kBins));
    if (bin >= 0 && bin < kBins) ++expected[bin];
  }

  float* dx;
  int* dbins;
  cudaMalloc(&dx, kN * sizeof(float));
  cudaMalloc(&dbins, kBins * sizeof(int));
  cudaMemcpy(dx, x.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(dbins, 0, kBins * sizeof(int));
  histogram<<<32, kBlock>>>(dx, dbins, kN);
  cudaMemcpy(bins, dbins, kBins * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(dx);
  cudaFree(dbins);

  int wrong = 0;
  for (int b = 0; b < kBins; ++b) wrong += bins[b] != expected[b];
  printf("histogram_shared: %d of %d bins wrong\n", wrong, kBins);
  return wrong == 0 ? 0 : 1;
}
