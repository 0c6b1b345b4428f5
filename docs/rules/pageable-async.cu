// An asynchronous copy from ordinary memory, which is staged and does not overlap.
#include <vector>

__global__ void scale(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }

int main() {
  const int n = 4096, bytes = n * sizeof(float);
  std::vector<float> h(n, 1);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  float* d;
  cudaMalloc(&d, bytes);
  cudaMemcpyAsync(d, h.data(), bytes, cudaMemcpyHostToDevice, stream); // expect-static: pageable-async
  scale<<<32, 128, 0, stream>>>(d);
  cudaStreamSynchronize(stream);
  cudaFree(d);
  cudaStreamDestroy(stream);
}
