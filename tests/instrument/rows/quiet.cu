// Arrays that launches only read, and arrays that look as if they did: what is not looked up in the shadow must
// not hide anything; for the comparison of checks that wait with checks on the spot.
#include <cstdio>
#include <cuda_runtime.h>

#ifndef ORDER // something finer than barriers, so that nothing waits (quiet_fenced.cu)
#define ORDER
#endif

constexpr int kThreads = 128, kBlocks = 4, kWords = kThreads * kBlocks;

struct View {
  const int* in;
  int size;
  int* out;
};

__device__ __noinline__ void put(int* to, int i, int value) { to[i] = value; }

__global__ void shift(const int* in, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[(i + 1) % kWords];
  ORDER;
}
__global__ void shiftBySteps(View view) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < view.size) view.out[i] = view.in[(i + 1) % view.size];
  ORDER;
}
__global__ void shiftByCall(const int* in, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  put(out, i, in[(i + 1) % kWords]);
  ORDER;
}
__global__ void shiftThroughTable(int* const* table) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  table[1][i] = table[0][(i + 1) % kWords];
  ORDER;
}
/// Writes one of two, which the launch decides.
__global__ void shiftInto(int* a, int* b, bool first) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int* to = first ? a : b;
  to[i] = a[(i + 1) % kWords];
  ORDER;
}
__global__ void countInto(const int* in, int* bins) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&bins[in[i] & 15], in[(i + 16) % kWords]);
  ORDER;
}
__global__ void gather(const int* in, const int* where, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0;
  for (int j = 0; j < i % 7; ++j) sum += in[where[(i + j) % kWords]];
  out[i] = sum;
  ORDER;
}
__global__ void readAt(const char* in, int from, int* out) {
  out[threadIdx.x] = *reinterpret_cast<const int*>(in + from + 4 * threadIdx.x);
  ORDER;
}

int main() {
  int *a, *b, *c, *bins, **table;
  const size_t bytes = kWords * sizeof(int);
  cudaMalloc(&a, bytes);
  cudaMalloc(&b, bytes);
  cudaMalloc(&c, bytes);
  cudaMalloc(&bins, 16 * sizeof(int));
  cudaMalloc(&table, 2 * sizeof(int*));
  int host[kWords];
  for (int i = 0; i < kWords; ++i) host[i] = i;
  cudaMemcpy(a, host, bytes, cudaMemcpyHostToDevice);
  cudaMemset(bins, 0, 16 * sizeof(int));

  shift<<<kBlocks, kThreads>>>(a, b); // right
  shiftBySteps<<<kBlocks, kThreads>>>({a, kWords, b});
  shiftByCall<<<kBlocks, kThreads>>>(a, b);
  countInto<<<kBlocks, kThreads>>>(a, bins);
  gather<<<kBlocks, kThreads>>>(a, b, c);
  shiftInto<<<kBlocks, kThreads>>>(a, b, false);

  shift<<<kBlocks, kThreads>>>(a, a); // the same array under two names
  shiftBySteps<<<kBlocks, kThreads>>>({a, kWords, a});
  shiftByCall<<<kBlocks, kThreads>>>(a, a);
  shiftInto<<<kBlocks, kThreads>>>(a, b, true);
  countInto<<<kBlocks, kThreads>>>(a, a);
  shift<<<kBlocks, kThreads>>>(b, b - 1); // written through a pointer before the start, but for one
  int* rows[2] = {b, b};
  cudaMemcpy(table, rows, sizeof rows, cudaMemcpyHostToDevice);
  shiftThroughTable<<<kBlocks, kThreads>>>(table);

  readAt<<<1, kThreads>>>((const char*)a, bytes - 4 * kThreads + 4, b); // the last thread is past the end
  readAt<<<1, kThreads>>>((const char*)a, 4 * 7 - 4, b);

  int* fresh; // half of it unwritten, then all of it written, then half of it copied from what nobody wrote
  cudaMalloc(&fresh, bytes);
  cudaMemset(fresh, 0, bytes / 2);
  shift<<<kBlocks, kThreads>>>(fresh, b);
  cudaMemset(fresh, 0, bytes);
  shift<<<kBlocks, kThreads>>>(fresh, b);
  int* unwritten;
  cudaMalloc(&unwritten, bytes);
  cudaMemcpy(fresh, unwritten, bytes / 2, cudaMemcpyDeviceToDevice);
  shift<<<kBlocks, kThreads>>>(fresh, b);
  cudaDeviceSynchronize();

  cudaStream_t one, other; // one reads what the other writes
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  shift<<<kBlocks, kThreads, 0, one>>>(a, b);
  shift<<<kBlocks, kThreads, 0, other>>>(c, a);
  cudaDeviceSynchronize();
  shift<<<kBlocks, kThreads>>>(a, b);
  shift<<<kBlocks, kThreads, 0, other>>>(c, a);
  cudaDeviceSynchronize();
  printf("done\n");
}
