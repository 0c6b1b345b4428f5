// How long does a kernel take? A clock of the host around the launch is right when the host waits for the
// kernel before it reads the clock again: a launch returns at once.
#include <chrono>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kN = 100000;

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void scale(float* a, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] *= factor;
}

int main() {
  std::vector<float> a(kN);
  for (int i = 0; i < kN; ++i) a[i] = float(i);

  float* da;
  cudaMalloc(&da, kN * sizeof(float));
  cudaMemcpy(da, a.data(), kN * sizeof(float), cudaMemcpyHostToDevice);

  auto start = std::chrono::steady_clock::now();
  scale<<<(kN + 255) / 256, 256>>>(da, 2.0f, kN);
  cudaDeviceSynchronize();
  auto stop = std::chrono::steady_clock::now();
  double seconds = std::chrono::duration<double>(stop - start).count();

  cudaMemcpy(a.data(), da, kN * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(da);

  int wrong = 0;
  for (int i = 0; i < kN; ++i) wrong += a[i] != 2.0f * i;
  printf("timing_clock: %d of %d elements wrong, %s\n", wrong, kN, seconds >= 0 ? "time taken" : "no time");
  return wrong == 0 && seconds >= 0 ? 0 : 1;
}
