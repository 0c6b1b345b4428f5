// A launch after the memory is gone.
__global__ void scale(float* x) {
  x[blockIdx.x * blockDim.x + threadIdx.x] *= 2; // expect: use-after-free
}

int main() {
  float* x;
  cudaMalloc(&x, 1024 * sizeof(float));
  cudaMemset(x, 0, 1024 * sizeof(float));
  cudaFree(x);
  scale<<<8, 128>>>(x);
  cudaDeviceSynchronize();
}
