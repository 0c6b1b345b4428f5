// Every element squared, in place: each thread reads and writes its own element only, so that nobody sees a
// half-finished array.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kN = 4000;

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void square(int* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = a[i] * a[i];
}

int main() {
  std::vector<int> a(kN);
  for (int i = 0; i < kN; ++i) a[i] = i - kN / 2;

  int* da;
  cudaMalloc(&da, kN * sizeof(int));
  cudaMemcpy(da, a.data(), kN * sizeof(int), cudaMemcpyHostToDevice);
  square<<<(kN + 127) / 128, 128>>>(da, kN);
  cudaMemcpy(a.data(), da, kN * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(da);

  int wrong = 0;
  for (int i = 0; i < kN; ++i) wrong += a[i] != (i - kN / 2) * (i - kN / 2);
  printf("square: %d of %d elements wrong\n", wrong, kN);
  return wrong == 0 ? 0 : 1;
}
