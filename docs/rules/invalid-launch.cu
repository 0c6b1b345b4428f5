// 2048 threads in a block: no device has that many.
#include <cstdio>

__global__ void fill(float* x) { x[threadIdx.x] = 1; }

int main() {
  float* x;
  cudaMalloc(&x, 2048 * sizeof(float));
  fill<<<1, 2048>>>(x); // expect: invalid-launch
  printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(x);
}
