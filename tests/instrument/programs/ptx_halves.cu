// Half precision and bfloat16 in inline PTX: each result against exact arithmetic on the host, rounded once by search.
#include "check.h"

#include <cstdint>
#include <cstring>

typedef unsigned short Bits;
typedef long double Real;

__device__ const Bits kHalves[] = {0x0000, 0x8000, 0x3c00, 0xbc00, 0x3c01, 0x0001, 0x83ff, 0x7bff, 0xfbff, 0x7c00,
                                   0xfc00, 0x7e00, 0x3555, 0x4248, 0xc100, 0x0400, 0x3801, 0x2c00};
__device__ const Bits kBrains[] = {0x0000, 0x8000, 0x3f80, 0xbf80, 0x3f88, 0x3b80, 0xbb81, 0x7f80, 0xff80, 0x7fc0,
                                   0x4049, 0x3580, 0xb580, 0x42ff, 0xc001, 0x3eaa, 0x3f81, 0x4000};
const int kCount = 18, kResults = 48;

__device__ unsigned pairOf(Bits low, Bits high) { return unsigned(high) << 16 | low; }

__global__ void compute(unsigned* out) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = t / (kCount * kCount), j = t / kCount % kCount, k = t % kCount;
  const Bits x = kHalves[i], y = kHalves[j], z = kHalves[k], u = kBrains[i], v = kBrains[j], w = kBrains[k];
  unsigned* o = out + kResults * t;
  Bits r;
  unsigned q;
  int n = 0;
#define HALF(text) asm(text " %0, %1, %2;" : "=h"(r) : "h"(x), "h"(y)); o[n++] = r
#define HALF3(text) asm(text " %0, %1, %2, %3;" : "=h"(r) : "h"(x), "h"(y), "h"(z)); o[n++] = r
#define BRAIN(text) asm(text " %0, %1, %2;" : "=h"(r) : "h"(u), "h"(v)); o[n++] = r
#define BRAIN3(text) asm(text " %0, %1, %2, %3;" : "=h"(r) : "h"(u), "h"(v), "h"(w)); o[n++] = r
#define PAIR(text) asm(text " %0, %1, %2;" : "=r"(q) : "r"(pairOf(x, z)), "r"(pairOf(y, x))); o[n++] = q
  HALF3("fma.rn.f16"); // 0
  HALF3("fma.rn.sat.f16");
  HALF3("fma.rn.relu.f16");
  HALF3("fma.rn.ftz.f16");
  BRAIN3("fma.rn.bf16");
  BRAIN3("fma.rn.relu.bf16"); // 5
  PAIR("add.sat.f16x2");
  PAIR("mul.rn.sat.f16x2");
  PAIR("sub.ftz.f16x2");
  HALF("min.f16");
  HALF("max.NaN.f16"); // 10
  HALF("max.xorsign.abs.f16");
  BRAIN("min.NaN.xorsign.abs.bf16");
  asm("set.gt.f16x2.f16x2 %0, %1, %2;" : "=r"(q) : "r"(pairOf(x, z)), "r"(pairOf(y, x))); o[n++] = q;
  asm("set.leu.u32.f16x2 %0, %1, %2;" : "=r"(q) : "r"(pairOf(x, z)), "r"(pairOf(y, x))); o[n++] = q;
  asm("{ .reg .pred a, b; setp.lt.f16x2 a|b, %1, %2; selp.u32 %0, 1, 0, a; @b add.u32 %0, %0, 2; }"
      : "=&r"(q)
      : "r"(pairOf(x, z)), "r"(pairOf(y, x)));
  o[n++] = q; // 15
  float a, b;
  asm("cvt.f32.f16 %0, %1;" : "=f"(a) : "h"(x));
  asm("cvt.f32.f16 %0, %1;" : "=f"(b) : "h"(y));
  const float c = a * 1.0009766f, d = b * 3.0f;
  asm("cvt.rn.relu.f16.f32 %0, %1;" : "=h"(r) : "f"(c)); o[n++] = r;
  asm("cvt.rn.satfinite.f16.f32 %0, %1;" : "=h"(r) : "f"(d)); o[n++] = r;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(q) : "f"(c), "f"(d)); o[n++] = q;
  asm("cvt.rn.relu.bf16x2.f32 %0, %1, %2;" : "=r"(q) : "f"(c), "f"(d)); o[n++] = q;
  asm("cvt.rz.bf16.f32 %0, %1;" : "=h"(r) : "f"(c)); o[n++] = r; // 20
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(q) : "f"(c)); o[n++] = q;
  asm("ex2.approx.f16 %0, %1;" : "=h"(r) : "h"(x)); o[n++] = r;
  asm("tanh.approx.f16 %0, %1;" : "=h"(r) : "h"(x)); o[n++] = r;
  asm("tanh.approx.bf16 %0, %1;" : "=h"(r) : "h"(u)); o[n++] = r;
  float f;
  asm("add.ftz.f32 %0, %1, %2;" : "=f"(f) : "f"(a * 0x1p-126f), "f"(b * 0x1p-110f)); // 25
  o[n++] = __float_as_uint(f);
}

/// What 16 bits stand for.
Real valueOf(unsigned bits, bool brain) {
  const int mantissa = brain ? 7 : 10, bias = brain ? 127 : 15, top = brain ? 255 : 31;
  const int exponent = int(bits >> mantissa) & top, fraction = int(bits & ((1u << mantissa) - 1));
  Real v = exponent == top ? (fraction ? NAN : INFINITY)
           : exponent      ? std::ldexp(Real(fraction + (1 << mantissa)), exponent - bias - mantissa)
                           : std::ldexp(Real(fraction), 1 - bias - mantissa);
  return bits & 0x8000 ? -v : v;
}
/// The nearest, ties to even; `towardsZero`: the one below in size.
unsigned rounded(Real v, bool brain, bool towardsZero = false) {
  if (std::isnan(v)) return 0x7fff;
  const unsigned sign = std::signbit(v) ? 0x8000 : 0, infinite = brain ? 0x7f80 : 0x7c00;
  const Real size = std::fabs(v);
  if (std::isinf(size)) return sign | infinite;
  unsigned low = 0, high = infinite; // in size: low <= v < high
  while (high - low > 1) {
    unsigned middle = (low + high) / 2;
    (valueOf(middle, brain) <= size ? low : high) = middle;
  }
  if (towardsZero) return sign | low;
  const Real next = high == infinite ? 2 * valueOf(low, brain) - valueOf(low - 1, brain) : valueOf(high, brain);
  const Real below = size - valueOf(low, brain), above = next - size;
  return sign | (below < above || (below == above && low % 2 == 0) ? low : high);
}
Real relu(Real v) { return v <= 0 ? 0 : v; }
Real sat(Real v) { return std::isnan(v) || v <= 0 ? 0 : v > 1 ? 1 : v; }
Real flush(Real v, Real least) { return std::fabs(v) < least ? std::copysign(Real(0), v) : v; }
bool isClose(unsigned got, Real expected, bool brain) {
  Real v = valueOf(got, brain);
  if (std::isnan(expected)) return std::isnan(v);
  if (std::isinf(valueOf(rounded(expected, brain), brain))) return std::isinf(v);
  return std::fabs(v - expected) <= std::fabs(expected) * (brain ? 0x1p-7L : 0x1p-9L) + 0x1p-23L;
}

int main() {
  const int threads = kCount * kCount * kCount;
  const Bits halves[] = {0x0000, 0x8000, 0x3c00, 0xbc00, 0x3c01, 0x0001, 0x83ff, 0x7bff, 0xfbff, 0x7c00,
                         0xfc00, 0x7e00, 0x3555, 0x4248, 0xc100, 0x0400, 0x3801, 0x2c00};
  const Bits brains[] = {0x0000, 0x8000, 0x3f80, 0xbf80, 0x3f88, 0x3b80, 0xbb81, 0x7f80, 0xff80, 0x7fc0,
                         0x4049, 0x3580, 0xb580, 0x42ff, 0xc001, 0x3eaa, 0x3f81, 0x4000};
  Buffer<unsigned> out(threads * kResults);
  compute<<<kCount, kCount * kCount>>>(out.data);
  cudaDeviceSynchronize();
  for (int t = 0; t < threads; ++t) {
    const int i = t / (kCount * kCount), j = t / kCount % kCount, k = t % kCount;
    const Real x = valueOf(halves[i], false), y = valueOf(halves[j], false), z = valueOf(halves[k], false);
    const Real u = valueOf(brains[i], true), v = valueOf(brains[j], true), w = valueOf(brains[k], true);
    const unsigned* o = out.data + kResults * t;
    int n = 0;
    auto is = [&](const char* what, unsigned expected) { same(what, t, o[n++], expected); };
    auto pair = [](Real low, Real high) { return rounded(high, false) << 16 | rounded(low, false); };
    const Real least = 0x1p-14L;
    is("fma", rounded(x * y + z, false));
    is("fma.sat", rounded(sat(x * y + z), false));
    is("fma.relu", rounded(relu(x * y + z), false));
    is("fma.ftz", rounded(flush(flush(x, least) * flush(y, least) + flush(z, least), least), false));
    is("fma.bf16", rounded(u * v + w, true));
    is("fma.relu.bf16", rounded(relu(u * v + w), true));
    is("add.sat", pair(sat(x + y), sat(z + x)));
    is("mul.sat", pair(sat(x * y), sat(z * x)));
    is("sub.ftz", pair(flush(flush(x, least) - flush(y, least), least), flush(flush(z, least) - flush(x, least), least)));
    auto less = [](Real p, Real q) { return p < q || (p == q && std::signbit(p) && !std::signbit(q)); };
    is("min", rounded(std::isnan(x) ? y : std::isnan(y) || less(x, y) ? x : y, false));
    is("max.NaN", rounded(std::isnan(x) ? x : std::isnan(y) ? y : less(x, y) ? y : x, false));
    if (std::isnan(x) || std::isnan(y))
      ++n;
    else
      is("max.xorsign.abs",
         rounded(std::copysign(std::fmax(std::fabs(x), std::fabs(y)), std::signbit(x) != std::signbit(y) ? -1.0L : 1.0L), false));
    if (std::isnan(u) || std::isnan(v))
      same("min.NaN.xorsign.abs", t, std::isnan(valueOf(o[n++], true)), true);
    else
      is("min.NaN.xorsign.abs",
         rounded(std::copysign(std::fmin(std::fabs(u), std::fabs(v)), std::signbit(u) != std::signbit(v) ? -1.0L : 1.0L), true));
    is("set.gt", (x > y ? 0x3c00u : 0u) | (z > x ? 0x3c000000u : 0u));
    is("set.leu", (!(x > y) ? 0xffffu : 0u) | (!(z > x) ? 0xffff0000u : 0u));
    is("setp", (x < y ? 1u : 0u) | (z < x ? 2u : 0u));
    const float a = float(x), b = float(y), c = a * 1.0009766f, d = b * 3.0f;
    is("cvt.relu", rounded(relu(c), false));
    is("cvt.satfinite",
       std::isnan(d) ? 0x7fff : std::fabs(d) > 65504 ? (d < 0 ? 0xfbff : 0x7bff) : rounded(d, false));
    is("cvt.f16x2", rounded(c, false) << 16 | rounded(d, false));
    is("cvt.relu.bf16x2", rounded(relu(c), true) << 16 | rounded(relu(d), true));
    is("cvt.rz.bf16", rounded(c, true, true));
    std::uint32_t bits;
    std::memcpy(&bits, &c, 4);
    const std::uint32_t size = bits & 0x7fffffff, kept = (size >> 13) + (size >> 12 & 1);
    is("cvt.rna.tf32", std::isnan(c) ? 0x7fffffff : (bits & 0x80000000) | kept << 13);
    same("ex2", t, isClose(o[n++], std::exp2(x), false), true);
    same("tanh", t, isClose(o[n++], std::tanh(x), false), true);
    same("tanh.bf16", t, isClose(o[n++], std::tanh(u), true), true);
    const float p = a * 0x1p-126f, q = b * 0x1p-110f;
    auto flat = [](float f) { return std::fabs(f) < 0x1p-126f ? std::copysign(0.0f, f) : f; };
    const float sum = flat(flat(p) + flat(q));
    float got;
    std::memcpy(&got, &o[n++], 4);
    if (std::isnan(sum))
      same("add.ftz", t, std::isnan(got), true);
    else
      same("add.ftz", t, std::signbit(got) == std::signbit(sum) && got == sum, true);
  }
  return finish();
}
