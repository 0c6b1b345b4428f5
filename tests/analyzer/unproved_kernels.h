// Kernels that must not be proved, each with the reason why a careless analysis would.
#pragma once

namespace kcheck::analyzer {

/// In a namespace of its own so that kernels of one text are told apart by name alone.
inline constexpr const char* kUnprovedKernels = R"(
#include <cuda_runtime.h>

__global__ void twoCounters(int* next, int* out) {
  int i = atomicAdd(&next[threadIdx.x & 1], 1);
  out[i] = threadIdx.x;
}

__global__ void counterAlsoSet(int* next, int* out) {
  int i = atomicAdd(&next[0], 1);
  if (i == 100) next[0] = 0;
  out[i] = threadIdx.x;
}

__global__ void ticketsTooClose(int* next, int* out) {
  int i = atomicAdd(&next[0], 2);
  out[i] = 1;
  out[i + 2] = threadIdx.x;
}

__global__ void ticketsWrap(unsigned* next, int* out) {
  unsigned i = atomicInc(&next[0], 7u);
  out[i] = threadIdx.x;
}

__global__ void ticketsOfBlocks(int* out) {
  __shared__ int next;
  if (threadIdx.x == 0) next = 0;
  __syncthreads();
  int i = atomicAdd(&next, 1);
  out[i] = blockIdx.x;
}

__global__ void narrowTicket(int* next, int* out) {
  unsigned char i = atomicAdd(&next[0], 1);
  out[i] = threadIdx.x;
}

__global__ void halfOfAWord(unsigned long long* c) {
  if (threadIdx.x & 1) atomicAdd(c, 1ull);
  else atomicAdd((unsigned*)c + 1, 1u);
}

__global__ void throughParameter(void (*f)(int*), int* out) { f(out); }

__device__ int recursive(int* out, int n) { out[0] = n; return n ? recursive(out, n - 1) : 0; }
__global__ void recursion(int* out) { recursive(out, threadIdx.x); }

__device__ void elsewhere(int* out);
__global__ void noBody(int* out) { out[threadIdx.x + blockIdx.x * 64] = 1; elsewhere(out); }

__global__ void assemblyStore(int* out) {
  asm volatile("st.global.u32 [%0], %1;" ::"l"(out), "r"(threadIdx.x) : "memory");
}

__global__ void strangeAssembly(int* out) {
  asm volatile("bulk.move [%0], %1;" ::"l"(out), "r"(threadIdx.x) : "memory");
}

__device__ unsigned carryIn() {
  unsigned r;
  asm volatile("addc.u32 %0, 0, 0;" : "=r"(r));
  return r;
}
__global__ void carryFromNowhere(int* out) {
  out[blockIdx.x * blockDim.x + (carryIn() ? 0 : threadIdx.x)] = threadIdx.x;
}

__global__ void carryOfStrangeAssembly(int* out) {
  unsigned r;
  asm volatile("add.cc.u32 %0, 0, 0;" : "=r"(r));
  asm volatile("strange.cc.u32 %0, %0;" : "+r"(r));
  out[blockIdx.x * blockDim.x + (carryIn() ? 0 : threadIdx.x)] = threadIdx.x;
}

__global__ void carryThatNobodyAddsUp(int* out) {
  unsigned unused;
  asm("sub.cc.u32 %0, %1, 16;" : "=r"(unused) : "r"(threadIdx.x));
  out[blockIdx.x * blockDim.x + (carryIn() ? 0 : threadIdx.x)] = threadIdx.x;
}

__global__ void stepFromMemory(int* a, int n) {
  int i = threadIdx.x;
  for (int k = 0; k < n; ++k) {
    a[i] = k;
    i += a[64];
  }
}

__global__ void valueOfLastRound(int* out) {
  __shared__ int slot;
  int mine = threadIdx.x;
  for (int k = 0; k < 8; ++k) {
    if (threadIdx.x == 0) slot = k / 2; // every other round the same as in the last: then all write one place
    __syncthreads();
    int now = slot;
    __syncthreads();
    out[blockIdx.x * 64 + (now == mine ? 0 : threadIdx.x)] = k + threadIdx.x;
    mine = now;
  }
}

__global__ void loopNotReached(int* out, int n, int s) {
  __shared__ int c[64];
  int v = 0;
  if (s > 0)
    for (int i = 0; i < n; i += s) ++v;
  c[v == 0 ? 0 : threadIdx.x] = threadIdx.x;
}

__global__ void waitsForFlag(volatile int* flag, int* data) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    data[0] = 1;
    __threadfence();
    flag[0] = 1;
  } else {
    while (flag[0] == 0) {}
    data[threadIdx.x + blockIdx.x * 64] = data[0];
  }
}

__global__ void loadedPointers(int** rows) { rows[threadIdx.x][0] = threadIdx.x; }

__global__ void changedPointers(int** rows, int* x) {
  rows[threadIdx.x + blockIdx.x * 64] = x;
  __syncthreads();
  rows[threadIdx.x + blockIdx.x * 64][0] = threadIdx.x;
}

struct Node { Node* next; int v; };
__global__ void list(Node* n) {
  for (; n; n = n->next) n->v = threadIdx.x;
}

__global__ void claimGivenBack(int* taken, int* out) {
  if (atomicCAS(taken, 0, 1) == 0) {
    *out = threadIdx.x;
    atomicExch(taken, 0);
  }
}

__global__ void claimOfEachBlock(int* out) {
  __shared__ int taken;
  if (threadIdx.x == 0) taken = 0;
  __syncthreads();
  if (atomicCAS(&taken, 0, 1) == 0) *out = blockIdx.x;
}

__global__ void ticketsOfRounds(int* out) {
  __shared__ int next;
  int mine = 0;
  for (int round = 0; round < 2; ++round) {
    __syncthreads();
    if (threadIdx.x == 0) next = 0;
    __syncthreads();
    if (threadIdx.x % 2 == unsigned(round)) mine = atomicAdd(&next, 1);
  }
  out[blockIdx.x * 64 + mine] = threadIdx.x;
}

__global__ void ticketsBeforeAndAfterReset(int* out) {
  __shared__ int next;
  if (threadIdx.x == 0) next = 0;
  __syncthreads();
  int mine = 0;
  if (threadIdx.x < 32) mine = atomicAdd(&next, 1);
  __syncthreads();
  if (threadIdx.x == 0) next = 0;
  __syncthreads();
  if (threadIdx.x >= 32) mine = atomicAdd(&next, 1);
  out[blockIdx.x * 64 + mine] = threadIdx.x;
}

__global__ void sharedPointerInShared(int* out) {
  __shared__ int* p;
  __shared__ int s[64];
  if (threadIdx.x == 0) p = s;
  __syncthreads();
  s[threadIdx.x] = threadIdx.x;
  out[blockIdx.x * 64 + threadIdx.x] = p[63 - threadIdx.x];
}

__global__ void alignedByBits(int* out) {
  __shared__ int s[68];
  int* q = (int*)(((unsigned long long)s + 15) & ~15ull);
  s[threadIdx.x] = threadIdx.x;
  out[blockIdx.x * 64 + threadIdx.x] = q[63 - threadIdx.x];
}

__global__ void tableOfShared(int* out, int k) {
  __shared__ int s[64], u[64];
  int* table[2] = {s, u};
  s[threadIdx.x] = threadIdx.x;
  out[blockIdx.x * 64 + threadIdx.x] = table[k & 1][63 - threadIdx.x];
}

__global__ void partialBarrier(int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  asm volatile("bar.sync 1, 32;" ::: "memory");
  out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
}

__global__ void halfSyncwarp(int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  if (threadIdx.x & 16) __syncwarp(0xffff0000u); else __syncwarp(0x0000ffffu);
  out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x ^ 16];
}

__global__ void shuffledBound(int* out, int n) {
  int m = __shfl_sync(0xffffffffu, n + threadIdx.x, threadIdx.x & 7);
  for (int i = 0; i < m; ++i) __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = 1;
}

__global__ void leavesUnderDivergence(int* out, int n) {
  int k = 0;
  for (;; ++k) {
    if (threadIdx.x & 1) { if (k == n) break; }
    else { if (k == n + 1) break; }
  }
  for (int i = 0; i < k; ++i) __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = k;
}

__global__ void roomStartsBelow(int* n, int* out, const int* in) {
  __shared__ int c, first;
  int v = in[blockIdx.x * 64 + threadIdx.x], p = 0;
  if (threadIdx.x == 0) c = -1;
  __syncthreads();
  if (v > 0) p = atomicAdd(&c, 1);
  __syncthreads();
  if (threadIdx.x == 0) first = atomicAdd(n, c);
  __syncthreads();
  if (v > 0) out[first + p] = v;
}

__device__ unsigned arrived = 1;
__global__ void lastBlockOfFewer(int* parts, int* out) {
  __shared__ bool last;
  if (threadIdx.x == 0) parts[blockIdx.x] = blockIdx.x;
  __threadfence();
  if (threadIdx.x == 0) last = atomicAdd(&arrived, 1) == gridDim.x - 1;
  __syncthreads();
  if (last) out[threadIdx.x] = parts[threadIdx.x & 3];
}

__global__ void unsignedStride(int* out, unsigned n) {
  for (unsigned i = threadIdx.x; i < n; i += 0x40000000u) out[i & 0x3fffffff] = blockIdx.x;
}
)";

} // namespace kcheck::analyzer
