// What a device array may go through: allocated, used while it lives, freed once. The fixtures of this name
// each break one of these rules.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kN = 1024;

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void addOne(int* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] += 1;
}

int main() {
  std::vector<int> a(kN);
  for (int i = 0; i < kN; ++i) a[i] = i;

  int* da;
  cudaMalloc(&da, kN * sizeof(int));
  cudaMemcpy(da, a.data(), kN * sizeof(int), cudaMemcpyHostToDevice);
  addOne<<<kN / 128, 128>>>(da, kN);
  cudaMemcpy(a.data(), da, kN * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(da);

  int wrong = 0;
  for (int i = 0; i < kN; ++i) wrong += a[i] != i + 1;
  printf("lifetimes: %d of %d elements wrong\n", wrong, kN);
  return wrong == 0 ? 0 : 1;
}
