// Three-point average, ten steps: each step reads one array and writes the other, and the host exchanges the
// two between steps. Within a step nobody reads what another thread writes.
#include <cstdio>
#include <cuda_runtime.h>
#include <utility>
#include <vector>

constexpr int kN = 10000;
constexpr int kSteps = 10;

// expect-proved: race-free, barriers-uniform
__global__ void average(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (i == 0 || i == n - 1) {
    out[i] = in[i];
  } else {
    out[i] = (in[i - 1] + in[i] + in[i + 1]) / 3.0f;
  }
}

int main() {
  std::vector<float> values(kN), result(kN);
  for (int i = 0; i < kN; ++i) values[i] = float(i * 31 % 97);

  float *din, *dout;
  cudaMalloc(&din, kN * sizeof(float));
  cudaMalloc(&dout, kN * sizeof(float));
  cudaMemcpy(din, values.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
  for (int step = 0; step < kSteps; ++step) {
    average<<<(kN + 255) / 256, 256>>>(din, dout, kN);
    std::swap(din, dout);
  }
  cudaMemcpy(result.data(), din, kN * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(din);
  cudaFree(dout);

  for (int step = 0; step < kSteps; ++step) {
    std::vector<float> next = values;
    for (int i = 1; i + 1 < kN; ++i) next[i] = (values[i - 1] + values[i] + values[i + 1]) / 3.0f;
    values = next;
  }
  int wrong = 0;
  for (int i = 0; i < kN; ++i) wrong += !(result[i] - values[i] < 1e-3f && values[i] - result[i] < 1e-3f);
  printf("stencil: %d of %d elements wrong\n", wrong, kN);
  return wrong == 0 ? 0 : 1;
}
