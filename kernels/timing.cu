// How long does a kernel take? Events recorded before and after the launch, and the second one synchronised
// before the elapsed time is read.
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

  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaEventRecord(start);
  scale<<<(kN + 255) / 256, 256>>>(da, 2.0f, kN);
  cudaEventRecord(stop);
  cudaEventSynchronize(stop);
  float milliseconds = -1.0f;
  cudaEventElapsedTime(&milliseconds, start, stop);
  cudaEventDestroy(start);
  cudaEventDestroy(stop);

  cudaMemcpy(a.data(), da, kN * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(da);

  int wrong = 0;
  for (int i = 0; i < kN; ++i) wrong += a[i] != 2.0f * i;
  printf("timing: %d of %d elements wrong, %s\n", wrong, kN, milliseconds >= 0 ? "time taken" : "no time");
  return wrong == 0 && milliseconds >= 0 ? 0 : 1;
}
