// A histogram of 10000 numbers from -4 to 4 in ten bins. Two things are wrong.
#include <cstdio>
#include <vector>

constexpr int kBins = 10;

__global__ void histogram(int* bins, const float* x, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float value = x[i]; // expect-efficiency: 100
    int bin = int((value + 4.0f) / 0.8f);
    if (bin >= 0 && bin <= kBins) bins[bin] += 1; // expect: race-global, out-of-bounds
  }
}

int main() {
  const int n = 10000;
  std::vector<float> x(n);
  for (int i = 0; i < n; ++i) x[i] = float(i % 1001) * 0.008f - 4.0f;

  float* dx;
  int *dbins, bins[kBins];
  cudaMalloc(&dx, n * sizeof(float));
  cudaMalloc(&dbins, sizeof bins);
  cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(dbins, 0, sizeof bins);
  histogram<<<128, 64>>>(dbins, dx, n);
  cudaMemcpy(bins, dbins, sizeof bins, cudaMemcpyDeviceToHost);
  cudaFree(dx);
  cudaFree(dbins);

  int counted = 0;
  for (int bin : bins) counted += bin;
  printf("%d of %d numbers counted\n", counted, n);
}
