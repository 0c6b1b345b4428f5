// Video instructions on words, halves and bytes, with a second operation or a merge; and those on four bytes at once.
#include "check.h"

typedef long long Long;

__device__ const unsigned kValues[] = {0,          1,          0x80000000, 0xffffffff, 0x7fffffff, 0x12345678,
                                       0x807f01ff, 0xfe80ff00, 17,         0x00ff8001, 0xdeadbeef, 7};
const int kCount = 12, kResults = 40;

__global__ void compute(unsigned* out) {
  const unsigned t = threadIdx.x, x = kValues[t / kCount], y = kValues[t % kCount], c = 0x1234f00du * (t + 1);
  unsigned* o = out + kResults * t;
  unsigned r;
  int n = 0;
#define TWO(op, parts) asm(op " %0, " parts ";" : "=r"(r) : "r"(x), "r"(y), "r"(c)); o[n++] = r
#define MERGE(op, to, parts) asm("{ .reg .u32 m; " op " m." to ", " parts ", %3; mov.u32 %0, m; }" : "=r"(r) : "r"(x), "r"(y), "r"(c)); o[n++] = r
  TWO("vadd.u32.u32.u32", "%1, %2");
  TWO("vadd.s32.u32.s32.sat", "%1, %2");
  TWO("vadd.s32.s32.s32", "%1.b3, %2.h1");
  TWO("vsub.u32.u32.u32.sat", "%1, %2");
  TWO("vsub.s32.s32.u32.add", "%1.h0, %2.b1, %3");
  TWO("vabsdiff.u32.s32.s32", "%1, %2"); // 5
  TWO("vabsdiff.u32.u32.u32.add", "%1.b0, %2.b0, %3");
  TWO("vmin.s32.s32.s32", "%1, %2");
  TWO("vmax.u32.u32.u32.min", "%1, %2, %3");
  TWO("vmax.s32.u32.s32.sat.max", "%1.h1, %2.b2, %3");
  MERGE("vadd.u32.u32.u32.sat", "b1", "%1.b1, %2.b1"); // 10
  MERGE("vadd.s32.s32.s32.sat", "h1", "%1, %2");
  MERGE("vsub.s32.s32.s32", "h0", "%1, %2");
  TWO("vshl.u32.u32.u32.clamp", "%1, %2");
  TWO("vshl.s32.s32.u32.sat.wrap", "%1, %2");
  TWO("vshr.s32.s32.u32.clamp.add", "%1, %2.b0, %3"); // 15
  TWO("vshr.u32.u32.u32.wrap", "%1, %2");
  TWO("vset.u32.s32.lt", "%1, %2");
  TWO("vset.s32.s32.ge.add", "%1.b0, %2.h0, %3");
  MERGE("vset.u32.u32.ne", "b3", "%1, %2");
  TWO("vmad.u32.u32.u32", "%1, %2, %3"); // 20
  TWO("vmad.s32.s32.u32.sat", "%1.h0, %2.h1, %3");
  TWO("vmad.u32.u32.u32.po.shr15", "%1, %2, %3");
  TWO("vmad.s32.s32.s32.sat.shr7", "%1, %2, %3");
  TWO("vadd4.u32.u32.u32.sat", "%1, %2, %3");
  TWO("vsub4.s32.s32.s32.sat", "%1, %2, %3"); // 25
  TWO("vabsdiff4.u32.s32.s32.add", "%1, %2, %3");
  TWO("vavrg2.s32.s32.s32", "%1, %2, %3");
  TWO("vmax4.s32.s32.u32", "%1, %2, %3");
  TWO("vset2.s32.s32.le", "%1, %2, %3");
}

Long part(unsigned word, int bits, int at, bool isSigned) {
  Long v = Long(word >> at) & ((1ll << bits) - 1);
  return isSigned && v >> (bits - 1) & 1 ? v - (1ll << bits) : v;
}
__int128 clampTo(__int128 v, bool isSigned, int bits) {
  __int128 least = isSigned ? -(__int128(1) << (bits - 1)) : 0, most = (__int128(1) << (isSigned ? bits - 1 : bits)) - 1;
  return v < least ? least : v > most ? most : v;
}
unsigned merged(unsigned c, unsigned value, int bits, int at) {
  unsigned mask = ((1u << bits) - 1) << at;
  return (c & ~mask) | (value << at & mask);
}

int main() {
  Buffer<unsigned> out(kCount * kCount * kResults);
  compute<<<1, kCount * kCount>>>(out.data);
  cudaDeviceSynchronize();
  const unsigned values[] = {0,          1,          0x80000000, 0xffffffff, 0x7fffffff, 0x12345678,
                             0x807f01ff, 0xfe80ff00, 17,         0x00ff8001, 0xdeadbeef, 7};
  for (unsigned t = 0; t < kCount * kCount; ++t) {
    const unsigned x = values[t / kCount], y = values[t % kCount], c = 0x1234f00du * (t + 1);
    const Long sx = int(x), sy = int(y), sc = int(c);
    const unsigned* o = out.data + kResults * t;
    int n = 0;
    auto is = [&](const char* what, __int128 expected) { same(what, int(t), o[n++], unsigned(expected)); };
    auto b = [](unsigned w, int i, bool s) { return part(w, 8, 8 * i, s); };
    auto h = [](unsigned w, int i, bool s) { return part(w, 16, 16 * i, s); };
    is("vadd", x + y);
    is("vadd.sat", clampTo(Long(x) + sy, true, 32));
    is("vadd parts", b(x, 3, true) + h(y, 1, true));
    is("vsub.sat", clampTo(Long(x) - y, false, 32));
    is("vsub.add", h(x, 0, true) - b(y, 1, false) + sc);
    is("vabsdiff", sx > sy ? sx - sy : sy - sx);
    is("vabsdiff.add", std::llabs(b(x, 0, false) - b(y, 0, false)) + c);
    is("vmin", sx < sy ? sx : sy);
    is("vmax.min", (x > y ? x : y) < c ? (x > y ? x : y) : c);
    const Long larger = h(x, 1, false) > b(y, 2, true) ? h(x, 1, false) : b(y, 2, true);
    is("vmax.max", larger > sc ? larger : sc);
    is("vadd merge byte", merged(c, unsigned(clampTo(b(x, 1, false) + b(y, 1, false), false, 8)), 8, 8));
    is("vadd merge half", merged(c, unsigned(clampTo(sx + sy, true, 16)), 16, 16));
    is("vsub merge", merged(c, unsigned(sx - sy), 16, 0));
    is("vshl", y >= 32 ? 0 : x << y);
    is("vshl.sat", clampTo(__int128(sx) * (1ll << (y & 31)), true, 32));
    const int by = (y & 255) > 32 ? 32 : int(y & 255);
    is("vshr.add", (sx >> by) + sc);
    is("vshr.wrap", x >> (y & 31));
    is("vset", Long(x) < sy);
    is("vset.add", (b(x, 0, true) >= h(y, 0, true)) + c);
    is("vset merge", merged(c, x != y, 8, 24));
    is("vmad", __int128(x) * y + c);
    is("vmad.sat", clampTo(__int128(h(x, 0, true)) * h(y, 1, false) + sc, true, 32));
    is("vmad.po", (__int128(x) * y + c + 1) >> 15);
    is("vmad.shr7", clampTo((__int128(sx) * sy + sc) >> 7, true, 32));
    unsigned add4 = 0, sub4 = 0, difference = c, average = 0, most = 0, less = 0;
    for (int i = 0; i < 4; ++i) {
      add4 |= unsigned(clampTo(b(x, i, false) + b(y, i, false), false, 8)) << 8 * i;
      sub4 |= (unsigned(clampTo(b(x, i, true) - b(y, i, true), true, 8)) & 255) << 8 * i;
      difference += unsigned(std::llabs(b(x, i, true) - b(y, i, true)));
      Long large = b(x, i, true) > b(y, i, false) ? b(x, i, true) : b(y, i, false);
      most |= (unsigned(large) & 255) << 8 * i;
    }
    for (int i = 0; i < 2; ++i) {
      const Long sum = h(x, i, true) + h(y, i, true);
      average |= (unsigned((sum >= 0 ? sum + 1 : sum) >> 1) & 0xffff) << 16 * i;
      less |= unsigned(h(x, i, true) <= h(y, i, true)) << 16 * i;
    }
    is("vadd4", add4);
    is("vsub4", sub4);
    is("vabsdiff4", difference);
    is("vavrg2", average);
    is("vmax4", most);
    is("vset2", less);
  }
  return finish();
}
