// Inclusive prefix sum of a block after Hillis and Steele: each step reads one buffer and writes the other,
// so one barrier per step is enough.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kBlock = 256;
constexpr int kGrid = 16;
constexpr int kN = kBlock * kGrid;

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void scan(const int* in, int* out) {
  __shared__ int buffer[2][kBlock];
  int t = threadIdx.x;
  int from = 0;
  buffer[from][t] = in[blockIdx.x * kBlock + t];
  __syncthreads();
  for (int d = 1; d < kBlock; d *= 2) {
    int sum = buffer[from][t];
    if (t >= d) sum += buffer[from][t - d];
    buffer[1 - from][t] = sum;
    from = 1 - from;
    __syncthreads();
  }
  out[blockIdx.x * kBlock + t] = buffer[from][t];
}

int main() {
  std::vector<int> in(kN), out(kN);
  for (int i = 0; i < kN; ++i) in[i] = i % 37 - 10;

  int *din, *dout;
  cudaMalloc(&din, kN * sizeof(int));
  cudaMalloc(&dout, kN * sizeof(int));
  cudaMemcpy(din, in.data(), kN * sizeof(int), cudaMemcpyHostToDevice);
  scan<<<kGrid, kBlock>>>(din, dout);
  cudaMemcpy(out.data(), dout, kN * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(din);
  cudaFree(dout);

  int wrong = 0;
  for (int b = 0; b < kGrid; ++b) {
    int sum = 0;
    for (int t = 0; t < kBlock; ++t) {
      sum += in[b * kBlock + t];
      wrong += out[b * kBlock + t] != sum;
    }
  }
  printf("scan_shared: %d of %d elements wrong\n", wrong, kN);
  return wrong == 0 ? 0 : 1;
}
