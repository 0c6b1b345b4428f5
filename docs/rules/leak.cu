// Device memory that nobody frees.
__global__ void fill(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] = 1; }

int main() {
  float* x;
  cudaMalloc(&x, 1024 * sizeof(float)); // expect-run: leak
  fill<<<8, 128>>>(x);
  cudaDeviceSynchronize();
}
