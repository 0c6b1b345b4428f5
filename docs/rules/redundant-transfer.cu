// The data goes to the host and back, untouched, between two kernels.
#include <numeric>
#include <vector>

__global__ void normalise(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] /= 255; }

__global__ void weigh(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] *= 0.5f; }

int main() {
  const int n = 4096, bytes = n * sizeof(float);
  std::vector<float> h(n);
  std::iota(h.begin(), h.end(), 0.0f);
  float* d;
  cudaMalloc(&d, bytes);
  cudaMemcpy(d, h.data(), bytes, cudaMemcpyHostToDevice);
  normalise<<<32, 128>>>(d);
  cudaMemcpy(h.data(), d, bytes, cudaMemcpyDeviceToHost);
  cudaMemcpy(d, h.data(), bytes, cudaMemcpyHostToDevice); // expect: redundant-transfer
  weigh<<<32, 128>>>(d);
  cudaMemcpy(h.data(), d, bytes, cudaMemcpyDeviceToHost);
  cudaFree(d);
}
