// Turns 256 x 256 numbers by a quarter: row y of the input becomes column n - 1 - y of the output.
// expect-anywhere: uncoalesced
#include <cstdio>
#include <vector>

__global__ void turn(float* out, const float* in, int n) {
  __shared__ float tile[32][32];
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 32 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * n + x];
  __syncthreads();
  out[x * n + n - 1 - y] = tile[threadIdx.y][threadIdx.x];
}

int main() {
  const int n = 256;
  const size_t bytes = n * n * sizeof(float);
  std::vector<float> in(n * n), out(n * n);
  for (int i = 0; i < n * n; ++i) in[i] = i;

  float *din, *dout;
  cudaMalloc(&din, bytes);
  cudaMalloc(&dout, bytes);
  cudaMemcpy(din, in.data(), bytes, cudaMemcpyHostToDevice);
  turn<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(dout, din, n);
  cudaMemcpy(out.data(), dout, bytes, cudaMemcpyDeviceToHost);
  cudaFree(din);
  cudaFree(dout);

  int wrong = 0;
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) wrong += out[x * n + n - 1 - y] != in[y * n + x];
  printf("%d of %d in the wrong place\n", wrong, n * n);
  return wrong != 0;
}
