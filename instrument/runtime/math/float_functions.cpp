// The single-precision functions of device code, the fast approximations among them: computed in double and
// rounded once where the C library's float version is not at least as good.
#include "instrument/runtime/math/define.h"
#include "instrument/runtime/math/special.h"

#include <cmath>
#include <limits>

using namespace kcheck::runtime::math;

namespace {

float larger(float x, float y) {
  if (std::isnan(x)) return y;
  if (std::isnan(y)) return x;
  if (x == y) return std::signbit(x) ? y : x;
  return x > y ? x : y;
}
float smaller(float x, float y) {
  if (std::isnan(x)) return y;
  if (std::isnan(y)) return x;
  if (x == y) return std::signbit(x) ? x : y;
  return x < y ? x : y;
}

/// Sum of the squares, or infinity as soon as one is infinite.
double squares(int count, const float* values) {
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    if (std::isinf(values[i])) return std::numeric_limits<double>::infinity(); // even beside a NaN
    sum += double(values[i]) * values[i];
  }
  return sum;
}

} // namespace

KC_MATH1(float, fabsf, std::fabs(x))
KC_MATH1(float, ceilf, std::ceil(x))
KC_MATH1(float, floorf, std::floor(x))
KC_MATH1(float, truncf, std::trunc(x))
KC_MATH1(float, roundf, std::round(x))
KC_MATH1(float, rintf, std::nearbyint(x))
KC_MATH1(float, nearbyintf, std::nearbyint(x))
KC_MATH1(float, sqrtf, std::sqrt(x))
KC_MATH1(float, rsqrtf, float(1 / std::sqrt(double(x))))
KC_MATH1(float, cbrtf, float(std::cbrt(double(x))))
KC_MATH1(float, rcbrtf, float(1 / std::cbrt(double(x))))
KC_MATH1(float, expf, std::exp(x))
KC_MATH1(float, exp2f, std::exp2(x))
KC_MATH1(float, exp10f, float(::exp10(double(x))))
KC_MATH1(float, expm1f, float(std::expm1(double(x))))
KC_MATH1(float, logf, std::log(x))
KC_MATH1(float, log2f, std::log2(x))
KC_MATH1(float, log10f, float(std::log10(double(x))))
KC_MATH1(float, log1pf, float(std::log1p(double(x))))
KC_MATH1(float, logbf, std::logb(x))
KC_MATH1(float, sinf, std::sin(x))
KC_MATH1(float, cosf, std::cos(x))
KC_MATH1(float, tanf, float(std::tan(double(x))))
KC_MATH1(float, asinf, float(std::asin(double(x))))
KC_MATH1(float, acosf, float(std::acos(double(x))))
KC_MATH1(float, atanf, float(std::atan(double(x))))
KC_MATH1(float, sinhf, float(std::sinh(double(x))))
KC_MATH1(float, coshf, float(std::cosh(double(x))))
KC_MATH1(float, tanhf, float(std::tanh(double(x))))
KC_MATH1(float, asinhf, float(std::asinh(double(x))))
KC_MATH1(float, acoshf, float(std::acosh(double(x))))
KC_MATH1(float, atanhf, float(std::atanh(double(x))))
KC_MATH1(float, sinpif, float(sinPi(x)))
KC_MATH1(float, cospif, float(cosPi(x)))
KC_MATH1(float, erff, float(std::erf(double(x))))
KC_MATH1(float, erfcf, float(std::erfc(double(x))))
KC_MATH1(float, erfinvf, float(erfInverse(x)))
KC_MATH1(float, erfcinvf, float(erfcInverse(x)))
KC_MATH1(float, erfcxf, float(scaledErfc(x)))
KC_MATH1(float, normcdff, float(normalCdf(x)))
KC_MATH1(float, normcdfinvf, float(normalCdfInverse(x)))
KC_MATH1(float, tgammaf, float(std::tgamma(double(x))))
KC_MATH1(float, lgammaf, float(logGamma(x)))
KC_MATH1(float, j0f, float(::j0(x)))
KC_MATH1(float, j1f, float(::j1(x)))
KC_MATH1(float, y0f, float(::y0(x)))
KC_MATH1(float, y1f, float(::y1(x)))
KC_MATH1(float, cyl_bessel_i0f, float(besselI(0, x)))
KC_MATH1(float, cyl_bessel_i1f, float(besselI(1, x)))
KC_MATH1(float, saturatef, x >= 1 ? 1.0f : (x > 0 ? x : 0.0f)) // a NaN becomes 0

// Approximations on the device; exact to the last place here.
KC_MATH1(float, fast_sinf, float(std::sin(double(x))))
KC_MATH1(float, fast_cosf, float(std::cos(double(x))))
KC_MATH1(float, fast_tanf, float(std::tan(double(x))))
KC_MATH1(float, fast_expf, std::exp(x))
KC_MATH1(float, fast_exp10f, float(::exp10(double(x))))
KC_MATH1(float, fast_logf, std::log(x))
KC_MATH1(float, fast_log2f, std::log2(x))
KC_MATH1(float, fast_log10f, float(std::log10(double(x))))
// 0 for divisors from 2^126 on, as the guide has it.
KC_MATH2(float, fast_fdividef, std::fabs(y) > 0x1p126f && !std::isinf(y) ? (x - x) * y : x / y)
// exp2(y * log2(x)): a negative base gives a NaN, as on the device.
KC_MATH2(float, fast_powf, float(std::exp2(y* std::log2(double(x)))))

KC_MATH2(float, atan2f, float(std::atan2(double(x), double(y))))
KC_MATH2(float, powf, std::pow(x, y))
KC_MATH2(float, hypotf, float(std::hypot(double(x), double(y))))
KC_MATH2(float, rhypotf, float(1 / std::hypot(double(x), double(y))))
KC_MATH2(float, fmodf, std::fmod(x, y))
KC_MATH2(float, remainderf, std::remainder(x, y))
KC_MATH2(float, fmaxf, larger(x, y))
KC_MATH2(float, fminf, smaller(x, y))
KC_MATH2(float, fdimf, std::fdim(x, y))
KC_MATH2(float, copysignf, std::copysign(x, y))
KC_MATH2(float, nextafterf, std::nextafter(x, y))
KC_MATH3(float, fmaf, std::fma(x, y, z))

extern "C" {

float __nv_norm3df(float x, float y, float z) {
  const float values[] = {x, y, z};
  return float(std::sqrt(squares(3, values)));
}
float __nv_norm4df(float x, float y, float z, float w) {
  const float values[] = {x, y, z, w};
  return float(std::sqrt(squares(4, values)));
}
float __nv_rnorm3df(float x, float y, float z) {
  const float values[] = {x, y, z};
  return float(1 / std::sqrt(squares(3, values)));
}
float __nv_rnorm4df(float x, float y, float z, float w) {
  const float values[] = {x, y, z, w};
  return float(1 / std::sqrt(squares(4, values)));
}
float __nv_normf(int count, const float* values) { return float(std::sqrt(squares(count, values))); }
float __nv_rnormf(int count, const float* values) { return float(1 / std::sqrt(squares(count, values))); }

float __nv_jnf(int order, float x) {
  return order < 0 ? std::numeric_limits<float>::quiet_NaN() : float(::jn(order, double(x)));
}
float __nv_ynf(int order, float x) {
  return order < 0 ? std::numeric_limits<float>::quiet_NaN() : float(::yn(order, double(x)));
}
float __nv_ldexpf(float x, int exponent) { return std::ldexp(x, exponent); }
float __nv_scalbnf(float x, int exponent) { return std::scalbn(x, exponent); }
float __nv_powif(float x, int exponent) { return float(std::pow(double(x), double(exponent))); }
float __nv_frexpf(float x, int* exponent) {
  *exponent = 0; // what CUDA stores for infinities and NaNs
  return std::isfinite(x) ? std::frexp(x, exponent) : x;
}
float __nv_modff(float x, float* whole) { return std::modf(x, whole); }
float __nv_remquof(float x, float y, int* quotient) { return std::remquo(x, y, quotient); }
void __nv_sincosf(float x, float* sine, float* cosine) {
  *sine = std::sin(x);
  *cosine = std::cos(x);
}
void __nv_fast_sincosf(float x, float* sine, float* cosine) {
  *sine = float(std::sin(double(x)));
  *cosine = float(std::cos(double(x)));
}
void __nv_sincospif(float x, float* sine, float* cosine) {
  *sine = float(sinPi(x));
  *cosine = float(cosPi(x));
}
float __nv_nanf(const signed char*) { return std::numeric_limits<float>::quiet_NaN(); }
int __nv_ilogbf(float x) { return std::ilogb(x); }
int __nv_finitef(float x) { return std::isfinite(x); }
int __nv_isinff(float x) { return std::isinf(x); }
int __nv_isnanf(float x) { return std::isnan(x); }
int __nv_signbitf(float x) { return std::signbit(x); }

} // extern "C"
