// A pulse train, `max(sin(i / period) - 0.3, 0) * amplitude`, added to noise by a second kernel. The pulses
// stay on the device between the two kernels; only the result is copied.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kN = 100000;
constexpr size_t kBytes = kN * sizeof(float);
constexpr float kPeriod = 50.0f;
constexpr float kAmplitude = 10.0f;

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void makePulses(float* pulses, float period, float amplitude, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) pulses[i] = fmaxf(sinf(i / period) - 0.3f, 0.0f) * amplitude;
}

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void addNoise(const float* pulses, const float* noise, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = pulses[i] + noise[i];
}

int main() {
  std::vector<float> noise(kN), out(kN);
  unsigned state = 1;
  for (int i = 0; i < kN; ++i) {
    state = state * 1664525u + 1013904223u;
    noise[i] = float(state >> 8) / (1u << 24) - 0.5f;
  }

  float *dpulses, *dnoise, *dout;
  cudaMalloc(&dpulses, kBytes);
  cudaMalloc(&dnoise, kBytes);
  cudaMalloc(&dout, kBytes);
  cudaMemcpy(dnoise, noise.data(), kBytes, cudaMemcpyHostToDevice);
  int grid = (kN + 255) / 256;
  makePulses<<<grid, 256>>>(dpulses, kPeriod, kAmplitude, kN);
  addNoise<<<grid, 256>>>(dpulses, dnoise, dout, kN);
  cudaMemcpy(out.data(), dout, kBytes, cudaMemcpyDeviceToHost);
  cudaFree(dpulses);
  cudaFree(dnoise);
  cudaFree(dout);

  int wrong = 0;
  for (int i = 0; i < kN; ++i) {
    double pulse = std::fmax(std::sin(double(i / kPeriod)) - 0.3, 0.0) * kAmplitude;
    wrong += !(std::fabs(out[i] - (pulse + noise[i])) <= 1e-3);
  }
  printf("pulses: %d of %d samples wrong\n", wrong, kN);
  return wrong == 0 ? 0 : 1;
}
