// 4096 elements, and blocks of 64 threads where 128 were meant: 32 blocks of 64 are 2048 threads.
#include <cstdio>
#include <vector>

constexpr int kN = 4096;

__global__ void fill(int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = i;
}

int main() {
  std::vector<int> out(kN);
  int* dout;
  cudaMalloc(&dout, kN * sizeof(int));
  fill<<<32, 64>>>(dout);                                                 // expect-static: launch-coverage
  cudaMemcpy(out.data(), dout, kN * sizeof(int), cudaMemcpyDeviceToHost); // expect-run: unwritten-output
  cudaFree(dout);

  int wrong = 0;
  for (int i = 0; i < kN; ++i) wrong += out[i] != i;
  printf("%d of %d elements wrong\n", wrong, kN);
}
