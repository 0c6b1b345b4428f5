// Special functions by series, symmetry and Newton iterations in extended precision.
#include "instrument/runtime/math/special.h"

#include <cmath>
#include <limits>

namespace kcheck::runtime::math {
namespace {

constexpr Extended kPi = 3.14159265358979323846264338327950288L;
constexpr Extended kSqrtPi = 1.77245385090551602729816748334114518L;
constexpr Extended kSqrt2 = 1.41421356237309504880168872420969808L;
constexpr Extended kInfinity = std::numeric_limits<Extended>::infinity();
constexpr Extended kNan = std::numeric_limits<Extended>::quiet_NaN();
constexpr Extended kTiny = std::numeric_limits<Extended>::epsilon() / 4;

/// Inverse of erf on [-1/2, 1/2] by Halley's method.
Extended centralErfInverse(Extended x) {
  if (x == 0) return x;
  Extended y = x * kSqrtPi / 2;
  for (int i = 0; i < 8; ++i) {
    Extended u = (std::erf(y) - x) / (2 / kSqrtPi * std::exp(-y * y));
    Extended step = u / (1 + y * u);
    y -= step;
    if (std::fabs(step) <= kTiny * std::fabs(y)) break;
  }
  return y;
}

/// Inverse of erfc on (0, 1/2] by Newton's method on the logarithm, which is nearly a parabola there.
Extended tailErfcInverse(Extended p) {
  Extended target = std::log(p);
  Extended y = std::sqrt(-target);
  for (int i = 0; i < 40; ++i) {
    // log erfc(y) and its derivative, through the scaled function so that nothing underflows.
    Extended scaled = scaledErfc(y);
    Extended step = (std::log(scaled) - y * y - target) / (-2 / kSqrtPi / scaled);
    y -= step;
    if (std::fabs(step) <= kTiny * std::fabs(y)) break;
  }
  return y;
}

/// sqrt(pi) * x * exp(x*x) * erfc(x) for large x.
Extended asymptoticErfc(Extended x) {
  Extended sum = 1, term = 1;
  for (int k = 1; k < 60; ++k) {
    Extended next = -term * Extended(2 * k - 1) / (2 * x * x);
    if (std::fabs(next) >= std::fabs(term) || std::fabs(next) < kTiny) break;
    sum += term = next;
  }
  return sum;
}

} // namespace

Extended sinPi(Extended x) {
  if (!std::isfinite(x)) return kNan;
  Extended r = std::remainder(x, 2.0L); // in [-1, 1], exact
  if (r == 0 || std::fabs(r) == 1) return std::copysign(0.0L, x);
  if (std::fabs(r) > 0.5L) r = std::copysign(1 - std::fabs(r), r);
  if (std::fabs(r) <= 0.25L) return std::sin(kPi * r);
  return std::copysign(std::cos(kPi * (0.5L - std::fabs(r))), r);
}

Extended cosPi(Extended x) {
  if (!std::isfinite(x)) return kNan;
  Extended r = std::fabs(std::remainder(x, 2.0L));
  Extended sign = 1;
  if (r > 0.5L) sign = -1, r = 1 - r;
  if (r == 0.5L) return 0;
  return sign * (r <= 0.25L ? std::cos(kPi * r) : std::sin(kPi * (0.5L - r)));
}

Extended scaledErfc(Extended x) {
  if (x >= 10) return std::isinf(x) ? 0 : asymptoticErfc(x) / (kSqrtPi * x);
  return std::exp(x * x) * std::erfc(x);
}

Extended erfcInverse(Extended x) {
  if (!(x >= 0 && x <= 2)) return kNan;
  if (x == 0) return kInfinity;
  if (x == 2) return -kInfinity;
  if (x < 0.5L) return tailErfcInverse(x);
  if (x > 1.5L) return -tailErfcInverse(2 - x);
  return centralErfInverse(1 - x);
}

Extended erfInverse(Extended x) {
  if (!(x >= -1 && x <= 1)) return kNan;
  if (std::fabs(x) == 1) return x * kInfinity;
  if (std::fabs(x) <= 0.5L) return centralErfInverse(x);
  return std::copysign(tailErfcInverse(1 - std::fabs(x)), x);
}

Extended normalCdf(Extended x) { return std::erfc(-x / kSqrt2) / 2; }

Extended normalCdfInverse(Extended p) { return -kSqrt2 * erfcInverse(2 * p); }

Extended besselI(int order, Extended x) {
  Extended size = std::fabs(x), result;
  if (std::isinf(size)) {
    result = size;
  } else if (size <= 30) { // all terms of the power series are positive
    Extended quarter = size * size / 4, term = order == 0 ? 1 : size / 2;
    result = term;
    for (int k = 1; term > result * kTiny && k < 500; ++k)
      result += term *= quarter / (Extended(k) * (k + order));
  } else {
    Extended sum = 1, term = 1, mu = 4 * order * order;
    for (int k = 1; k < 60 && std::fabs(term) > kTiny; ++k) {
      Extended odd = 2 * k - 1;
      sum += term *= -(mu - odd * odd) / (8 * size * k);
    }
    result = std::exp(size) / std::sqrt(2 * kPi * size) * sum;
  }
  return order == 1 ? std::copysign(result, x) : result;
}

double logGamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

} // namespace kcheck::runtime::math
