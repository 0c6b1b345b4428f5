// A kernel gets the address of host memory.
__global__ void scale(float* x) {
  x[blockIdx.x * blockDim.x + threadIdx.x] *= 2; // expect-run: wrong-space
}

int main() {
  alignas(32) float x[1024] = {};
  scale<<<8, 128>>>(x);
  cudaDeviceSynchronize();
}
