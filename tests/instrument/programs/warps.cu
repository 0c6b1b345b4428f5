// Shuffles of all kinds and widths, votes, match, reduce, lane masks.
#include "check.h"

__global__ void shuffles(int* out) {
  int t = threadIdx.x;
  out[t] = __shfl_sync(~0u, t, 5);
  out[64 + t] = __shfl_up_sync(~0u, t, 2);
  out[128 + t] = __shfl_down_sync(~0u, t, 3, 8);
  out[192 + t] = __shfl_xor_sync(~0u, t, 1);
  out[256 + t] = int(__shfl_down_sync(~0u, 0.5 * t, 1) * 2);
  out[320 + t] = int(__shfl_sync(~0u, (long long)t << 33, t % 4) >> 33);
}

__global__ void collectives(unsigned* out) {
  unsigned t = threadIdx.x;
  out[t] = __ballot_sync(~0u, t % 2);
  out[64 + t] = __any_sync(~0u, t == 40) + 2 * __all_sync(~0u, t < 32);
  out[128 + t] = __match_any_sync(~0u, t % 4);
  int all = 0;
  out[192 + t] = __match_all_sync(~0u, t / 32, &all) == ~0u && all;
  out[256 + t] = __reduce_add_sync(~0u, t);
  out[320 + t] = __reduce_max_sync(~0u, t);
  unsigned below;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
  out[384 + t] = below;
}

__global__ void partOfWarp(unsigned* out) {
  unsigned t = threadIdx.x;
  if (t < 8) {
    out[t] = __activemask();
    out[t] += __shfl_xor_sync(0xff, t, 4);
    __syncwarp(0xff);
  } else {
    out[t] = 7;
  }
}

int main() {
  Buffer<int> out(384);
  shuffles<<<1, 64>>>(out.data);
  cudaDeviceSynchronize();
  for (int i = 0; i < 64; ++i) {
    int lane = i % 32, base = i - lane;
    same("idx", i, out[i], base + 5);
    same("up", i, out[64 + i], lane < 2 ? i : i - 2);
    same("down", i, out[128 + i], i % 8 < 5 ? i + 3 : i);
    same("xor", i, out[192 + i], i ^ 1);
    same("double", i, out[256 + i], lane < 31 ? i + 1 : i);
    same("wide", i, out[320 + i], base + i % 4);
  }
  Buffer<unsigned> bits(448);
  collectives<<<1, 64>>>(bits.data);
  cudaDeviceSynchronize();
  for (int i = 0; i < 64; ++i) {
    unsigned lane = i % 32;
    same("ballot", i, bits[i], 0xaaaaaaaau);
    same("any, all", i, bits[64 + i], i < 32 ? 2u : 1u);
    same("match any", i, bits[128 + i], 0x11111111u << (i % 4));
    same("match all", i, bits[192 + i], 1u);
    same("add", i, bits[256 + i], i < 32 ? 496u : 1520u);
    same("max", i, bits[320 + i], i < 32 ? 31u : 63u);
    same("lanemask", i, bits[384 + i], (1u << lane) - 1);
  }
  partOfWarp<<<1, 32>>>(bits.data);
  cudaDeviceSynchronize();
  for (int i = 0; i < 32; ++i) same("part", i, bits[i], i < 8 ? 0xffu + (i ^ 4) : 7u);
  return finish();
}
