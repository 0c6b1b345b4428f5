// Conversions between number types as the device defines them: in four rounding directions, out-of-range
// values saturated, NaNs turned into fixed values; reinterpretation of bits; half precision.
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>

namespace {

enum class Direction { Nearest, Zero, Up, Down };

template <class Float> Float toWhole(Float x, Direction direction) {
  switch (direction) {
  case Direction::Nearest: return std::nearbyint(x);
  case Direction::Zero: return std::trunc(x);
  case Direction::Up: return std::ceil(x);
  case Direction::Down: return std::floor(x);
  }
  return x;
}

/// A NaN becomes 0 from float to 32 bits, and the top bit alone otherwise (as PTX defines cvt).
template <class Integer, class Float> Integer toInteger(Float x, Direction direction) {
  constexpr bool small = sizeof(Float) == 4 && sizeof(Integer) == 4;
  if (std::isnan(x)) return small ? 0 : Integer(std::uint64_t{1} << (8 * sizeof(Integer) - 1));
  Float whole = toWhole(x, direction);
  // The limits as floats: -2^k is exact, and 2^k is the first value above the range.
  const Float above = std::ldexp(Float(1), std::numeric_limits<Integer>::digits);
  const Float lowest = std::is_signed_v<Integer> ? -above : Float(0);
  if (whole >= above) return std::numeric_limits<Integer>::max();
  if (whole <= lowest) return std::numeric_limits<Integer>::min();
  return static_cast<Integer>(whole);
}

/// The float next to `nearest` in the direction, when `nearest` is on the wrong side of the exact value.
template <class Float> Float corrected(Float nearest, int order, bool negative, Direction direction) {
  // order: sign of (nearest - exact)
  constexpr Float infinity = std::numeric_limits<Float>::infinity();
  if (direction == Direction::Zero) direction = negative ? Direction::Up : Direction::Down;
  if (direction == Direction::Up && order < 0) return std::nextafter(nearest, infinity);
  if (direction == Direction::Down && order > 0) return std::nextafter(nearest, -infinity);
  return nearest;
}

template <class Float, class Integer> Float fromInteger(Integer x, Direction direction) {
  Float nearest = static_cast<Float>(x);
  if (direction == Direction::Nearest) return nearest;
  // 64-bit integers are exact in extended precision, and so are the candidates.
  long double exact = static_cast<long double>(x), got = nearest;
  return corrected(nearest, got < exact ? -1 : got > exact, exact < 0, direction);
}

float narrowed(double x, Direction direction) {
  float nearest = static_cast<float>(x);
  if (direction == Direction::Nearest || std::isnan(x)) return nearest;
  double got = nearest;
  return corrected(nearest, got < x ? -1 : got > x, x < 0, direction);
}

std::uint16_t toHalf(float x) {
  std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  std::uint16_t sign = std::uint16_t(bits >> 16 & 0x8000);
  std::uint32_t size = bits & 0x7fffffff;
  if (size > 0x7f800000) return 0x7fff; // NaN
  if (size >= 0x477ff000) return sign | 0x7c00;
  // Rounded to a multiple of the half's unit in the last place, to even.
  if (size < 0x38800000) // below 2^-14: units of 2^-24
    return sign | std::uint16_t(std::nearbyint(std::ldexp(std::fabs(x), 24)));
  std::uint32_t rounded = size + 0xfff + (size >> 13 & 1);
  return sign | std::uint16_t((rounded - 0x38000000) >> 13);
}

float fromHalf(std::uint16_t half) {
  float sign = half & 0x8000 ? -1.0f : 1.0f;
  int exponent = half >> 10 & 31, fraction = half & 0x3ff;
  if (exponent == 31)
    return fraction ? std::numeric_limits<float>::quiet_NaN() : sign * std::numeric_limits<float>::infinity();
  if (exponent == 0) return sign * std::ldexp(float(fraction), -24);
  return sign * std::ldexp(float(fraction + 1024), exponent - 25);
}

} // namespace

#define KC_DIRECTION(suffix, direction)                                                                      \
  extern "C" int __nv_double2int_##suffix(double x) { return toInteger<int>(x, direction); }                 \
  extern "C" unsigned __nv_double2uint_##suffix(double x) { return toInteger<unsigned>(x, direction); }      \
  extern "C" long long __nv_double2ll_##suffix(double x) { return toInteger<long long>(x, direction); }      \
  extern "C" unsigned long long __nv_double2ull_##suffix(double x) {                                         \
    return toInteger<unsigned long long>(x, direction);                                                      \
  }                                                                                                          \
  extern "C" int __nv_float2int_##suffix(float x) { return toInteger<int>(x, direction); }                   \
  extern "C" unsigned __nv_float2uint_##suffix(float x) { return toInteger<unsigned>(x, direction); }        \
  extern "C" long long __nv_float2ll_##suffix(float x) { return toInteger<long long>(x, direction); }        \
  extern "C" unsigned long long __nv_float2ull_##suffix(float x) {                                           \
    return toInteger<unsigned long long>(x, direction);                                                      \
  }                                                                                                          \
  extern "C" float __nv_int2float_##suffix(int x) { return fromInteger<float>(x, direction); }               \
  extern "C" float __nv_uint2float_##suffix(unsigned x) { return fromInteger<float>(x, direction); }         \
  extern "C" float __nv_ll2float_##suffix(long long x) { return fromInteger<float>(x, direction); }          \
  extern "C" float __nv_ull2float_##suffix(unsigned long long x) {                                           \
    return fromInteger<float>(x, direction);                                                                 \
  }                                                                                                          \
  extern "C" double __nv_ll2double_##suffix(long long x) { return fromInteger<double>(x, direction); }       \
  extern "C" double __nv_ull2double_##suffix(unsigned long long x) {                                         \
    return fromInteger<double>(x, direction);                                                                \
  }                                                                                                          \
  extern "C" float __nv_double2float_##suffix(double x) { return narrowed(x, direction); }
KC_DIRECTION(rn, Direction::Nearest)
KC_DIRECTION(rz, Direction::Zero)
KC_DIRECTION(ru, Direction::Up)
KC_DIRECTION(rd, Direction::Down)
#undef KC_DIRECTION

extern "C" {

double __nv_int2double_rn(int x) { return x; }
double __nv_uint2double_rn(unsigned x) { return x; }

long long __nv_llrint(double x) { return toInteger<long long>(x, Direction::Nearest); }
long long __nv_llrintf(float x) { return toInteger<long long>(x, Direction::Nearest); }
long long __nv_llround(double x) { return toInteger<long long>(std::round(x), Direction::Zero); }
long long __nv_llroundf(float x) { return toInteger<long long>(std::round(x), Direction::Zero); }

int __nv_double2hiint(double x) { return int(std::bit_cast<std::uint64_t>(x) >> 32); }
int __nv_double2loint(double x) { return int(std::bit_cast<std::uint64_t>(x)); }
double __nv_hiloint2double(int high, int low) {
  return std::bit_cast<double>(std::uint64_t(std::uint32_t(high)) << 32 | std::uint32_t(low));
}
unsigned long long __nv_double_as_longlong(double x) { return std::bit_cast<std::uint64_t>(x); }
double __nv_longlong_as_double(long long x) { return std::bit_cast<double>(x); }
int __nv_float_as_int(float x) { return std::bit_cast<int>(x); }
unsigned __nv_float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
float __nv_int_as_float(int x) { return std::bit_cast<float>(x); }
float __nv_uint_as_float(unsigned x) { return std::bit_cast<float>(x); }

unsigned short __nv_float2half_rn(float x) { return toHalf(x); }
float __nv_half2float(unsigned x) { return fromHalf(std::uint16_t(x)); }

} // extern "C"

/// What LLVM's code for sums of bfloat16 calls to round to nearest, and older compilers do not bring: the
/// result's bits are the low ones of the register, as that type is passed.
extern "C" __attribute__((weak)) float __truncsfbf2(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return std::bit_cast<float>(value == value ? rounded : std::uint32_t{0x7fff});
}
