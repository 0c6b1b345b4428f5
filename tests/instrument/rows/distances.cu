// Arrays at one index, rows of a matrix, neighbours at a stride of the launch: accesses whose addresses differ by what
// the launch fixes, right and wrong ones; for the comparison of checks that wait with checks on the spot.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int kThreads = 64, kBlocks = 3, kAll = kThreads * kBlocks;

__device__ int table[kAll], other[kAll];

struct Arrays {
  const int *a, *b;
  int* sum;
  int first;
};

__global__ void add(const int* a, const int* b, int* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
__global__ void addStruct(Arrays arrays) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  arrays.sum[i] = arrays.a[i] + arrays.b[i + arrays.first];
}
__global__ void addGlobals(const int* a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  table[i] = a[i];
  other[i] = table[i] + a[i];
}
/// Rows of a matrix, of which the last may be missing.
__global__ void rows(const int* in, int* out, int n, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= n) return;
  int sum = 0;
  for (int y = 0; y < height - 2; ++y) sum += in[y * n + x] + in[(y + 1) * n + x] - in[(y + 2) * n + x];
  out[x] = sum;
}
__global__ void rowsUnsigned(const int* in, int* out, unsigned n) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < n) out[x] = in[n + x] + in[2 * n + x];
}
/// One array, at distances of the launch's shape; the last threads lead outside where `n` is too small.
__global__ void strides(int* data, long long back) {
  long long i = blockIdx.x * blockDim.x + threadIdx.x;
  long long all = (long long)gridDim.x * blockDim.x;
  data[i + all] = data[i] + data[i + 2 * all - back];
}
/// Each thread reads what its neighbour writes.
__global__ void shifted(int* data, int by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] = 1;
  data[i] += data[i + by];
}
/// Values of several sizes at one index.
__global__ void sizes(const char* narrow, const int* word, const double* wide, double* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = wide[i] + word[2 * i] + narrow[8 * i];
}
__global__ void shared(int* out, int half) {
  extern __shared__ int tile[];
  int t = threadIdx.x;
  tile[t] = t;
  tile[t + half] = 2 * t;
  __syncthreads();
  out[blockIdx.x * blockDim.x + t] = tile[blockDim.x - 1 - t] + tile[half + blockDim.x - 1 - t];
}
__global__ void atomics(int* a, int* b) {
  int i = threadIdx.x % 16;
  atomicAdd(&a[i], 1);
  atomicAdd(&b[i], 1);
}
/// Lanes that take part differ between the two.
__global__ void halves(const int* a, int* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int value = 0;
  if (i % 2) value = a[i] + a[i + n];
  b[i] = value;
}

int main() {
  int *a, *b, *c, *host;
  cudaMalloc(&a, 4 * kAll * sizeof(int));
  cudaMalloc(&b, 4 * kAll * sizeof(int));
  cudaMalloc(&c, kAll * sizeof(int));
  cudaMemset(a, 0, 4 * kAll * sizeof(int));
  cudaMemset(b, 0, 4 * kAll * sizeof(int));
  cudaMallocHost(&host, kAll * sizeof(int));
  for (int i = 0; i < kAll; ++i) host[i] = i;
  for (int offset : {0, 1, 3, 8}) { // sectors begin elsewhere
    add<<<kBlocks, kThreads>>>(a, b + offset, c, kAll);
    add<<<kBlocks, kThreads>>>(a + offset, b, c, kAll - offset);
    addStruct<<<kBlocks, kThreads>>>({a, b, c, offset});
    shifted<<<1, kThreads>>>(a, offset);
  }
  add<<<kBlocks, kThreads>>>(a, b, c, kAll + 5); // outside of c
  add<<<kBlocks, kThreads>>>(host, b, c, kAll);
  add<<<kBlocks, kThreads>>>(b, host, c, kAll);
  add<<<1, kThreads>>>(c, b, c, kAll);
  add<<<kBlocks, kThreads>>>(c + 1, b, c, kAll - 1); // a race
  addGlobals<<<kBlocks, kThreads>>>(a);
  for (int n : {kAll, 100, 33}) {
    rows<<<kBlocks, kThreads>>>(a, c, n, 4);
    rowsUnsigned<<<kBlocks, kThreads>>>(a, c, n);
  }
  rows<<<kBlocks, kThreads>>>(a, c, kAll, 5); // outside of a
  strides<<<kBlocks, kThreads>>>(a, 0);
  strides<<<kBlocks, kThreads>>>(a, kAll - 1); // a race
  sizes<<<1, kThreads>>>(reinterpret_cast<char*>(a), b, reinterpret_cast<double*>(a), reinterpret_cast<double*>(c));
  shared<<<kBlocks, kThreads, 2 * kThreads * sizeof(int)>>>(c, kThreads);
  shared<<<kBlocks, kThreads, 2 * kThreads * sizeof(int)>>>(c, kThreads / 2); // a race
  atomics<<<kBlocks, kThreads>>>(a, b);
  halves<<<kBlocks, kThreads>>>(a, b, kAll);
  cudaDeviceSynchronize();
  std::printf("done\n");
}
