// Blocks that several threads may run side by side: lines that blocks of two threads use, what they leave in
// memory, and races, strays and unwritten memory between blocks that lie far apart in the grid. For the
// comparison of one thread with several, and of checks that wait with checks on the spot.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int kThreads = 96, kBlocks = 61, kOdd = 1003, kAll = kThreads * kBlocks;

/// Rows of an odd length: hardly a line belongs to one block.
__global__ void oddRows(const int* in, int* out) {
  for (int x = threadIdx.x; x < kOdd; x += blockDim.x)
    out[blockIdx.x * kOdd + x] = in[blockIdx.x * kOdd + x] + int(blockIdx.x);
}
/// One word of each line for each block, and read again in the next interval by another thread.
__global__ void interleaved(int* data) {
  data[threadIdx.x * kBlocks + blockIdx.x] = threadIdx.x;
  __syncthreads();
  int other = (threadIdx.x + 1) % kThreads;
  data[other * kBlocks + blockIdx.x] += 1;
}
__global__ void columns(const double* in, double* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int x = i % kBlocks, y = i / kBlocks;
  out[x * kThreads + y] = in[i];
}
__global__ void bytes(unsigned char* data) {
  int i = blockIdx.x * 13 + threadIdx.x;
  if (threadIdx.x < 13) data[i] = (unsigned char)(data[i] + i);
}
__global__ void pairs(short2* data) {
  int i = threadIdx.x * kBlocks + blockIdx.x;
  data[i].x = short(i);
  data[i].y = short(-i);
}
/// Atomics of all blocks on a few words, of which some stay with one block for a while.
__global__ void count(const int* keys, unsigned* bins, int bins_, int* most, unsigned long long* sum) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&bins[keys[i] % bins_], 1u);
  atomicMax(most, keys[i]);
  atomicAdd(sum, (unsigned long long)keys[i]);
}
__device__ int total;
__device__ int table[kAll];
__global__ void intoSymbols(const int* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  table[i] = in[i];
  atomicAdd(&total, in[i] & 1);
}
/// A ticket of the block's own.
__global__ void compacted(const int* in, int* out) {
  __shared__ int used;
  if (threadIdx.x == 0) used = 0;
  __syncthreads();
  int value = in[blockIdx.x * blockDim.x + threadIdx.x];
  if (value & 1) out[blockIdx.x * blockDim.x + atomicAdd(&used, 1)] = value;
}
/// What an atomic gives depends on the order of the blocks.
__global__ void tickets(int* next, int* out) {
  int i = atomicAdd(next, 1);
  out[i] = i;
}
__global__ void sameTile(const float* in, float* out) {
  __shared__ float tile[kThreads];
  tile[threadIdx.x] = in[blockIdx.x * kThreads + threadIdx.x];
  __syncthreads();
  out[blockIdx.x * kThreads + threadIdx.x] = tile[kThreads - 1 - threadIdx.x];
}

// Wrong ones.

/// The first block reads what the last one writes.
__global__ void farRace(int* data) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] = i;
  if (blockIdx.x == 0 && threadIdx.x == 5) data[6] = data[kAll - 7];
}
__global__ void sameWord(int* data) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] = i;
  if (threadIdx.x == 3) data[kAll] = 17;
}
__global__ void plainAmongAtomics(int* data, int* out) {
  atomicAdd(&data[threadIdx.x], 1);
  out[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x == kBlocks - 1 ? data[7] : 0;
}
/// Half of the blocks overrun, into the next array.
__global__ void overrun(int* data) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  data[blockIdx.x >= kBlocks / 2 && threadIdx.x == 1 ? kAll + 40 + i : i] = i;
}
/// Unwritten memory is read near the end, after much of it has been written.
__global__ void unwritten(int* data, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i != kAll - 50) data[i] = i;
  __syncthreads();
  out[i] = data[i] + 1;
}
__global__ void fillHalf(int* data) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (blockIdx.x % 2) data[i] = i;
  if (blockIdx.x == kBlocks - 2 && threadIdx.x == 9) data[1 - kThreads + i] = data[i - kThreads]; // in order? no
}
__global__ void readHalf(const int* data, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = data[i];
}
__global__ void sharedRace(int* out) {
  __shared__ int cells[kThreads];
  cells[threadIdx.x] = threadIdx.x;
  if (blockIdx.x == kBlocks / 2 + 1) out[blockIdx.x * kThreads + threadIdx.x] = cells[kThreads - 1 - threadIdx.x];
}

template <class T> T* device(std::size_t count, bool zeroed = true) {
  T* memory = nullptr;
  cudaMalloc(&memory, count * sizeof(T));
  if (zeroed) cudaMemset(memory, 0, count * sizeof(T));
  return memory;
}

template <class T> void show(const char* name, const T* memory, std::size_t count) {
  T* host = new T[count];
  cudaMemcpy(host, memory, count * sizeof(T), cudaMemcpyDeviceToHost);
  unsigned long long sum = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(host);
  for (std::size_t i = 0; i < count * sizeof(T); ++i) sum = sum * 31 + bytes[i];
  std::printf("%s %llx\n", name, sum);
  delete[] host;
}

int main() {
  int* keys = new int[kOdd * kBlocks];
  for (int i = 0; i < kOdd * kBlocks; ++i) keys[i] = int((i * 2654435761u) >> 8 & 0xFFFF);
  int* in = device<int>(kOdd * kBlocks);
  cudaMemcpy(in, keys, kOdd * kBlocks * sizeof(int), cudaMemcpyHostToDevice);
  int *out = device<int>(kOdd * kBlocks, false), *data = device<int>(2 * kAll), *fresh = device<int>(kAll, false),
      *part = device<int>(kAll, false), *single = device<int>(4);
  double *from = device<double>(kAll), *to = device<double>(kAll, false);
  unsigned char* small = device<unsigned char>(13 * kBlocks);
  short2* both = device<short2>(kAll, false);
  unsigned* bins = device<unsigned>(1000);
  unsigned long long* sum = device<unsigned long long>(1);

  oddRows<<<kBlocks, kThreads>>>(in, out);
  show("odd rows", out, kOdd * kBlocks);
  interleaved<<<kBlocks, kThreads>>>(data);
  show("interleaved", data, kAll);
  columns<<<kBlocks, kThreads>>>(from, to);
  bytes<<<kBlocks, 32>>>(small);
  show("bytes", small, 13 * kBlocks);
  pairs<<<kBlocks, kThreads>>>(both);
  show("pairs", both, kAll);
  for (int several : {3, 40, 1000}) count<<<kBlocks, kThreads>>>(in, bins, several, single, sum);
  show("bins", bins, 1000);
  show("sum", sum, 1);
  intoSymbols<<<kBlocks, kThreads>>>(in);
  int host = 0;
  cudaMemcpyFromSymbol(&host, total, sizeof host);
  std::printf("total %d\n", host);
  cudaMemset(out, 0, kAll * sizeof(int));
  compacted<<<kBlocks, kThreads>>>(in, out);
  show("compacted", out, kAll);
  tickets<<<kBlocks, kThreads>>>(single + 1, out);
  show("tickets", out, kAll);
  sameTile<<<kBlocks, kThreads>>>((const float*)from, (float*)to);

  farRace<<<kBlocks, kThreads>>>(data);
  show("far race", data, kAll);
  sameWord<<<kBlocks, kThreads>>>(data);
  plainAmongAtomics<<<kBlocks, kThreads>>>(data, out);
  show("plain among atomics", out, kAll);
  unwritten<<<kBlocks, kThreads>>>(fresh, out);
  fillHalf<<<kBlocks, kThreads>>>(part);
  readHalf<<<kBlocks, kThreads>>>(part, out);
  sharedRace<<<kBlocks, kThreads>>>(out);
  show("shared race", out, kAll);
  overrun<<<kBlocks, kThreads>>>(fresh);
  show("overrun", part, kAll);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  delete[] keys;
}
