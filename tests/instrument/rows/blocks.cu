// Blocks that do in shared memory what the block before did, and single ones that do something else, rightly
// and wrongly; for the comparison of checks that wait with checks on the spot.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int kThreads = 128, kBlocks = 24, kOdd = 17;

/// What goes before is all in order; what the odd block does conflicts with what was compared only.
__global__ void writesWhatIsRead(int* out) {
  __shared__ int tile[kThreads];
  int t = threadIdx.x;
  tile[t] = t;
  __syncthreads();
  out[blockIdx.x * kThreads + t] = tile[kThreads - 1 - t];
  if (blockIdx.x == kOdd) tile[t] = 2 * t;
}
/// The last warp alone: the others have been compared, and are not looked at again.
__global__ void writesWhatWasRead(int* out) {
  __shared__ int tile[kThreads];
  int t = threadIdx.x;
  tile[t] = t;
  __syncthreads();
  out[blockIdx.x * kThreads + t] = tile[kThreads - 1 - t];
  if (blockIdx.x == kOdd && t >= kThreads - 32) tile[t] = 2 * t;
}
__global__ void readsTooEarly(int* out) {
  __shared__ int tile[kThreads];
  int t = threadIdx.x;
  tile[t] = t;
  if (blockIdx.x == kOdd) out[t] = tile[t ^ 64];
  __syncthreads();
  out[blockIdx.x * kThreads + t] = tile[t ^ 32];
}
__global__ void leavesGaps(int* out) {
  __shared__ int tile[kThreads];
  int t = threadIdx.x;
  if (blockIdx.x != kOdd || t % 3) tile[t] = t;
  __syncthreads();
  out[blockIdx.x * kThreads + t] = tile[kThreads - 1 - t];
}
/// One block leaves bytes of different threads in the words that a later one, which strays too, goes back to.
__global__ void leavesBytes(int* out) {
  __shared__ int tile[kThreads];
  int t = threadIdx.x;
  auto* bytes = reinterpret_cast<unsigned char*>(tile);
  tile[t] = t;
  __syncthreads();
  out[blockIdx.x * kThreads + t] = tile[t];
  if (blockIdx.x == kOdd && t >= kThreads - 32) tile[t ^ 64] = 2 * t;
  if (blockIdx.x != 5) return;
  __syncthreads();
  if (t % 2) bytes[4 * t + 1] = 2;
}
/// An interval later than the others, and one before.
__global__ void misplaced(int* out) {
  __shared__ int tile[2][kThreads];
  int t = threadIdx.x;
  tile[0][t] = t;
  if (blockIdx.x != kOdd) __syncthreads();
  tile[1][t] = tile[0][t ^ 64];
  if (blockIdx.x == kOdd) __syncthreads();
  out[blockIdx.x * kThreads + t] = tile[1][t];
}
__global__ void pastTheEnd(int* out) {
  __shared__ int tile[kThreads];
  int t = threadIdx.x, far = blockIdx.x == kOdd && t == 5 ? kThreads + 900 : t;
  tile[t] = t;
  __syncthreads();
  out[blockIdx.x * kThreads + t] = tile[far];
}
__global__ void intoShared(int* out) {
  __shared__ int tile[kThreads];
  int t = threadIdx.x;
  tile[t] = t;
  __syncthreads();
  int* to =
      blockIdx.x == kOdd ? tile : out + blockIdx.x * kThreads; // once where the others have global memory
  to[t ^ 64] = tile[t];
}
/// Several intervals, two buffers, sums of halves: all in order. Each third block goes on for longer.
__global__ void rounds(const int* in, int* out) {
  __shared__ int buffer[2][kThreads];
  int t = threadIdx.x, sum = 0, turns = blockIdx.x % 3 ? 4 : 7;
  for (int turn = 0; turn < turns; ++turn) {
    buffer[turn % 2][t] = in[blockIdx.x * kThreads + t] + turn;
    __syncthreads();
    for (int k = 0; k < 8; ++k) sum += buffer[turn % 2][(t + k) % kThreads];
    if (turn % 2) __syncthreads();
  }
  __syncthreads();
  buffer[0][t] = sum;
  for (int half = kThreads / 2; half; half /= 2) {
    __syncthreads();
    if (t < half) buffer[0][t] += buffer[0][t + half];
  }
  if (!t) out[blockIdx.x] = buffer[0][0];
}
/// Where the lanes go depends on data: blocks are alike by chance.
__global__ void scattered(const int* in, int* out) {
  __shared__ int bins[64], tile[kThreads];
  int t = threadIdx.x;
  if (t < 64) bins[t] = 0;
  __syncthreads();
  int at = in[blockIdx.x * kThreads + t] % kThreads;
  tile[at] = t; // some meet
  atomicAdd(&bins[at % 64], 1);
  __syncthreads();
  out[blockIdx.x * kThreads + t] = bins[t % 64];
}
/// The first blocks are not like the others.
__global__ void alternates(int* out) {
  __shared__ int tile[4 * kThreads];
  int t = threadIdx.x, step = blockIdx.x < 4 ? 1 + blockIdx.x : 1 + blockIdx.x % 2;
  tile[step * t] = t;
  __syncthreads();
  out[blockIdx.x * kThreads + t] = tile[step * (kThreads - 1 - t)];
  if (blockIdx.x == kOdd) tile[step * (t ^ 96)] = 1;
}
__global__ void dynamic(int* out, int early) {
  extern __shared__ int tile[];
  int t = threadIdx.x;
  if (blockIdx.x == early) return;
  tile[33 * (t % 32) + t / 32] = t;
  __syncthreads();
  out[blockIdx.x * kThreads + t] = tile[33 * (t / 4) + t % 4];
}

int main() {
  int *in, *out, host[kThreads * kBlocks];
  for (int i = 0; i < kThreads * kBlocks; ++i) host[i] = (i * 37 + i / kThreads / 5) % 1000;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  for (int round = 0; round < 2; ++round) {
    writesWhatIsRead<<<kBlocks, kThreads>>>(out);
    writesWhatWasRead<<<kBlocks, kThreads>>>(out);
    readsTooEarly<<<kBlocks, kThreads>>>(out);
    leavesGaps<<<kBlocks, kThreads>>>(out);
    leavesBytes<<<kBlocks, kThreads>>>(out);
    misplaced<<<kBlocks, kThreads>>>(out);
    pastTheEnd<<<kBlocks, kThreads>>>(out);
    intoShared<<<kBlocks, kThreads>>>(out);
    rounds<<<kBlocks, kThreads>>>(in, out);
    scattered<<<kBlocks, kThreads>>>(in, out);
    alternates<<<kBlocks, kThreads>>>(out);
    dynamic<<<kBlocks, kThreads, 33 * 32 * sizeof(int)>>>(out, 3);
    dynamic<<<kBlocks, kThreads, 33 * 32 * sizeof(int)>>>(out, -1);
  }
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  std::puts("done");
}
