// Grid and block exchanged: 32 blocks of 4 threads were to be 4 blocks of 32.
__global__ void scale(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}

int main() {
  float* x;
  cudaMalloc(&x, 100 * sizeof(float));
  cudaMemset(x, 0, 100 * sizeof(float));
  scale<<<32, 4>>>(x, 100); // expect: launch-shape
  cudaFree(x);
}
