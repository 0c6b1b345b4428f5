// Element-wise sum without a guard: 32 blocks of 128 threads are exactly the 4096 threads that 4096 elements
// need. Right because of the launch, and for this launch only.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kN = 4096;

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void addVectors(const int* a, const int* b, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = a[i] + b[i];
}

int main() {
  std::vector<int> a(kN), b(kN), out(kN);
  for (int i = 0; i < kN; ++i) {
    a[i] = 3 * i;
    b[i] = kN - i;
  }

  int *da, *db, *dout;
  cudaMalloc(&da, kN * sizeof(int));
  cudaMalloc(&db, kN * sizeof(int));
  cudaMalloc(&dout, kN * sizeof(int));
  cudaMemcpy(da, a.data(), kN * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), kN * sizeof(int), cudaMemcpyHostToDevice);
  addVectors<<<32, 128>>>(da, db, dout);
  cudaMemcpy(out.data(), dout, kN * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(da);
  cudaFree(db);
  cudaFree(dout);

  int wrong = 0;
  for (int i = 0; i < kN; ++i) wrong += out[i] != a[i] + b[i];
  printf("vecadd_exact: %d of %d elements wrong\n", wrong, kN);
  return wrong == 0 ? 0 : 1;
}
