// Every call's answer is looked at: runtime calls through a macro, the launch through cudaGetLastError, and
// what happens inside the kernel through the synchronising call after it.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(call)                                                                                          \
  do {                                                                                                       \
    cudaError_t error = (call);                                                                              \
    if (error != cudaSuccess) {                                                                              \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));                         \
      exit(1);                                                                                               \
    }                                                                                                        \
  } while (0)

constexpr int kN = 4096;

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void fill(int* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = i + 1;
}

int main() {
  std::vector<int> a(kN);
  int* da = nullptr;
  CHECK(cudaMalloc(&da, kN * sizeof(int)));
  CHECK(cudaMemset(da, 0, kN * sizeof(int)));
  fill<<<kN / 512, 512>>>(da, kN);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(a.data(), da, kN * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(da));

  int wrong = 0;
  for (int i = 0; i < kN; ++i) wrong += a[i] != i + 1;
  printf("errors: %d of %d elements wrong\n", wrong, kN);
  return wrong == 0 ? 0 : 1;
}
