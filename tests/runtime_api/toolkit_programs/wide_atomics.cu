// kcheck: --arch=sm_90
// Atomics of sm_90: sums of two and four floats, each of which is an atomic, and exchanges of 16 bytes.
#include "../programs/check.h"

struct alignas(16) Pair {
  unsigned long long count, sum;
};

__global__ void add(float2* two, float4* four) {
  atomicAdd(two, make_float2(1, 2));
  atomicAdd(four, make_float4(1, 2, 3, 4));
  asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" ::"l"(two + 1), "f"(0.5f), "f"(0.25f) : "memory");
}

__global__ void count(Pair* all) {
  Pair seen = {0, 0};
  for (;;) {
    Pair now = atomicCAS(all, seen, Pair{seen.count + 1, seen.sum + threadIdx.x});
    if (now.count == seen.count && now.sum == seen.sum) return;
    seen = now;
  }
}

__global__ void exchange(ulonglong2* word, ulonglong2* old) {
  old[0] = atomicExch(word, make_ulonglong2(7, 8));
  old[1] = atomicCAS(word, make_ulonglong2(7, 9), make_ulonglong2(1, 1));
  old[2] = atomicCAS_block(word, make_ulonglong2(7, 8), make_ulonglong2(3, 4));
}

int main() {
  char* memory;
  OK(cudaMalloc(&memory, 128));
  OK(cudaMemset(memory, 0, 128));
  add<<<2, 32>>>((float2*)memory, (float4*)(memory + 16));
  float sums[8];
  OK(cudaMemcpy(sums, memory, sizeof sums, cudaMemcpyDeviceToHost));
  CHECK(sums[0] == 64 && sums[1] == 128 && sums[2] == 32 && sums[3] == 16);
  CHECK(sums[4] == 64 && sums[5] == 128 && sums[6] == 192 && sums[7] == 256);
  OK(cudaMemset(memory, 0, 128));
  count<<<4, 32>>>((Pair*)memory);
  Pair all;
  OK(cudaMemcpy(&all, memory, sizeof all, cudaMemcpyDeviceToHost));
  CHECK(all.count == 128 && all.sum == 4 * 31 * 16);
  exchange<<<1, 1>>>((ulonglong2*)memory, (ulonglong2*)(memory + 16));
  ulonglong2 old[4];
  OK(cudaMemcpy(old, memory, sizeof old, cudaMemcpyDeviceToHost));
  CHECK(old[0].x == 3 && old[0].y == 4);
  CHECK(old[1].x == 128 && old[2].x == 7 && old[2].y == 8 && old[3].x == 7 && old[3].y == 8);
  OK(cudaFree(memory));
  std::printf("PASS\n");
}
