// A launch that fails, and nobody asks.
__global__ void fill(float* x) {
  x[threadIdx.x] = 1;
}

int main() {
  float* x;
  cudaMalloc(&x, 2048 * sizeof(float));
  fill<<<1, 2048>>>(x); // expect: unchecked-error, invalid-launch
  cudaDeviceSynchronize();
  cudaFree(x);
}
