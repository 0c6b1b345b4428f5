// Grid-stride loop: 30 blocks of 128 threads share 100000 elements. Each thread starts at its global index
// and steps by the number of threads in the grid, so every element belongs to one thread, for any launch.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kN = 100000;

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void addVectors(const int* x, const int* y, int* z, int n) {
  int start = blockIdx.x * blockDim.x + threadIdx.x;
  int stride = gridDim.x * blockDim.x;
  for (int i = start; i < n; i += stride) {
    z[i] = x[i] + y[i];
  }
}

int main() {
  std::vector<int> x(kN), y(kN), z(kN);
  for (int i = 0; i < kN; ++i) {
    x[i] = i;
    y[i] = 7 * i % 1000;
  }

  int *dx, *dy, *dz;
  cudaMalloc(&dx, kN * sizeof(int));
  cudaMalloc(&dy, kN * sizeof(int));
  cudaMalloc(&dz, kN * sizeof(int));
  cudaMemcpy(dx, x.data(), kN * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(dy, y.data(), kN * sizeof(int), cudaMemcpyHostToDevice);
  addVectors<<<30, 128>>>(dx, dy, dz, kN);
  cudaMemcpy(z.data(), dz, kN * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(dx);
  cudaFree(dy);
  cudaFree(dz);

  int wrong = 0;
  for (int i = 0; i < kN; ++i) wrong += z[i] != x[i] + y[i];
  printf("add_stride: %d of %d elements wrong\n", wrong, kN);
  return wrong == 0 ? 0 : 1;
}
