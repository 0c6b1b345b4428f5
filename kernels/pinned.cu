// An asynchronous copy needs pinned host memory: only then does it overlap with anything. Both buffers are
// allocated by cudaMallocHost.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int kN = 4096;
constexpr size_t kBytes = kN * sizeof(int);

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void negate(int* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = -a[i];
}

int main() {
  int *in, *out, *da;
  cudaMallocHost(&in, kBytes);
  cudaMallocHost(&out, kBytes);
  cudaMalloc(&da, kBytes);
  for (int i = 0; i < kN; ++i) in[i] = i;

  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMemcpyAsync(da, in, kBytes, cudaMemcpyHostToDevice, stream);
  negate<<<kN / 128, 128, 0, stream>>>(da, kN);
  cudaMemcpyAsync(out, da, kBytes, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);

  int wrong = 0;
  for (int i = 0; i < kN; ++i) wrong += out[i] != -i;
  cudaFree(da);
  cudaFreeHost(in);
  cudaFreeHost(out);
  printf("pinned: %d of %d elements wrong\n", wrong, kN);
  return wrong == 0 ? 0 : 1;
}
