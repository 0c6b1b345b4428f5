// How long does the kernel take? And does the data have to travel in between?
#include <chrono>
#include <cstdio>
#include <vector>

constexpr int kN = 100000;
constexpr int kBlocks = (kN + 127) / 128;

__global__ void scale(float* x, float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kN) x[i] *= factor;
}

int main() {
  const size_t bytes = kN * sizeof(float);
  std::vector<float> x(kN, 3);
  float* dx;
  cudaMalloc(&dx, bytes);
  cudaMemcpy(dx, x.data(), bytes, cudaMemcpyHostToDevice);

  auto start = std::chrono::steady_clock::now();
  scale<<<kBlocks, 128>>>(dx, 2);
  auto stop = std::chrono::steady_clock::now(); // expect-static: unsynchronized-timing

  cudaMemcpy(x.data(), dx, bytes, cudaMemcpyDeviceToHost);
  cudaMemcpy(dx, x.data(), bytes, cudaMemcpyHostToDevice); // expect-static: redundant-transfer
  scale<<<kBlocks, 128>>>(dx, 0.5f);
  cudaMemcpy(x.data(), dx, bytes, cudaMemcpyDeviceToHost);
  cudaFree(dx);
  printf("%s, and the first element is %g\n", stop > start ? "timed" : "no time at all", x[0]);
}
