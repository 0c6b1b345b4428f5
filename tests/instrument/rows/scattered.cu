// Lanes whose addresses lie anywhere, meet in the same words, and go different ways; in order and in races,
// for the comparison of checks that wait with checks on the spot.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int kThreads = 128, kBlocks = 3, kWords = 1024;

__device__ unsigned hashed(unsigned x) { return (x * 2654435761u) >> 11; }

__global__ void gather(const int* in, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[hashed(i) % kWords] + in[hashed(i / 3) % kWords];
}
/// A permutation: no two threads write the same word.
__global__ void permute(int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[(i * 37) % kWords] = i;
}
/// Some threads do.
__global__ void collide(int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[hashed(i) % 512] = i;
}
__global__ void count(int* bins, int limit) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&bins[hashed(i) % limit], 1);
}
/// Counted by atomics, and one of the bins read on the way.
__global__ void countAndLook(int* bins, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&bins[hashed(i) % 64], 1);
  if (i == 77) out[0] = bins[5];
}
/// Rows of different lengths; what is found is appended in places drawn by an atomic.
__global__ void append(const int* in, int* marks, int* list, int* length) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < int(hashed(i) % 7); ++k) {
    int at = in[(i * 5 + k) % kWords] & 255;
    if (atomicCAS(&marks[at], 0, 1) == 0) list[atomicAdd(length, 1)] = at;
  }
}
/// The same without the mark: places are drawn, marks race.
__global__ void appendRacing(const int* in, int* marks, int* list, int* length) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < int(hashed(i) % 7); ++k) {
    int at = in[(i * 5 + k) % kWords] & 255;
    if (marks[at] == 0) marks[at] = 1, list[atomicAdd(length, 1)] = at;
  }
}
__global__ void inShared(int* out) {
  __shared__ int tile[32][33];
  __shared__ int bins[16];
  int x = threadIdx.x % 32, y = threadIdx.x / 32;
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  for (int row = y; row < 32; row += 4) tile[row][x] = x * row;
  atomicAdd(&bins[hashed(threadIdx.x) % 16], 1);
  __syncthreads();
  int sum = bins[x % 16];
  for (int row = y; row < 32; row += 4) sum += tile[x][row];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
  tile[(x + y) % 32][y] = sum; // others still read
}
__global__ void wide(double* data, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  data[(i * stride) % 512] += 1;
}

/// One block reads: the first lane the same word each time, the others another one. The next block writes.
__global__ void firstStays(int* data, int* out, int turns) {
  int sum = 0;
  if (blockIdx.x == 0)
    for (int t = 0; t < turns; ++t) sum += data[threadIdx.x % 32 ? (threadIdx.x * 37 + t * 5) % kWords : 3];
  else
    for (int i = threadIdx.x; i < kWords; i += kThreads) data[i] = i;
  out[blockIdx.x * kThreads + threadIdx.x] = sum;
}

int main() {
  int *in, *out, *marks, *list, *length;
  double* data;
  cudaMalloc(&in, kWords * sizeof(int));
  cudaMalloc(&out, kWords * sizeof(int));
  cudaMalloc(&marks, 256 * sizeof(int));
  cudaMalloc(&list, kWords * sizeof(int));
  cudaMalloc(&length, sizeof(int));
  cudaMalloc(&data, 512 * sizeof(double));
  int host[kWords];
  for (int i = 0; i < kWords; ++i) host[i] = int((unsigned(i) * 40503u) >> 3);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(data, 0, 512 * sizeof(double));
  for (int round = 0; round < 2; ++round) {
    cudaMemset(marks, 0, 256 * sizeof(int));
    cudaMemset(length, 0, sizeof(int));
    cudaMemset(out, 0, kWords * sizeof(int));
    gather<<<kBlocks, kThreads>>>(in, out);
    permute<<<kBlocks, kThreads>>>(out);
    collide<<<kBlocks, kThreads>>>(out);
    count<<<kBlocks, kThreads>>>(out, 512);
    count<<<kBlocks, kThreads>>>(out, 8);
    countAndLook<<<kBlocks, kThreads>>>(out, list);
    append<<<kBlocks, kThreads>>>(in, marks, list, length);
    cudaMemset(marks, 0, 256 * sizeof(int));
    appendRacing<<<kBlocks, kThreads>>>(in, marks, list, length);
    inShared<<<kBlocks, kThreads>>>(out);
    wide<<<1, kThreads>>>(data, 3);
    wide<<<kBlocks, kThreads>>>(data, 7);
    firstStays<<<2, kThreads>>>(out, list, 9);
    cudaDeviceSynchronize();
  }
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[5]);
}
