// Inline PTX on bits and integers, each with its result by plain C++.
#include "check.h"

typedef unsigned long long Long;

__device__ const unsigned kValues[] = {0,          1,          2,          0x80000000, 0xffffffff, 0x7fffffff, 0x2c,       0x12345678,
                                       0xf0f0f0f0, 0x00ff00ff, 0x80818283, 0x7f7e7d7c, 31,         32,         33,         255};
const int kCount = 16, kResults = 64;

__global__ void compute(unsigned* out) {
  const unsigned t = threadIdx.x, x = kValues[t / kCount], y = kValues[t % kCount];
  unsigned* o = out + kResults * t;
  unsigned r, q;
  int n = 0;
#define TWO(text) asm(text " %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y)); o[n++] = r
#define THREE(text, third) asm(text " %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(third)); o[n++] = r
  TWO("szext.clamp.u32"); // 0
  TWO("szext.clamp.s32");
  TWO("szext.wrap.u32");
  TWO("szext.wrap.s32");
  TWO("bmsk.clamp.b32");
  TWO("bmsk.wrap.b32"); // 5
  THREE("fns.b32", 1);
  THREE("fns.b32", -2);
  THREE("fns.b32", 3);
  THREE("fns.b32", 0);
  THREE("prmt.b32.f4e", t); // 10
  THREE("prmt.b32.b4e", t);
  THREE("prmt.b32.rc8", t);
  THREE("prmt.b32.ecl", t);
  THREE("prmt.b32.ecr", t);
  THREE("prmt.b32.rc16", t); // 15
  THREE("prmt.b32", x);
  asm("bfind.u32 %0, %1;" : "=r"(r) : "r"(x)); o[n++] = r;
  asm("bfind.shiftamt.u32 %0, %1;" : "=r"(r) : "r"(x)); o[n++] = r;
  asm("bfind.s32 %0, %1;" : "=r"(r) : "r"(x)); o[n++] = r;
  asm("bfind.shiftamt.s32 %0, %1;" : "=r"(r) : "r"(x)); o[n++] = r; // 20
  const Long w = Long(x) << 32 | y;
  asm("bfind.u64 %0, %1;" : "=r"(r) : "l"(w)); o[n++] = r;
  asm("clz.b64 %0, %1;" : "=r"(r) : "l"(w)); o[n++] = r;
  asm("popc.b64 %0, %1;" : "=r"(r) : "l"(w)); o[n++] = r;
  THREE("mad24.hi.s32", t);
  THREE("mad24.hi.sat.s32", 0x7fffffff); // 25
  TWO("mul24.hi.u32");
  TWO("mul24.lo.s32");
  THREE("mad.hi.sat.s32", 0x7fffffff);
  THREE("sad.s32", t);
  THREE("sad.u32", t); // 30
  THREE("dp2a.lo.s32.u32", t);
  THREE("dp2a.hi.u32.u32", t);
  THREE("dp2a.hi.s32.s32", t);
  THREE("dp4a.s32.u32", t);
  asm("{ .reg .pred p, q; setp.ne.u32 p, %4, 0; lop3.or.b32 %0|q, %2, %3, %4, 0x80, p; selp.u32 %1, 1, 0, q; }"
      : "=r"(r), "=r"(q)
      : "r"(x), "r"(y), "r"(t & 1));
  o[n++] = r, o[n++] = q; // 35
  asm("{ .reg .pred p, q; setp.ne.u32 p, %3, 0; lop3.and.b32 _|q, %1, %2, %3, 0x3c, p; selp.u32 %0, 1, 0, q; }"
      : "=r"(r)
      : "r"(x), "r"(y), "r"(t & 1));
  o[n++] = r;
  asm("cnot.b32 %0, %1;" : "=r"(r) : "r"(x)); o[n++] = r;
  THREE("shf.l.clamp.b32", t);
  THREE("cvt.pack.sat.s8.s32.b32", t); // 40
  TWO("cvt.pack.sat.u16.s32");
  o[n++] = __fns(x, y & 31, int(t % 7) - 3);
  asm volatile(".pragma \"nounroll\";\n.loc 1 2 3\n"
               "{ .reg .u32 c; .reg .pred p1; mov.u32 c, 0; mov.u32 %0, 0;\n"
               "LOOP_%=: add.u32 %0, %0, 3; add.u32 c, c, 1; setp.le.u32 p1, c, %1; @p1 bra LOOP_%=; }"
               : "=&r"(r)
               : "r"(t & 15));
  o[n++] = r; // 43
  asm volatile("{ .reg.pred p; setp.lt.u32 p, %1, 5; mov.u32 %0, 1; @!p bra.uni DONE%=;\n mov.u32 %0, 3;\n DONE%=:\n }"
               : "=r"(r)
               : "r"(t));
  o[n++] = r;
}

int highest(Long x) {
  for (int i = 63; i >= 0; --i)
    if (x >> i & 1) return i;
  return -1;
}
unsigned nth(unsigned mask, unsigned base, int offset) {
  if (offset == 0) return mask >> base & 1 ? base : ~0u;
  int left = std::abs(offset) - 1, step = offset > 0 ? 1 : -1;
  for (int pos = int(base); pos >= 0 && pos < 32; pos += step)
    if (mask >> pos & 1 && left-- == 0) return unsigned(pos);
  return ~0u;
}
unsigned extended(unsigned x, unsigned n, bool isSigned, bool wraps) {
  if (wraps) n &= 31;
  if (n >= 32) return x;
  if (n == 0) return 0;
  unsigned low = x & ((1u << n) - 1);
  return isSigned && low >> (n - 1) & 1 ? low | ~((1u << n) - 1) : low;
}
unsigned mask(unsigned from, unsigned length, bool wraps) {
  if (wraps) from &= 31, length &= 31;
  unsigned result = 0;
  for (Long i = from; i < Long(from) + length && i < 32; ++i) result |= 1u << i;
  return result;
}
unsigned bytes(unsigned a, unsigned b, const int (&from)[4]) {
  Long both = Long(b) << 32 | a;
  unsigned r = 0;
  for (int i = 0; i < 4; ++i) r |= unsigned(both >> 8 * from[i] & 255) << 8 * i;
  return r;
}
int saturated(__int128 x, Long least, Long most) {
  return int(x < (long long)least ? (long long)least : x > (long long)most ? (long long)most : (long long)x);
}

int main() {
  Buffer<unsigned> out(kCount * kCount * kResults);
  compute<<<1, kCount * kCount>>>(out.data);
  cudaDeviceSynchronize();
  const unsigned values[] = {0,          1,          2,          0x80000000, 0xffffffff, 0x7fffffff, 0x2c,       0x12345678,
                             0xf0f0f0f0, 0x00ff00ff, 0x80818283, 0x7f7e7d7c, 31,         32,         33,         255};
  for (unsigned t = 0; t < kCount * kCount; ++t) {
    const unsigned x = values[t / kCount], y = values[t % kCount];
    const int sx = int(x), sy = int(y), st = int(t);
    const unsigned* o = out.data + kResults * t;
    int n = 0;
    auto is = [&](const char* what, unsigned expected) { same(what, int(t), o[n++], expected); };
    is("szext.clamp.u32", extended(x, y, false, false));
    is("szext.clamp.s32", extended(x, y, true, false));
    is("szext.wrap.u32", extended(x, y, false, true));
    is("szext.wrap.s32", extended(x, y, true, true));
    is("bmsk.clamp", mask(x, y, false));
    is("bmsk.wrap", mask(x, y, true));
    for (int offset : {1, -2, 3, 0}) {
      if (y < 32)
        is("fns", nth(x, y, offset));
      else
        ++n; // undefined
    }
    const int forward[4][4] = {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}};
    const int backward[4][4] = {{0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}};
    const int replicate[4][4] = {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}};
    const int left[4][4] = {{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}};
    const int right[4][4] = {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}};
    const int halves[4][4] = {{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}};
    is("prmt.f4e", bytes(x, y, forward[t & 3]));
    is("prmt.b4e", bytes(x, y, backward[t & 3]));
    is("prmt.rc8", bytes(x, y, replicate[t & 3]));
    is("prmt.ecl", bytes(x, y, left[t & 3]));
    is("prmt.ecr", bytes(x, y, right[t & 3]));
    is("prmt.rc16", bytes(x, y, halves[t & 3]));
    unsigned chosen = 0;
    for (int i = 0; i < 4; ++i) {
      unsigned selector = x >> 4 * i & 15, byte = unsigned((Long(y) << 32 | x) >> 8 * (selector & 7)) & 255;
      if (selector & 8) byte = byte & 128 ? 255 : 0;
      chosen |= byte << 8 * i;
    }
    is("prmt", chosen);
    const int h = highest(x), s = highest(sx < 0 ? ~x : x);
    is("bfind.u32", unsigned(h));
    is("bfind.shiftamt.u32", unsigned(h < 0 ? -1 : 31 - h));
    is("bfind.s32", unsigned(s));
    is("bfind.shiftamt.s32", unsigned(s < 0 ? -1 : 31 - s));
    const Long w = Long(x) << 32 | y;
    is("bfind.u64", unsigned(highest(w)));
    is("clz.b64", unsigned(63 - highest(w)));
    unsigned ones = 0;
    for (int i = 0; i < 64; ++i) ones += unsigned(w >> i & 1);
    is("popc.b64", ones);
    const long long cx = (long long)(Long(x) << 40) >> 40, cy = (long long)(Long(y) << 40) >> 40;
    const int high = int(cx * cy >> 16);
    is("mad24.hi.s32", unsigned(high) + t);
    is("mad24.hi.sat.s32", unsigned(saturated(__int128(high) + 0x7fffffff, Long(-0x80000000ll), 0x7fffffff)));
    is("mul24.hi.u32", unsigned(Long(x & 0xffffff) * (y & 0xffffff) >> 16));
    is("mul24.lo.s32", unsigned(cx * cy));
    is("mad.hi.sat.s32",
       unsigned(saturated((__int128(sx) * sy >> 32) + 0x7fffffff, Long(-0x80000000ll), 0x7fffffff)));
    is("sad.s32", unsigned(std::llabs((long long)sx - sy)) + t);
    is("sad.u32", unsigned(std::llabs((long long)x - (long long)y)) + t);
    auto half = [](unsigned v, int i) { return unsigned(v >> 16 * i & 0xffff); };
    auto byte = [](unsigned v, int i) { return unsigned(v >> 8 * i & 0xff); };
    is("dp2a.lo.s32.u32", unsigned(short(half(x, 0))) * byte(y, 0) + unsigned(short(half(x, 1))) * byte(y, 1) + t);
    is("dp2a.hi.u32.u32", half(x, 0) * byte(y, 2) + half(x, 1) * byte(y, 3) + t);
    is("dp2a.hi.s32.s32", unsigned(short(half(x, 0)) * (signed char)byte(y, 2) +
                                   short(half(x, 1)) * (signed char)byte(y, 3) + st));
    unsigned dot = t;
    for (int i = 0; i < 4; ++i) dot += unsigned((signed char)byte(x, i) * int(byte(y, i)));
    is("dp4a.s32.u32", dot);
    const unsigned both = x & y & (t & 1);
    is("lop3.or", both);
    is("lop3.or predicate", both != 0 || (t & 1));
    is("lop3.and predicate", (x ^ y) != 0 && (t & 1));
    is("cnot", x == 0);
    const unsigned by = t < 32 ? t : 32;
    is("shf.l.clamp", unsigned((Long(y) << 32 | x) << by >> 32));
    auto limited = [](int v, int least, int most) { return unsigned(v < least ? least : v > most ? most : v); };
    is("cvt.pack.s8", t << 16 | (limited(sx, -128, 127) & 255) << 8 | (limited(sy, -128, 127) & 255));
    is("cvt.pack.u16", limited(sx, 0, 65535) << 16 | limited(sy, 0, 65535));
    is("__fns", nth(x, y & 31, int(t % 7) - 3));
    is("loop", 3 * ((t & 15) + 1));
    is("branch", t < 5 ? 3 : 1);
  }
  return finish();
}
