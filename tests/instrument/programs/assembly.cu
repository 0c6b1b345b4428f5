// Inline PTX: predicates, registers, bit fields, carries, vectors, memory with orders, early exit.
#include "check.h"

__device__ unsigned funnel(unsigned low, unsigned high, unsigned by) {
  unsigned r;
  asm("shf.r.wrap.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(low), "r"(high), "r"(by));
  return r;
}

__global__ void compute(unsigned* out, const unsigned* in) {
  unsigned t = threadIdx.x, r, s;
  asm("{ .reg .pred p; setp.gt.s32 p, %1, 5; @p mov.u32 %0, 7; @!p mov.u32 %0, 9; }" : "=r"(r) : "r"(t));
  out[t] = r;
  asm("bfe.u32 %0, %1, 4, 8;" : "=r"(r) : "r"(0x12345678u + t));
  out[32 + t] = r;
  asm("bfi.b32 %0, %1, %2, 8, 8;" : "=r"(r) : "r"(t), "r"(0xffffffffu));
  out[64 + t] = r;
  asm("prmt.b32 %0, %1, %2, 0x0123;" : "=r"(r) : "r"(0x11223344u), "r"(t));
  out[96 + t] = r;
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(r) : "r"(t), "r"(12u), "r"(10u));
  out[128 + t] = r;
  asm("add.cc.u32 %0, %2, %3; addc.u32 %1, %4, 0;" : "=r"(r), "=r"(s) : "r"(0xffffffffu), "r"(t), "r"(5u));
  out[160 + t] = r + 1000 * s;
  out[192 + t] = funnel(t, 1, 4);
  asm("{\n\t.reg .b32 lo, hi;\n\tmov.b64 {lo, hi}, %1; // halves\n\tadd.u32 %0, lo, hi;\n}" : "=r"(r) : "l"((7ull << 32) + t));
  out[224 + t] = r;
  asm volatile("ld.global.nc.u32 %0, [%1 + 4];" : "=r"(r) : "l"(in + t));
  out[256 + t] = r;
  asm("{ .reg .u32 i; mov.u32 %0, 0; mov.u32 i, %1; again: add.u32 %0, %0, i; sub.u32 i, i, 1; { .reg .pred q; setp.ne.u32 q, i, 0; @q bra again; } }" : "+r"(r) : "r"(t + 1));
  out[288 + t] = r;
  asm("mul.wide.s16 %0, %1, %2;" : "=r"(r) : "h"((short)-3), "h"((short)t));
  out[320 + t] = r;
  float f;
  asm("fma.rn.f32 %0, %1, 0f40000000, %2;" : "=f"(f) : "f"(float(t)), "f"(0.5f));
  out[352 + t] = unsigned(f * 2);
  asm("mov.u32 %0, %%ntid.x;" : "=r"(r));
  out[384 + t] = r;
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(r) : "r"(0x01020304u), "r"(0x04030201u), "r"(t));
  out[416 + t] = r;
}

__global__ void ordered(unsigned* word, unsigned* out) {
  unsigned r;
  asm volatile("atom.add.release.gpu.u32 %0, [%1], %2;" : "=r"(r) : "l"(word), "r"(2) : "memory");
  asm volatile("red.relaxed.gpu.global.add.u32 [%0], %1;" ::"l"(word), "r"(1) : "memory");
  if (threadIdx.x % 2) asm volatile("exit;");
  out[threadIdx.x] = 5;
}

int main() {
  Buffer<unsigned> out(448), in(64);
  for (int i = 0; i < 64; ++i) in[i] = 3 * i;
  compute<<<1, 32>>>(out.data, in.data);
  cudaDeviceSynchronize();
  for (unsigned i = 0; i < 32; ++i) {
    same("predicate", i, out[i], int(i) > 5 ? 7u : 9u);
    same("bfe", i, out[32 + i], (0x12345678u + i) >> 4 & 255);
    same("bfi", i, out[64 + i], 0xffff00ffu | i << 8);
    same("prmt", i, out[96 + i], 0x44332211u);
    same("lop3", i, out[128 + i], i ^ 12u ^ 10u);
    same("carry", i, out[160 + i], (0xffffffffu + i) + 1000 * (i > 0 ? 6 : 5));
    same("funnel", i, out[192 + i], i >> 4 | 1u << 28);
    same("halves", i, out[224 + i], 7 + i);
    same("ld", i, out[256 + i], 3 * (i + 1));
    same("loop", i, out[288 + i], (i + 1) * (i + 2) / 2);
    same("wide", i, out[320 + i], unsigned(-3 * int(i)));
    same("fma", i, out[352 + i], 4 * i + 1);
    same("special", i, out[384 + i], 32u);
    same("video", i, out[416 + i], 3 + 1 + 1 + 3 + i);
  }
  for (int i = 0; i < 32; ++i) out[i] = 0;
  in[0] = 0;
  ordered<<<1, 32>>>(in.data, out.data);
  cudaDeviceSynchronize();
  same("atom", 0, in[0], 96u);
  for (int i = 0; i < 32; ++i) same("exit", i, out[i], i % 2 ? 0u : 5u);
  return finish();
}
