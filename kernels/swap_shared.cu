// Four threads reverse an array through shared memory: each stores its own element, all wait at the
// barrier, then each reads the element of its opposite.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int kN = 4;

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void reverse(const int* in, int* out) {
  __shared__ int tile[kN];
  int t = threadIdx.x;
  tile[t] = in[t];
  __syncthreads();
  out[t] = tile[kN - 1 - t];
}

int main() {
  int in[kN] = {10, 20, 30, 40}, out[kN] = {};
  int *din, *dout;
  cudaMalloc(&din, kN * sizeof(int));
  cudaMalloc(&dout, kN * sizeof(int));
  cudaMemcpy(din, in, kN * sizeof(int), cudaMemcpyHostToDevice);
  reverse<<<1, kN>>>(din, dout); // expect: launch-shape
  cudaMemcpy(out, dout, kN * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(din);
  cudaFree(dout);

  int wrong = 0;
  for (int i = 0; i < kN; ++i) wrong += out[i] != in[kN - 1 - i];
  printf("swap_shared: %d %d %d %d: %s\n", out[0], out[1], out[2], out[3], wrong ? "wrong" : "right");
  return wrong == 0 ? 0 : 1;
}
