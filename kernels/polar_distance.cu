// Distance between points given in polar coordinates. A `__device__` function returns both Cartesian
// coordinates as a pair and is called twice per element.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kN = 1000000;

__device__ float2 toCartesian(float radius, float angle) {
  return make_float2(radius * cosf(angle), radius * sinf(angle));
}

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void polarDistance(const float* r1, const float* a1, const float* r2, const float* a2, float* out,
                              int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float2 p = toCartesian(r1[i], a1[i]);
  float2 q = toCartesian(r2[i], a2[i]);
  float dx = p.x - q.x, dy = p.y - q.y;
  out[i] = sqrtf(dx * dx + dy * dy);
}

int main() {
  std::vector<float> r1(kN), a1(kN), r2(kN), a2(kN), out(kN);
  for (int i = 0; i < kN; ++i) {
    r1[i] = 1.0f + i % 10;
    a1[i] = 6.28f * (i % 360) / 360;
    r2[i] = 20.0f + i % 7;
    a2[i] = 6.28f * (i % 100) / 100;
  }

  float *dr1, *da1, *dr2, *da2, *dout;
  cudaMalloc(&dr1, kN * sizeof(float));
  cudaMalloc(&da1, kN * sizeof(float));
  cudaMalloc(&dr2, kN * sizeof(float));
  cudaMalloc(&da2, kN * sizeof(float));
  cudaMalloc(&dout, kN * sizeof(float));
  cudaMemcpy(dr1, r1.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(da1, a1.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dr2, r2.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(da2, a2.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
  polarDistance<<<(kN + 255) / 256, 256>>>(dr1, da1, dr2, da2, dout, kN);
  cudaMemcpy(out.data(), dout, kN * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(dr1);
  cudaFree(da1);
  cudaFree(dr2);
  cudaFree(da2);
  cudaFree(dout);

  int wrong = 0;
  for (int i = 0; i < kN; ++i) {
    double dx = r1[i] * std::cos(double(a1[i])) - r2[i] * std::cos(double(a2[i]));
    double dy = r1[i] * std::sin(double(a1[i])) - r2[i] * std::sin(double(a2[i]));
    double expected = std::sqrt(dx * dx + dy * dy);
    wrong += !(std::fabs(out[i] - expected) <= 1e-4 * expected);
  }
  printf("polar_distance: %d of %d elements wrong\n", wrong, kN);
  return wrong == 0 ? 0 : 1;
}
