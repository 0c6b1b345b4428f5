// Every element of a vector doubled in place: 256 elements, blocks of 32 threads, guarded. A thread reads and
// writes its own element only.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kN = 256;
constexpr int kBlock = 32;

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void doubleAll(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] *= 2.0f;
}

int main() {
  std::vector<float> a(kN);
  for (int i = 0; i < kN; ++i) a[i] = 0.5f * i;

  float* da;
  cudaMalloc(&da, kN * sizeof(float));
  cudaMemcpy(da, a.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
  doubleAll<<<(kN + kBlock - 1) / kBlock, kBlock>>>(da, kN);
  cudaMemcpy(a.data(), da, kN * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(da);

  int wrong = 0;
  for (int i = 0; i < kN; ++i) wrong += a[i] != float(i);
  printf("double_1d: %d of %d elements wrong\n", wrong, kN);
  return wrong == 0 ? 0 : 1;
}
