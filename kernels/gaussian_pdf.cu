// The density of a normal distribution at a million points, in single precision throughout: float literals,
// float functions.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kN = 1000000;

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void gaussianPdf(const float* x, float mean, float sigma, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float z = (x[i] - mean) / sigma;
  out[i] = expf(-0.5f * z * z) / (sigma * sqrtf(2.0f * 3.14159265f));
}

int main() {
  std::vector<float> x(kN), out(kN);
  for (int i = 0; i < kN; ++i) x[i] = -3.0f + 6.0f * i / kN;
  float mean = 0.25f, sigma = 1.5f;

  float *dx, *dout;
  cudaMalloc(&dx, kN * sizeof(float));
  cudaMalloc(&dout, kN * sizeof(float));
  cudaMemcpy(dx, x.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
  gaussianPdf<<<(kN + 255) / 256, 256>>>(dx, mean, sigma, dout, kN);
  cudaMemcpy(out.data(), dout, kN * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(dx);
  cudaFree(dout);

  int wrong = 0;
  for (int i = 0; i < kN; ++i) {
    double z = (double(x[i]) - mean) / sigma;
    double expected = std::exp(-0.5 * z * z) / (sigma * std::sqrt(2.0 * 3.14159265358979));
    wrong += !(std::fabs(out[i] - expected) <= 1e-5 * expected);
  }
  printf("gaussian_pdf: %d of %d elements wrong\n", wrong, kN);
  return wrong == 0 ? 0 : 1;
}
