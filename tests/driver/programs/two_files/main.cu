// Calls a device function of the other file in a kernel of its own.
#include "lib.h"

#include <cstdio>
#include <vector>

__global__ void apply(float *values, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] = polynomial(values[i]);
}

int main() {
  const int n = 1000;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = float(i) * 0.001f;
  float *values;
  cudaMalloc(&values, n * sizeof(float));
  cudaMemcpy(values, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  apply<<<(n + 127) / 128, 128>>>(values, n);
  launchCount(values, n, 5.0f);
  int got = 0, want = 0;
  cudaMemcpyFromSymbol(&got, counter, sizeof got);
  cudaMemcpy(host.data(), values, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(values);
  for (float value : host) want += value > 5.0f;
  std::printf("%d of %d\n", got, want);
  return got == want ? 0 : 1;
}
