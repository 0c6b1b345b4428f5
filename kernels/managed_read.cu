// Managed memory is one array for host and device. The kernel writes it, the host waits for the kernel, and
// only then reads.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int kN = 4096;

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void fill(int* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = 3 * i;
}

int main() {
  int* a;
  cudaMallocManaged(&a, kN * sizeof(int));
  for (int i = 0; i < kN; ++i) a[i] = -1;
  fill<<<(kN + 127) / 128, 128>>>(a, kN);
  cudaDeviceSynchronize();

  int wrong = 0;
  for (int i = 0; i < kN; ++i) wrong += a[i] != 3 * i;
  cudaDeviceSynchronize();
  cudaFree(a);
  printf("managed_read: %d of %d elements wrong\n", wrong, kN);
  return wrong == 0 ? 0 : 1;
}
