// Transpose through a 32x32 tile in shared memory, with 32x32 and with 32x8 threads: rows are read, rows are
// written. The price is reading the tile by columns: all 32 lanes of a warp hit the same bank.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kN = 1024;
constexpr int kTile = 32;

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void transpose(const int* in, int* out) {
  __shared__ int tile[kTile][kTile];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += blockDim.y) {
    int value = in[(y + j) * kN + x];           // expect-efficiency: 100
    tile[threadIdx.y + j][threadIdx.x] = value; // expect-bank-ways: 1
  }
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += blockDim.y) {
    int value = tile[threadIdx.x][threadIdx.y + j]; // expect-bank-ways: 32 // expect: bank-conflict
    out[(y + j) * kN + x] = value;                  // expect-efficiency: 100
  }
}

static int countWrong(const std::vector<int>& in, const std::vector<int>& out) {
  int wrong = 0;
  for (int y = 0; y < kN; ++y)
    for (int x = 0; x < kN; ++x) wrong += out[x * kN + y] != in[y * kN + x];
  return wrong;
}

int main() {
  std::vector<int> in(kN * kN), out(kN * kN);
  for (int i = 0; i < kN * kN; ++i) in[i] = i;

  int *din, *dout;
  cudaMalloc(&din, kN * kN * sizeof(int));
  cudaMalloc(&dout, kN * kN * sizeof(int));
  cudaMemcpy(din, in.data(), kN * kN * sizeof(int), cudaMemcpyHostToDevice);
  dim3 grid(kN / kTile, kN / kTile);

  transpose<<<grid, dim3(kTile, kTile)>>>(din, dout);
  cudaMemcpy(out.data(), dout, kN * kN * sizeof(int), cudaMemcpyDeviceToHost);
  int wrong = countWrong(in, out);

  cudaMemset(dout, 0, kN * kN * sizeof(int));
  transpose<<<grid, dim3(kTile, 8)>>>(din, dout);
  cudaMemcpy(out.data(), dout, kN * kN * sizeof(int), cudaMemcpyDeviceToHost);
  wrong += countWrong(in, out);

  cudaFree(din);
  cudaFree(dout);
  printf("transpose_tile: %d of %d elements wrong\n", wrong, 2 * kN * kN);
  return wrong == 0 ? 0 : 1;
}
