// One stream fills an array, another one reads it, and the host prints the result.
#include <cstdio>

constexpr int kN = 4096;

__global__ void produce(int* a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = i; // expect-run: race-host
}

__global__ void consume(int* out, const int* a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = a[i] + 1;
}

int main() {
  const size_t bytes = kN * sizeof(int);
  cudaStream_t first, second;
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  int *a, *out, *host;
  cudaMalloc(&a, bytes);
  cudaMalloc(&out, bytes);
  cudaMallocHost(&host, bytes);

  produce<<<kN / 128, 128, 0, first>>>(a);
  consume<<<kN / 128, 128, 0, second>>>(out, a);
  cudaMemcpyAsync(host, out, bytes, cudaMemcpyDeviceToHost, second); // expect-run: race-host
  printf("the last element is %d\n", host[kN - 1]);

  cudaDeviceSynchronize();
  cudaFree(a);
  cudaFree(out);
  cudaFreeHost(host);
  cudaStreamDestroy(first);
  cudaStreamDestroy(second);
}
