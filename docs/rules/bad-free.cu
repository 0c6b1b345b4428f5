// The same memory is freed twice.
__global__ void fill(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] = 1; }

int main() {
  float* x;
  cudaMalloc(&x, 1024 * sizeof(float));
  fill<<<8, 128>>>(x);
  cudaFree(x);
  cudaFree(x); // expect-run: bad-free
}
