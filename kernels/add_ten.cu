// Ten added to every 64-bit integer of an array, from one array into another: eight-byte accesses, one per
// thread, with a guard for the idle threads of the last block.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kN = 10000;

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void addTen(const long long* in, long long* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + 10;
}

int main() {
  std::vector<long long> in(kN), out(kN);
  for (int i = 0; i < kN; ++i) in[i] = 1000000007LL * i;

  long long *din, *dout;
  cudaMalloc(&din, kN * sizeof(long long));
  cudaMalloc(&dout, kN * sizeof(long long));
  cudaMemcpy(din, in.data(), kN * sizeof(long long), cudaMemcpyHostToDevice);
  addTen<<<(kN + 255) / 256, 256>>>(din, dout, kN);
  cudaMemcpy(out.data(), dout, kN * sizeof(long long), cudaMemcpyDeviceToHost);
  cudaFree(din);
  cudaFree(dout);

  int wrong = 0;
  for (int i = 0; i < kN; ++i) wrong += out[i] != in[i] + 10;
  printf("add_ten: %d of %d elements wrong\n", wrong, kN);
  return wrong == 0 ? 0 : 1;
}
