// The host reads what a kernel may not have written yet.
#include <cstdio>

__global__ void fill(int* a) {
  a[blockIdx.x * blockDim.x + threadIdx.x] = 7; // expect-run: race-host
}

int main() {
  int* a;
  cudaMallocManaged(&a, 1024 * sizeof(int));
  fill<<<8, 128>>>(a);
  printf("%d\n", a[0]);
  cudaDeviceSynchronize();
  cudaFree(a);
}
