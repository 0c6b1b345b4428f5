// Between the two readings of the clock the kernel is started, not done.
#include <chrono>
#include <cstdio>

__global__ void scale(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }

int main() {
  float* x;
  cudaMalloc(&x, 4096 * sizeof(float));
  cudaMemset(x, 0, 4096 * sizeof(float));
  auto start = std::chrono::steady_clock::now();
  scale<<<32, 128>>>(x);
  auto stop = std::chrono::steady_clock::now(); // expect-static: unsynchronized-timing
  printf("%s\n", stop - start > std::chrono::seconds(1) ? "slow" : "fast");
  cudaFree(x);
}
