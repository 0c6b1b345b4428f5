// Carry chains: sums, differences and products of long numbers, in one asm statement, and in one for each step as
// libraries for big numbers write them.
#include "check.h"

typedef unsigned __int128 Wide;
typedef unsigned long long Long;

__device__ __forceinline__ unsigned addCc(unsigned a, unsigned b) {
  unsigned r;
  asm volatile("add.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
__device__ __forceinline__ unsigned addcCc(unsigned a, unsigned b) {
  unsigned r;
  asm volatile("addc.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
__device__ __forceinline__ unsigned addc(unsigned a, unsigned b) {
  unsigned r;
  asm volatile("addc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
__device__ __forceinline__ unsigned madcHiCc(unsigned a, unsigned b, unsigned c) {
  unsigned r;
  asm volatile("madc.hi.cc.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  return r;
}
__device__ __forceinline__ unsigned madLoCc(unsigned a, unsigned b, unsigned c) {
  unsigned r;
  asm volatile("mad.lo.cc.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  return r;
}
__device__ __forceinline__ unsigned madcLoCc(unsigned a, unsigned b, unsigned c) {
  unsigned r;
  asm volatile("madc.lo.cc.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  return r;
}

const int kWords = 4;

/// 128 bits each; in loops, so that the carry goes around.
__global__ void sums(const unsigned* a, const unsigned* b, unsigned* sum, unsigned* difference, unsigned* product) {
  const int i = threadIdx.x;
  a += i * kWords, b += i * kWords, sum += i * (kWords + 1), difference += i * (kWords + 1), product += i * 2 * kWords;
  sum[0] = addCc(a[0], b[0]);
  for (int w = 1; w < kWords; ++w) sum[w] = addcCc(a[w], b[w]);
  sum[kWords] = addc(0, 0);
  unsigned d[kWords], borrow;
  asm("sub.cc.u32 %0, %5, %9; subc.cc.u32 %1, %6, %10; subc.cc.u32 %2, %7, %11; subc.cc.u32 %3, %8, %12;\n"
      "subc.u32 %4, 0, 0;"
      : "=&r"(d[0]), "=&r"(d[1]), "=&r"(d[2]), "=&r"(d[3]), "=&r"(borrow)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]));
  for (int w = 0; w < kWords; ++w) difference[w] = d[w];
  difference[kWords] = borrow;
  unsigned p[2 * kWords] = {};
  for (int j = 0; j < kWords; ++j) { // row by row: low halves, then high halves one word further
    p[j] = madLoCc(a[0], b[j], p[j]);
    for (int k = 1; k < kWords; ++k) p[j + k] = madcLoCc(a[k], b[j], p[j + k]);
    p[j + kWords] = addc(p[j + kWords], 0);
    p[j + 1] = addCc(p[j + 1], 0); // clears the carry
    for (int k = 0; k + 1 < kWords; ++k) {
      unsigned high = k ? madcHiCc(a[k], b[j], p[j + k + 1]) : 0;
      if (!k) asm volatile("mad.hi.cc.u32 %0, %1, %2, %3;" : "=r"(high) : "r"(a[0]), "r"(b[j]), "r"(p[j + 1]));
      p[j + k + 1] = high;
    }
    asm volatile("madc.hi.u32 %0, %1, %2, %3;" : "=r"(p[j + kWords]) : "r"(a[kWords - 1]), "r"(b[j]), "r"(p[j + kWords]));
  }
  for (int w = 0; w < 2 * kWords; ++w) product[w] = p[w];
}

/// 64-bit words, signs, and a predicate before a step.
__global__ void others(const Long* a, Long* out, int* narrow) {
  const int i = threadIdx.x;
  Long x = a[2 * i], y = a[2 * i + 1], low, high;
  asm("{ add.cc.u64 %0, %2, %3;\n addc.u64 %1, 7, 0; }" : "=l"(low), "=l"(high) : "l"(x), "l"(y));
  out[6 * i] = low, out[6 * i + 1] = high;
  asm("mad.lo.cc.u64 %0, %2, %3, %4; madc.hi.u64 %1, %2, %3, 0;" : "=&l"(low), "=l"(high) : "l"(x), "l"(y), "l"(~0ull));
  out[6 * i + 2] = low, out[6 * i + 3] = high;
  asm("sub.cc.s64 %0, %2, %3; subc.s64 %1, 5, 1;" : "=l"(low), "=l"(high) : "l"(x), "l"(y));
  out[6 * i + 4] = low, out[6 * i + 5] = high;
  int r, s;
  asm("{ .reg .pred p; setp.ne.s32 p, %2, 0; add.cc.s32 %0, -1, 1; @p add.cc.s32 %0, 1, 1; addc.s32 %1, 0, 0; }"
      : "=&r"(r), "=r"(s)
      : "r"(i & 1));
  narrow[3 * i] = r, narrow[3 * i + 1] = s;
  asm("add.cc.u32 %0, %1, 1; madc.hi.s32 %0, %1, %2, 3;" : "=&r"(r) : "r"(-1), "r"(i));
  narrow[3 * i + 2] = r;
}

int main() {
  Buffer<unsigned> a(32 * kWords), b(32 * kWords), sum(32 * 5), difference(32 * 5), product(32 * 8);
  unsigned seed = 12345;
  for (int i = 0; i < 32 * kWords; ++i) {
    auto next = [&] { return seed = seed * 1664525u + 1013904223u, seed >> 8 & 3 ? seed * 2654435761u : 0u - (seed >> 31); };
    a[i] = next();
    b[i] = next();
  }
  for (int w = 0; w < kWords; ++w) a[w] = b[w] = ~0u; // the largest, and equal ones
  sums<<<1, 32>>>(a.data, b.data, sum.data, difference.data, product.data);
  Buffer<Long> in(64), out(32 * 6);
  Buffer<int> narrow(96);
  for (int i = 0; i < 64; ++i) in[i] = i % 3 ? (Long(a[i]) << 32 | b[i]) : ~0ull;
  others<<<1, 32>>>(in.data, out.data, narrow.data);
  cudaDeviceSynchronize();
  for (int i = 0; i < 32; ++i) {
    auto number = [&](Buffer<unsigned>& words) {
      Wide n = 0;
      for (int w = kWords - 1; w >= 0; --w) n = n << 32 | words[kWords * i + w];
      return n;
    };
    Wide x = number(a), y = number(b), s = x + y, d = x - y;
    for (int w = 0; w < kWords; ++w) {
      same("sum", w, sum[5 * i + w], unsigned(s >> 32 * w));
      same("difference", w, difference[5 * i + w], unsigned(d >> 32 * w));
    }
    same("carry", i, sum[5 * i + 4], s < x ? 1u : 0u);
    same("borrow", i, difference[5 * i + 4], x < y ? ~0u : 0u);
    unsigned long long digits[8] = {}; // 32 bits each, school method
    for (int j = 0; j < 4; ++j) {
      Long over = 0;
      for (int k = 0; k < 4; ++k) {
        Long step = Long(a[4 * i + k]) * b[4 * i + j] + digits[j + k] + over;
        digits[j + k] = unsigned(step);
        over = step >> 32;
      }
      digits[j + 4] = over;
    }
    for (int w = 0; w < 8; ++w) same("product", 8 * i + w, product[8 * i + w], unsigned(digits[w]));
    Long u = in[2 * i], v = in[2 * i + 1];
    Wide t = Wide(u) + v, m = Wide(u) * v + ~0ull;
    same("low", i, out[6 * i], Long(t));
    same("high", i, out[6 * i + 1], Long(t >> 64) + 7);
    same("mad", i, out[6 * i + 2], Long(m));
    same("madc", i, out[6 * i + 3], Long(m >> 64));
    same("sub64", i, out[6 * i + 4], u - v);
    same("subc64", i, out[6 * i + 5], Long(u < v ? 3 : 4));
    same("guarded", i, narrow[3 * i], i & 1 ? 2 : 0);
    same("guarded carry", i, narrow[3 * i + 1], i & 1 ? 0 : 1);
    same("signed", i, narrow[3 * i + 2], (i > 0 ? -1 : 0) + 3 + 1);
  }
  return finish();
}
