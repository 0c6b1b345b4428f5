// Floats of eight bits in inline PTX, against a search for the nearest on the host.
#include "check.h"

__global__ void widen(unsigned* out) {
  const unsigned t = threadIdx.x;
  unsigned r;
  asm("{ cvt.rn.f16x2.e4m3x2 %0, %1; }" : "=r"(r) : "h"((unsigned short)(t << 8 | (255 - t))));
  out[4 * t] = r;
  asm("{ cvt.rn.f16x2.e5m2x2 %0, %1; }" : "=r"(r) : "h"((unsigned short)(t << 8 | (255 - t))));
  out[4 * t + 1] = r;
  asm("{ cvt.rn.relu.f16x2.e4m3x2 %0, %1; }" : "=r"(r) : "h"((unsigned short)(t << 8 | (255 - t))));
  out[4 * t + 2] = r;
}

__global__ void narrow(const float* in, unsigned* out) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned short r;
  const float a = in[2 * t], b = in[2 * t + 1];
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(r) : "f"(a), "f"(b));
  out[4 * t] = r;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(r) : "f"(a), "f"(b));
  out[4 * t + 1] = r;
  asm("cvt.rn.satfinite.relu.e4m3x2.f32 %0, %1, %2;" : "=h"(r) : "f"(a), "f"(b));
  out[4 * t + 2] = r;
  asm("{ .reg .b32 h; cvt.rn.f16x2.f32 h, %1, %2; cvt.rn.satfinite.e5m2x2.f16x2 %0, h; }" : "=h"(r) : "f"(1.5f * (t + 1)), "f"(-0.25f));
  out[4 * t + 3] = r;
}

double valueOf(unsigned bits, int mantissa) {
  const int bias = mantissa == 3 ? 7 : 15, exponent = int(bits & 127) >> mantissa, fraction = bits & ((1 << mantissa) - 1);
  double v = exponent ? std::ldexp(fraction + (1 << mantissa), exponent - bias - mantissa)
                      : std::ldexp(fraction, 1 - bias - mantissa);
  if (mantissa == 3 ? (bits & 127) == 127 : exponent == 31) v = mantissa == 2 && fraction == 0 ? INFINITY : NAN;
  return bits & 128 ? -v : v;
}
double halfOf(unsigned bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double v = exponent == 31 ? (fraction ? NAN : INFINITY)
             : exponent     ? std::ldexp(fraction + 1024, exponent - 25)
                            : std::ldexp(fraction, -24);
  return bits & 0x8000 ? -v : v;
}
unsigned nearest(double v, int mantissa) {
  if (std::isnan(v)) return 0x7f;
  unsigned best = 0;
  for (unsigned bits = 0; bits < (mantissa == 3 ? 0x7f : 0x7c); ++bits) {
    const double now = std::fabs(valueOf(bits, mantissa) - std::fabs(v)), before = std::fabs(valueOf(best, mantissa) - std::fabs(v));
    if (now < before || (now == before && bits % 2 == 0)) best = bits;
  }
  if (std::isinf(v)) best = mantissa == 3 ? 0x7e : 0x7b;
  return best | (std::signbit(v) ? 128 : 0);
}
void sameNumber(const char* what, int i, unsigned half, double expected) {
  const double got = halfOf(half & 0xffff);
  if (std::isnan(expected))
    same(what, i, std::isnan(got), true);
  else
    same(what, i, got, expected);
}

int main() {
  Buffer<unsigned> wide(4 * 256);
  widen<<<1, 256>>>(wide.data);
  const int count = 1024;
  Buffer<float> in(2 * count);
  for (int i = 0; i < 2 * count; ++i) in[i] = std::ldexp(1.0f + (i * 37 % 128) / 128.0f, i % 47 - 24) * (i % 3 ? 1 : -1);
  in[0] = 0, in[1] = -0.0f, in[2] = NAN, in[3] = INFINITY, in[4] = -INFINITY, in[5] = 464, in[6] = 465, in[7] = 61440;
  Buffer<unsigned> out(4 * count);
  narrow<<<count / 256, 256>>>(in.data, out.data);
  cudaDeviceSynchronize();
  for (unsigned t = 0; t < 256; ++t) {
    const unsigned low = 255 - t;
    sameNumber("e4m3 low", t, wide[4 * t], valueOf(low, 3));
    sameNumber("e4m3 high", t, wide[4 * t] >> 16, valueOf(t, 3));
    sameNumber("e5m2 low", t, wide[4 * t + 1], valueOf(low, 2));
    sameNumber("e5m2 high", t, wide[4 * t + 1] >> 16, valueOf(t, 2));
    const double high = valueOf(t, 3);
    sameNumber("relu", t, wide[4 * t + 2] >> 16, high < 0 ? 0 : high);
  }
  for (int i = 0; i < count; ++i) {
    const double a = in[2 * i], b = in[2 * i + 1];
    same("e4m3", i, out[4 * i], nearest(a, 3) << 8 | nearest(b, 3));
    same("e5m2", i, out[4 * i + 1], nearest(a, 2) << 8 | nearest(b, 2));
    auto relu = [](double v) { return v <= 0 ? 0 : v; };
    same("narrow relu", i, out[4 * i + 2], nearest(relu(a), 3) << 8 | nearest(relu(b), 3));
    same("from halves", i, out[4 * i + 3], nearest(1.5 * (i + 1), 2) << 8 | nearest(-0.25, 2));
  }
  return finish();
}
