// 1000 / 128 is 7: the last 104 elements are left out.
__global__ void scale(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}

int main() {
  const int n = 1000;
  float* x;
  cudaMalloc(&x, n * sizeof(float));
  cudaMemset(x, 0, n * sizeof(float));
  scale<<<n / 128, 128>>>(x, n); // expect-static: launch-coverage
  cudaFree(x);
}
