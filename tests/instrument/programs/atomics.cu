// Atomics on every type, with wrap-around forms, compare-and-swap loops and scopes.
#include "check.h"
#include <cuda_fp16.h>

struct Results {
  int add, least, most, bits, exchanged;
  unsigned inc, dec, umax;
  unsigned long long wide;
  float sum;
  double precise, product;
  int block, system;
  unsigned short small;
};

__device__ double multiply(double* at, double by) {
  auto* word = reinterpret_cast<unsigned long long*>(at);
  unsigned long long old = *word, seen;
  do {
    seen = old;
    old = atomicCAS(word, seen, __double_as_longlong(__longlong_as_double(seen) * by));
  } while (old != seen);
  return __longlong_as_double(old);
}

__global__ void count(Results* r) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&r->add, 2);
  atomicMin(&r->least, -i);
  atomicMax(&r->most, i);
  atomicOr(&r->bits, 1 << (i % 8));
  atomicExch(&r->exchanged, 9);
  atomicInc(&r->inc, 6);
  atomicDec(&r->dec, 4);
  atomicMax(&r->umax, 0x80000000u + i);
  atomicAdd(&r->wide, 1ull << 33);
  atomicAdd(&r->sum, 0.5f);
  atomicAdd(&r->precise, 0.25);
  if (i < 10) multiply(&r->product, 2.0);
  if (blockIdx.x == 0) atomicAdd_block(&r->block, 1);
  atomicAdd_system(&r->system, 1);
  unsigned short old = 0;
  if (i == 0) old = atomicCAS(&r->small, (unsigned short)3, (unsigned short)4);
  if (i == 0 && old != 3) r->small = 99;
}

int main() {
  Buffer<Results> r(1);
  r[0].product = 1;
  r[0].small = 3;
  count<<<4, 64>>>(r.data);
  cudaDeviceSynchronize();
  same("add", 0, r[0].add, 512);
  same("min", 0, r[0].least, -255);
  same("max", 0, r[0].most, 255);
  same("or", 0, r[0].bits, 255);
  same("exch", 0, r[0].exchanged, 9);
  same("inc", 0, r[0].inc, 256 % 7);
  same("dec", 0, r[0].dec, (5 - 256 % 5) % 5);
  same("umax", 0, r[0].umax, 0x80000000u + 255);
  same("wide", 0, r[0].wide, 256ull << 33);
  same("float", 0, r[0].sum, 128);
  same("double", 0, r[0].precise, 64);
  same("cas loop", 0, r[0].product, 1024);
  same("block", 0, r[0].block, 64);
  same("system", 0, r[0].system, 256);
  same("cas16", 0, r[0].small, 4);
  return finish();
}
