// Conway's Game of Life on a torus of 256x256 cells, one byte each, for 30 generations between two arrays;
// the number of living cells is counted at the end, with one vote per warp.
#include <cstdio>
#include <cuda_runtime.h>
#include <utility>
#include <vector>

constexpr int kSize = 256;
constexpr int kCells = kSize * kSize;
constexpr int kGenerations = 30;

__host__ __device__ inline unsigned char nextState(const unsigned char* cells, int x, int y) {
  int neighbours = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      if (dx != 0 || dy != 0)
        neighbours += cells[((y + dy + kSize) % kSize) * kSize + (x + dx + kSize) % kSize];
  return neighbours == 3 || (neighbours == 2 && cells[y * kSize + x]);
}

__global__ void evolve(const unsigned char* before, unsigned char* after) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < kSize && y < kSize) after[y * kSize + x] = nextState(before, x, y);
}

__global__ void countAlive(const unsigned char* cells, int* alive) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned votes = __ballot_sync(0xffffffff, cells[i] != 0);
  if (threadIdx.x % 32 == 0) atomicAdd(alive, __popc(votes));
}

int main() {
  std::vector<unsigned char> cells(kCells), result(kCells);
  unsigned state = 1;
  for (unsigned char& cell : cells) {
    state = state * 1664525u + 1013904223u;
    cell = (state >> 24) % 3 == 0;
  }

  unsigned char *dbefore, *dafter;
  int* dalive;
  cudaMalloc(&dbefore, kCells);
  cudaMalloc(&dafter, kCells);
  cudaMalloc(&dalive, sizeof(int));
  cudaMemcpy(dbefore, cells.data(), kCells, cudaMemcpyHostToDevice);
  cudaMemset(dalive, 0, sizeof(int));
  dim3 block(32, 8), grid(kSize / 32, kSize / 8);
  for (int g = 0; g < kGenerations; ++g) {
    evolve<<<grid, block>>>(dbefore, dafter);
    std::swap(dbefore, dafter);
  }
  countAlive<<<kCells / 256, 256>>>(dbefore, dalive);
  int alive = 0;
  cudaMemcpy(result.data(), dbefore, kCells, cudaMemcpyDeviceToHost);
  cudaMemcpy(&alive, dalive, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(dbefore);
  cudaFree(dafter);
  cudaFree(dalive);

  for (int g = 0; g < kGenerations; ++g) {
    std::vector<unsigned char> before = cells;
    for (int y = 0; y < kSize; ++y)
      for (int x = 0; x < kSize; ++x) cells[y * kSize + x] = nextState(before.data(), x, y);
  }
  int wrong = 0, expected = 0;
  for (int i = 0; i < kCells; ++i) {
    wrong += result[i] != cells[i];
    expected += cells[i];
  }
  wrong += alive != expected;
  printf("game_of_life: %d of %d cells wrong, %d alive\n", wrong, kCells, alive);
  return wrong == 0 ? 0 : 1;
}
