// Histogram of 10000 normally distributed values: 10 bins over [-4, 4), a grid-stride loop, a guard on the
// bin, atomic increments. Values outside the range are in the data and must be left out.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kN = 10000;
constexpr int kBins = 10;
constexpr float kLow = -4.0f;
constexpr float kHigh = 4.0f;

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void histogram(const float* x, int* bins, int n) {
  float width = (kHigh - kLow) / kBins;
  int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    int bin = int(floorf((x[i] - kLow) / width));
    if (bin >= 0 && bin < kBins) {
      atomicAdd(&bins[bin], 1);
    }
  }
}

static std::vector<float> normalValues() {
  std::vector<float> x(kN);
  unsigned state = 1;
  for (float& value : x) {
    value = -6.0f; // the sum of twelve uniform numbers is nearly normal
    for (int k = 0; k < 12; ++k) {
      state = state * 1664525u + 1013904223u;
      value += float(state >> 8) / (1u << 24);
    }
  }
  x[100] = 5.5f;
  x[200] = -4.75f;
  x[300] = 4.0f;
  return x;
}

int main() {
  std::vector<float> x = normalValues();
  int bins[kBins], expected[kBins] = {};
  for (float value : x) {
    int bin = int(std::floor((value - kLow) / ((kHigh - kLow) / kBins)));
    if (bin >= 0 && bin < kBins) ++expected[bin];
  }

  float* dx;
  int* dbins;
  cudaMalloc(&dx, kN * sizeof(float));
  cudaMalloc(&dbins, kBins * sizeof(int));
  cudaMemcpy(dx, x.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(dbins, 0, kBins * sizeof(int));
  histogram<<<64, 128>>>(dx, dbins, kN);
  cudaMemcpy(bins, dbins, kBins * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(dx);
  cudaFree(dbins);

  int wrong = 0;
  for (int b = 0; b < kBins; ++b) wrong += bins[b] != expected[b];
  printf("histogram: %d of %d bins wrong\n", wrong, kBins);
  return wrong == 0 ? 0 : 1;
}
