// A producer in one stream, a consumer in another. The consumer's stream waits for an event that the
// producer's records, and the host waits for the copy before it looks at the result.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int kN = 4096;
constexpr size_t kBytes = kN * sizeof(int);

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void produce(int* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = 5 * i;
}

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void consume(const int* a, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + 1;
}

int main() {
  int *da, *dout, *out;
  cudaMalloc(&da, kBytes);
  cudaMalloc(&dout, kBytes);
  cudaMallocHost(&out, kBytes);
  cudaStream_t first, second;
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  cudaEvent_t produced;
  cudaEventCreate(&produced);

  produce<<<kN / 128, 128, 0, first>>>(da, kN);
  cudaEventRecord(produced, first);
  cudaStreamWaitEvent(second, produced, 0);
  consume<<<kN / 128, 128, 0, second>>>(da, dout, kN);
  cudaMemcpyAsync(out, dout, kBytes, cudaMemcpyDeviceToHost, second);
  cudaStreamSynchronize(second);
  int wrong = 0;
  for (int i = 0; i < kN; ++i) wrong += out[i] != 5 * i + 1;

  cudaDeviceSynchronize();
  cudaEventDestroy(produced);
  cudaStreamDestroy(first);
  cudaStreamDestroy(second);
  cudaFree(da);
  cudaFree(dout);
  cudaFreeHost(out);
  printf("streams: %d of %d elements wrong\n", wrong, kN);
  return wrong == 0 ? 0 : 1;
}
