// One added to each of 256 elements by 8 blocks of 32 threads, with a guard that this launch does not need
// and every other one does.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kN = 256;
constexpr int kBlock = 32;

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void increment(int* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] += 1;
}

int main() {
  std::vector<int> a(kN);
  for (int i = 0; i < kN; ++i) a[i] = 5 * i;

  int* da;
  cudaMalloc(&da, kN * sizeof(int));
  cudaMemcpy(da, a.data(), kN * sizeof(int), cudaMemcpyHostToDevice);
  increment<<<(kN + kBlock - 1) / kBlock, kBlock>>>(da, kN);
  cudaMemcpy(a.data(), da, kN * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(da);

  int wrong = 0;
  for (int i = 0; i < kN; ++i) wrong += a[i] != 5 * i + 1;
  printf("increment: %d of %d elements wrong\n", wrong, kN);
  return wrong == 0 ? 0 : 1;
}
