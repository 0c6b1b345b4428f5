// Matrix transpose straight from global to global memory: 32x32 tiles, 32x8 threads, four elements each.
// Neighbouring threads read a row, but write a column: every stored word moves a sector of its own.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kN = 1024;
constexpr int kTile = 32;
constexpr int kRows = 8;

__global__ void transpose(const int* in, int* out) {
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows) {
    int value = in[(y + j) * kN + x]; // expect-efficiency: 100
    out[x * kN + y + j] = value;      // expect-efficiency: 12.5 // expect: uncoalesced
  }
}

int main() {
  std::vector<int> in(kN * kN), out(kN * kN);
  for (int i = 0; i < kN * kN; ++i) in[i] = i;

  int *din, *dout;
  cudaMalloc(&din, kN * kN * sizeof(int));
  cudaMalloc(&dout, kN * kN * sizeof(int));
  cudaMemcpy(din, in.data(), kN * kN * sizeof(int), cudaMemcpyHostToDevice);
  dim3 grid(kN / kTile, kN / kTile), block(kTile, kRows);
  transpose<<<grid, block>>>(din, dout);
  cudaMemcpy(out.data(), dout, kN * kN * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(din);
  cudaFree(dout);

  int wrong = 0;
  for (int y = 0; y < kN; ++y)
    for (int x = 0; x < kN; ++x) wrong += out[x * kN + y] != in[y * kN + x];
  printf("transpose_naive: %d of %d elements wrong\n", wrong, kN * kN);
  return wrong == 0 ? 0 : 1;
}
