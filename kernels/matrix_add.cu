// Two ways over a square matrix with blocks of 32x32 threads: element [y][x] lets a warp run along a row,
// element [x][y] down a column. Both are right; the second uses an eighth of what it moves.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kN = 512;
constexpr int kTile = 32;

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void addByRows(const float* a, const float* b, float* c) {
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  c[y * kN + x] = a[y * kN + x] + b[y * kN + x]; // expect-efficiency: load 100 store 100
}

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void addByColumns(const float* a, const float* b, float* c) {
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  int i = x * kN + y;
  c[i] = a[i] + b[i]; // expect-efficiency: load 12.5 store 12.5 // expect: uncoalesced
}

static int countWrong(const std::vector<float>& a, const std::vector<float>& b, const float* dc) {
  std::vector<float> c(kN * kN);
  cudaMemcpy(c.data(), dc, kN * kN * sizeof(float), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < kN * kN; ++i) wrong += c[i] != a[i] + b[i];
  return wrong;
}

int main() {
  std::vector<float> a(kN * kN), b(kN * kN);
  for (int i = 0; i < kN * kN; ++i) {
    a[i] = float(i);
    b[i] = float(i % 5);
  }

  float *da, *db, *dc;
  cudaMalloc(&da, kN * kN * sizeof(float));
  cudaMalloc(&db, kN * kN * sizeof(float));
  cudaMalloc(&dc, kN * kN * sizeof(float));
  cudaMemcpy(da, a.data(), kN * kN * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), kN * kN * sizeof(float), cudaMemcpyHostToDevice);
  dim3 grid(kN / kTile, kN / kTile), block(kTile, kTile);
  addByRows<<<grid, block>>>(da, db, dc);
  int wrong = countWrong(a, b, dc);
  cudaMemset(dc, 0, kN * kN * sizeof(float));
  addByColumns<<<grid, block>>>(da, db, dc);
  wrong += countWrong(a, b, dc);
  cudaFree(da);
  cudaFree(db);
  cudaFree(dc);

  printf("matrix_add: %d of %d elements wrong\n", wrong, 2 * kN * kN);
  return wrong == 0 ? 0 : 1;
}
