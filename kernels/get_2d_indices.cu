// 2x2 blocks of 2x2 threads fill a 4x4 matrix with `x + y / 10`: the element shows who wrote it. Every thread
// has a place of its own, on both axes.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>

constexpr int kN = 4;

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void writeIndices(float* out) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  out[y * kN + x] = x + y / 10.0f;
}

int main() {
  float out[kN * kN] = {};
  float* dout;
  cudaMalloc(&dout, sizeof(out));
  dim3 grid(2, 2), block(2, 2);
  writeIndices<<<grid, block>>>(dout); // expect: launch-shape
  cudaMemcpy(out, dout, sizeof(out), cudaMemcpyDeviceToHost);
  cudaFree(dout);

  int wrong = 0;
  for (int y = 0; y < kN; ++y)
    for (int x = 0; x < kN; ++x) wrong += std::fabs(out[y * kN + x] - (x + 0.1f * y)) > 1e-6f;
  printf("get_2d_indices: %d of %d elements wrong\n", wrong, kN * kN);
  return wrong == 0 ? 0 : 1;
}
