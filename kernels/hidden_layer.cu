// One hidden layer of a network on grey values: normalise (/ 255), weigh (* w), activate (tanh by
// exponentials). Three kernels, one pipeline: the values stay on the device from first to last.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kN = 1000000;
constexpr size_t kBytes = kN * sizeof(float);

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void normalise(const float* grey, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = grey[i] / 255.0f;
}

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void weigh(const float* values, const float* weights, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = values[i] * weights[i];
}

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void activate(const float* values, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float up = expf(values[i]), down = expf(-values[i]);
  out[i] = (up - down) / (up + down);
}

int main() {
  std::vector<float> grey(kN), weights(kN), out(kN);
  for (int i = 0; i < kN; ++i) {
    grey[i] = float(i * 37 % 256);
    weights[i] = 0.5f + (i % 100) * 0.01f;
  }

  float *dgrey, *dweights, *dnormal, *dweighed, *dout;
  cudaMalloc(&dgrey, kBytes);
  cudaMalloc(&dweights, kBytes);
  cudaMalloc(&dnormal, kBytes);
  cudaMalloc(&dweighed, kBytes);
  cudaMalloc(&dout, kBytes);
  cudaMemcpy(dgrey, grey.data(), kBytes, cudaMemcpyHostToDevice);
  cudaMemcpy(dweights, weights.data(), kBytes, cudaMemcpyHostToDevice);
  int grid = (kN + 255) / 256;
  normalise<<<grid, 256>>>(dgrey, dnormal, kN);
  weigh<<<grid, 256>>>(dnormal, dweights, dweighed, kN);
  activate<<<grid, 256>>>(dweighed, dout, kN);
  cudaMemcpy(out.data(), dout, kBytes, cudaMemcpyDeviceToHost);
  cudaFree(dgrey);
  cudaFree(dweights);
  cudaFree(dnormal);
  cudaFree(dweighed);
  cudaFree(dout);

  int wrong = 0;
  for (int i = 0; i < kN; ++i) {
    double expected = std::tanh(double(grey[i]) / 255.0 * weights[i]);
    wrong += !(std::fabs(out[i] - expected) <= 1e-5);
  }
  printf("hidden_layer: %d of %d elements wrong\n", wrong, kN);
  return wrong == 0 ? 0 : 1;
}
