// The double-precision functions of device code. CUDA documents an error of at most 2 units in the last place
// for most of them; the C library and extended precision do better.
#include "instrument/runtime/math/define.h"
#include "instrument/runtime/math/special.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

using namespace kcheck::runtime::math;

namespace {

/// Neither operand a NaN: the larger one, where +0 is larger than -0.
double larger(double x, double y) {
  if (std::isnan(x)) return y;
  if (std::isnan(y)) return x;
  if (x == y) return std::signbit(x) ? y : x;
  return x > y ? x : y;
}
double smaller(double x, double y) {
  if (std::isnan(x)) return y;
  if (std::isnan(y)) return x;
  if (x == y) return std::signbit(x) ? x : y;
  return x < y ? x : y;
}

/// Length of a vector. An infinite component makes it infinite, even beside a NaN.
double length(int count, const double* values) {
  Extended sum = 0;
  bool infinite = false;
  for (int i = 0; i < count; ++i) {
    infinite = infinite || std::isinf(values[i]);
    sum += Extended(values[i]) * values[i];
  }
  return infinite ? std::numeric_limits<double>::infinity() : double(std::sqrt(sum));
}
double inverseLength(int count, const double* values) {
  Extended sum = 0;
  bool infinite = false;
  for (int i = 0; i < count; ++i) {
    infinite = infinite || std::isinf(values[i]);
    sum += Extended(values[i]) * values[i];
  }
  return infinite ? 0.0 : double(1 / std::sqrt(sum));
}

} // namespace

KC_MATH1(double, fabs, std::fabs(x))
KC_MATH1(double, ceil, std::ceil(x))
KC_MATH1(double, floor, std::floor(x))
KC_MATH1(double, trunc, std::trunc(x))
KC_MATH1(double, round, std::round(x))
KC_MATH1(double, rint, std::nearbyint(x))
KC_MATH1(double, nearbyint, std::nearbyint(x))
KC_MATH1(double, sqrt, std::sqrt(x))
KC_MATH1(double, rsqrt, double(1 / std::sqrt(Extended(x))))
KC_MATH1(double, cbrt, double(std::cbrt(Extended(x))))
KC_MATH1(double, rcbrt, double(1 / std::cbrt(Extended(x))))
KC_MATH1(double, exp, std::exp(x))
KC_MATH1(double, exp2, std::exp2(x))
KC_MATH1(double, exp10, ::exp10(x))
KC_MATH1(double, expm1, std::expm1(x))
KC_MATH1(double, log, std::log(x))
KC_MATH1(double, log2, std::log2(x))
KC_MATH1(double, log10, std::log10(x))
KC_MATH1(double, log1p, std::log1p(x))
KC_MATH1(double, logb, std::logb(x))
KC_MATH1(double, sin, std::sin(x))
KC_MATH1(double, cos, std::cos(x))
KC_MATH1(double, tan, std::tan(x))
KC_MATH1(double, asin, std::asin(x))
KC_MATH1(double, acos, std::acos(x))
KC_MATH1(double, atan, std::atan(x))
KC_MATH1(double, sinh, std::sinh(x))
KC_MATH1(double, cosh, std::cosh(x))
KC_MATH1(double, tanh, std::tanh(x))
KC_MATH1(double, asinh, std::asinh(x))
KC_MATH1(double, acosh, std::acosh(x))
KC_MATH1(double, atanh, std::atanh(x))
KC_MATH1(double, sinpi, double(sinPi(x)))
KC_MATH1(double, cospi, double(cosPi(x)))
KC_MATH1(double, erf, std::erf(x))
KC_MATH1(double, erfc, std::erfc(x))
KC_MATH1(double, erfinv, double(erfInverse(x)))
KC_MATH1(double, erfcinv, double(erfcInverse(x)))
KC_MATH1(double, erfcx, double(scaledErfc(x)))
KC_MATH1(double, normcdf, double(normalCdf(x)))
KC_MATH1(double, normcdfinv, double(normalCdfInverse(x)))
KC_MATH1(double, tgamma, double(std::tgamma(Extended(x))))
KC_MATH1(double, lgamma, logGamma(x))
KC_MATH1(double, j0, ::j0(x))
KC_MATH1(double, j1, ::j1(x))
KC_MATH1(double, y0, ::y0(x))
KC_MATH1(double, y1, ::y1(x))
KC_MATH1(double, cyl_bessel_i0, double(besselI(0, x)))
KC_MATH1(double, cyl_bessel_i1, double(besselI(1, x)))

KC_MATH2(double, atan2, std::atan2(x, y))
KC_MATH2(double, pow, std::pow(x, y))
KC_MATH2(double, hypot, std::hypot(x, y))
KC_MATH2(double, rhypot, double(1 / std::hypot(Extended(x), Extended(y))))
KC_MATH2(double, fmod, std::fmod(x, y))
KC_MATH2(double, remainder, std::remainder(x, y))
KC_MATH2(double, fmax, larger(x, y))
KC_MATH2(double, fmin, smaller(x, y))
KC_MATH2(double, fdim, std::fdim(x, y))
KC_MATH2(double, copysign, std::copysign(x, y))
KC_MATH2(double, nextafter, std::nextafter(x, y))
KC_MATH3(double, fma, std::fma(x, y, z))

extern "C" {

double __nv_norm3d(double x, double y, double z) {
  const double values[] = {x, y, z};
  return length(3, values);
}
double __nv_norm4d(double x, double y, double z, double w) {
  const double values[] = {x, y, z, w};
  return length(4, values);
}
double __nv_rnorm3d(double x, double y, double z) {
  const double values[] = {x, y, z};
  return inverseLength(3, values);
}
double __nv_rnorm4d(double x, double y, double z, double w) {
  const double values[] = {x, y, z, w};
  return inverseLength(4, values);
}
double __nv_norm(int count, const double* values) { return length(count, values); }
double __nv_rnorm(int count, const double* values) { return inverseLength(count, values); }

double __nv_jn(int order, double x) {
  return order < 0 ? std::numeric_limits<double>::quiet_NaN() : ::jn(order, x);
}
double __nv_yn(int order, double x) {
  return order < 0 ? std::numeric_limits<double>::quiet_NaN() : ::yn(order, x);
}
double __nv_ldexp(double x, int exponent) { return std::ldexp(x, exponent); }
double __nv_scalbn(double x, int exponent) { return std::scalbn(x, exponent); }
double __nv_powi(double x, int exponent) { return std::pow(x, double(exponent)); }
double __nv_frexp(double x, int* exponent) {
  *exponent = 0; // what CUDA stores for infinities and NaNs
  return std::isfinite(x) ? std::frexp(x, exponent) : x;
}
double __nv_modf(double x, double* whole) { return std::modf(x, whole); }
double __nv_remquo(double x, double y, int* quotient) { return std::remquo(x, y, quotient); }
void __nv_sincos(double x, double* sine, double* cosine) {
  *sine = std::sin(x);
  *cosine = std::cos(x);
}
void __nv_sincospi(double x, double* sine, double* cosine) {
  *sine = double(sinPi(x));
  *cosine = double(cosPi(x));
}
double __nv_nan(const signed char*) { return std::numeric_limits<double>::quiet_NaN(); }
int __nv_ilogb(double x) { return std::ilogb(x); }
int __nv_isfinited(double x) { return std::isfinite(x); }
int __nv_isinfd(double x) { return std::isinf(x); }
int __nv_isnand(double x) { return std::isnan(x); }
int __nv_signbitd(double x) { return std::signbit(x); }
/// An approximate reciprocal whose low word is zero.
double __nv_rcp64h(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(1 / x) & 0xffffffff00000000ull);
}

} // extern "C"
