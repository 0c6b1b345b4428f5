// Accesses of one and two bytes, in order and in races, beside words and beside each other; for the comparison of checks
// that wait with checks on the spot.
#include <cstdio>
#include <cuda_runtime.h>

typedef unsigned char Byte;
constexpr int kThreads = 128, kBlocks = 4, kBytes = kThreads * kBlocks;

__global__ void copyBytes(const Byte* in, Byte* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i];
}
__global__ void copyHalves(const short* in, short* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] + 1;
}
/// In place: each thread its own byte, a neighbour of other threads' bytes.
__global__ void increment(Byte* data) { ++data[blockIdx.x * blockDim.x + threadIdx.x]; }
/// Words with a border that nobody touches.
__global__ void inner(Byte* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= 1 && i < n - 2) data[i] = data[i] + 1;
}
__global__ void threes(const uchar3* in, uchar3* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  uchar3 v = in[i];
  out[i] = make_uchar3(v.z, v.x, v.y);
}
/// The bytes of a word by one thread: a word again.
__global__ void fourEach(Byte* data, unsigned* words) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 4; ++k) data[4 * i + k] = Byte(k);
  words[i] = reinterpret_cast<unsigned*>(data)[i];
}
/// Reads the next thread's byte without a barrier.
__global__ void neighbours(Byte* data, Byte* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] = Byte(i);
  out[i] = data[(i + 1) % kBytes];
}
/// Several threads write the same halves.
__global__ void collide(short* data) { data[threadIdx.x / 2] = short(threadIdx.x); }
/// Bytes of one word by different blocks, in no race.
__global__ void interleaved(Byte* data) { data[threadIdx.x * kBlocks + blockIdx.x] = Byte(threadIdx.x); }
/// Through shared memory: written as bytes, read as words after the barrier and, wrongly, before.
__global__ void tile(const Byte* in, unsigned* out, bool early) {
  __shared__ Byte buffer[kThreads + 4];
  buffer[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  if (threadIdx.x < 4) buffer[kThreads + threadIdx.x] = 0;
  if (!early) __syncthreads();
  const unsigned* words = reinterpret_cast<const unsigned*>(buffer);
  out[blockIdx.x * blockDim.x + threadIdx.x] = words[threadIdx.x / 4] + buffer[threadIdx.x + 1];
  __syncthreads();
  buffer[threadIdx.x] = Byte(threadIdx.x);
}
/// Some bytes of some words have never been written.
__global__ void readsUnwritten(const Byte* data, unsigned* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = data[i];
}
__global__ void someBytes(Byte* data) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % 8 < 3) data[i] = 1;
}
__global__ void pastTheEnd(Byte* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) data[i] = 5;
}
__global__ void scattered(const Byte* order, short* data) {
  data[order[threadIdx.x]] = short(threadIdx.x); // the first ones meet
  __syncthreads();
  data[threadIdx.x] += data[(threadIdx.x * 7) % kThreads];
}

int main() {
  Byte *a, *b, *fresh, *small, host[2 * kBytes];
  unsigned* words;
  short* halves;
  cudaMalloc(&a, 4 * kBytes);
  cudaMalloc(&b, 4 * kBytes);
  cudaMalloc(&fresh, kBytes);
  cudaMalloc(&small, kBytes - 3);
  cudaMalloc(&words, 4 * kBytes);
  cudaMalloc(&halves, 2 * kBytes);
  for (int i = 0; i < 2 * kBytes; ++i) host[i] = Byte(i < 4 ? 0 : i % kThreads);
  cudaMemcpy(a, host, 2 * kBytes, cudaMemcpyHostToDevice);
  cudaMemset(a + 2 * kBytes, 1, 2 * kBytes);
  cudaMemset(halves, 0, 2 * kBytes);
  for (int round = 0; round < 2; ++round) {
    copyBytes<<<kBlocks, kThreads>>>(a, b);
    copyHalves<<<kBlocks, kThreads>>>(reinterpret_cast<short*>(a), halves);
    increment<<<kBlocks, kThreads>>>(b);
    inner<<<kBlocks, kThreads>>>(b, kBytes - 3);
    threes<<<kBlocks, kThreads>>>(reinterpret_cast<uchar3*>(a), reinterpret_cast<uchar3*>(b));
    fourEach<<<kBlocks, kThreads>>>(b, words);
    neighbours<<<kBlocks, kThreads>>>(a, b);
    collide<<<1, kThreads>>>(halves);
    interleaved<<<kBlocks, kThreads>>>(b);
    tile<<<kBlocks, kThreads>>>(a, words, false);
    tile<<<kBlocks, kThreads>>>(a, words, true);
  }
  someBytes<<<kBlocks, kThreads>>>(fresh);
  readsUnwritten<<<kBlocks, kThreads>>>(fresh, words);
  increment<<<kBlocks, kThreads>>>(fresh);
  pastTheEnd<<<kBlocks, kThreads>>>(small, kBytes - 3);
  cudaMemcpy(a, host, 2 * kBytes, cudaMemcpyHostToDevice);
  scattered<<<1, kThreads>>>(a, halves);
  cudaDeviceSynchronize();
  for (void* p : {(void*)a, (void*)b, (void*)fresh, (void*)small, (void*)words, (void*)halves}) cudaFree(p);
  std::puts("done");
}
