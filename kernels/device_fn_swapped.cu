// A helper iterates `a = exp(a * b)` twice for each of 100 elements, with 4 blocks of 32 threads and a guard.
// The wrong twin exchanges the two launch arguments, which C++ does not notice.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kN = 100;

__device__ float iterate(float a, float b) {
  for (int step = 0; step < 2; ++step) a = expf(a * b);
  return a;
}

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void iterateAll(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = iterate(a[i], b[i]);
}

int main() {
  std::vector<float> a(kN), b(kN), out(kN);
  for (int i = 0; i < kN; ++i) {
    a[i] = 0.01f * i;
    b[i] = 1.0f - 0.01f * i;
  }

  float *da, *db, *dout;
  cudaMalloc(&da, kN * sizeof(float));
  cudaMalloc(&db, kN * sizeof(float));
  cudaMalloc(&dout, kN * sizeof(float));
  cudaMemcpy(da, a.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
  iterateAll<<<4, 32>>>(da, db, dout, kN);
  cudaMemcpy(out.data(), dout, kN * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(da);
  cudaFree(db);
  cudaFree(dout);

  int wrong = 0;
  for (int i = 0; i < kN; ++i) {
    double expected = std::exp(std::exp(double(a[i]) * b[i]) * b[i]);
    wrong += !(std::fabs(out[i] - expected) <= 1e-5 * expected);
  }
  printf("device_fn_swapped: %d of %d elements wrong\n", wrong, kN);
  return wrong == 0 ? 0 : 1;
}
