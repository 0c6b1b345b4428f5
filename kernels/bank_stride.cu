// Shared memory has 32 banks of 4-byte words. A warp that reads with stride 1, 2, 4, 32 or 33 asks the
// busiest bank for 1, 2, 4, 32 or 1 words. All lanes reading one word is a broadcast, and no conflict.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kWords = 32 * 33;

__device__ void fill(int* words, const int* in) {
  for (int i = threadIdx.x; i < kWords; i += 32) words[i] = in[i];
  __syncthreads();
}

__global__ void readStride1(const int* in, int* out) {
  __shared__ int words[kWords];
  fill(words, in);
  int value = words[threadIdx.x]; // expect-bank-ways: 1
  out[threadIdx.x] = value;
}

__global__ void readStride2(const int* in, int* out) {
  __shared__ int words[kWords];
  fill(words, in);
  int value = words[threadIdx.x * 2]; // expect-bank-ways: 2
  out[threadIdx.x] = value;
}

__global__ void readStride4(const int* in, int* out) {
  __shared__ int words[kWords];
  fill(words, in);
  int value = words[threadIdx.x * 4]; // expect-bank-ways: 4
  out[threadIdx.x] = value;
}

__global__ void readStride32(const int* in, int* out) {
  __shared__ int words[kWords];
  fill(words, in);
  int value = words[threadIdx.x * 32]; // expect-bank-ways: 32
  out[threadIdx.x] = value;
}

__global__ void readStride33(const int* in, int* out) {
  __shared__ int words[kWords];
  fill(words, in);
  int value = words[threadIdx.x * 33]; // expect-bank-ways: 1
  out[threadIdx.x] = value;
}

__global__ void readBroadcast(const int* in, int* out) {
  __shared__ int words[kWords];
  fill(words, in);
  int value = words[7]; // expect-bank-ways: 1
  out[threadIdx.x] = value;
}

static int countWrong(const std::vector<int>& in, const int* dout, int stride, int first = 0) {
  std::vector<int> out(32);
  cudaMemcpy(out.data(), dout, 32 * sizeof(int), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < 32; ++i) wrong += out[i] != in[first + i * stride];
  return wrong;
}

int main() {
  std::vector<int> in(kWords);
  for (int i = 0; i < kWords; ++i) in[i] = 3 * i;

  int *din, *dout;
  cudaMalloc(&din, kWords * sizeof(int));
  cudaMalloc(&dout, 32 * sizeof(int));
  cudaMemcpy(din, in.data(), kWords * sizeof(int), cudaMemcpyHostToDevice);
  int wrong = 0;
  readStride1<<<1, 32>>>(din, dout);
  wrong += countWrong(in, dout, 1);
  readStride2<<<1, 32>>>(din, dout);
  wrong += countWrong(in, dout, 2);
  readStride4<<<1, 32>>>(din, dout);
  wrong += countWrong(in, dout, 4);
  readStride32<<<1, 32>>>(din, dout);
  wrong += countWrong(in, dout, 32);
  readStride33<<<1, 32>>>(din, dout);
  wrong += countWrong(in, dout, 33);
  readBroadcast<<<1, 32>>>(din, dout);
  wrong += countWrong(in, dout, 0, 7);
  cudaFree(din);
  cudaFree(dout);

  printf("bank_stride: %d of %d elements wrong\n", wrong, 6 * 32);
  return wrong == 0 ? 0 : 1;
}
