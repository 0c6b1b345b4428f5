// A kernel gets the address of host memory.
#include <vector>

__global__ void scale(float* x) {
  x[blockIdx.x * blockDim.x + threadIdx.x] *= 2; // expect-run: wrong-space
}

int main() {
  std::vector<float> x(1024);
  scale<<<8, 128>>>(x.data());
  cudaDeviceSynchronize();
}
