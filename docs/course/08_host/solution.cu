// Halves of an array are copied, squared and copied back in two streams; a third kernel adds the halves up.
#include <cstdio>

constexpr int kHalf = 4096;
constexpr size_t kBytes = kHalf * sizeof(int);

__global__ void square(int* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] *= x[i];
}

__global__ void add(int* sums, const int* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  sums[i] = x[i] + x[kHalf + i];
}

int main() {
  int *host, *x, *sums;
  cudaMallocHost(&host, 2 * kBytes);
  cudaMalloc(&x, 2 * kBytes);
  cudaMalloc(&sums, kBytes);
  for (int i = 0; i < 2 * kHalf; ++i) host[i] = i % 100;

  cudaStream_t streams[2];
  cudaEvent_t squared;
  cudaEventCreate(&squared);
  for (int half = 0; half < 2; ++half) {
    cudaStreamCreate(&streams[half]);
    cudaMemcpyAsync(x + half * kHalf, host + half * kHalf, kBytes, cudaMemcpyHostToDevice, streams[half]);
    square<<<kHalf / 128, 128, 0, streams[half]>>>(x + half * kHalf);
  }
  cudaEventRecord(squared, streams[1]);
  cudaStreamWaitEvent(streams[0], squared, 0);
  add<<<kHalf / 128, 128, 0, streams[0]>>>(sums, x);
  cudaMemcpyAsync(host, sums, kBytes, cudaMemcpyDeviceToHost, streams[0]);
  cudaStreamSynchronize(streams[0]);
  printf("the first sums are %d %d %d\n", host[0], host[1], host[2]);

  cudaEventDestroy(squared);
  cudaFreeHost(host);
  cudaFree(x);
  cudaFree(sums);
  for (cudaStream_t stream : streams) cudaStreamDestroy(stream);
}
