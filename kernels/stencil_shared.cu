// One-dimensional stencil of radius 3 in shared memory: a block loads its elements and a halo of three on
// either side, waits, and adds seven neighbours. The input has three extra elements at each end, so the halo
// exists.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kN = 16384;
constexpr int kRadius = 3;
constexpr int kBlock = 128;
constexpr int kPadded = kN + 2 * kRadius;

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void stencil(const int* in, int* out) {
  __shared__ int tile[kBlock + 2 * kRadius];
  int t = threadIdx.x;
  int g = blockIdx.x * kBlock + t + kRadius; // in the padded input
  int s = t + kRadius;
  tile[s] = in[g];
  if (t < kRadius) {
    tile[s - kRadius] = in[g - kRadius];
    tile[s + kBlock] = in[g + kBlock];
  }
  __syncthreads();
  int sum = 0;
  for (int d = -kRadius; d <= kRadius; ++d) {
    sum += tile[s + d];
  }
  out[g - kRadius] = sum;
}

int main() {
  std::vector<int> in(kPadded), out(kN);
  for (int i = 0; i < kPadded; ++i) in[i] = i * 7 % 101;

  int *din, *dout;
  cudaMalloc(&din, kPadded * sizeof(int));
  cudaMalloc(&dout, kN * sizeof(int));
  cudaMemcpy(din, in.data(), kPadded * sizeof(int), cudaMemcpyHostToDevice);
  stencil<<<kN / kBlock, kBlock>>>(din, dout);
  cudaMemcpy(out.data(), dout, kN * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(din);
  cudaFree(dout);

  int wrong = 0;
  for (int i = 0; i < kN; ++i) {
    int sum = 0;
    for (int d = 0; d <= 2 * kRadius; ++d) sum += in[i + d];
    wrong += out[i] != sum;
  }
  printf("stencil_shared: %d of %d elements wrong\n", wrong, kN);
  return wrong == 0 ? 0 : 1;
}
