// The math library of device code: values against 400-bit references, rounding directions against exact
// arithmetic, conversions, integers, SIMD words; and that no function of clang's libdevice declarations is
// missing.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <regex>
#include <set>

extern "C" {
#define KC_REFERENCE1(type, name, x, result, ulps) type __nv_##name(type);
#define KC_REFERENCE2(type, name, x, y, result, ulps) type __nv_##name(type, type);
#define KC_REFERENCE3(type, name, x, y, z, result, ulps) type __nv_##name(type, type, type);
#include "math_reference.def"
#undef KC_REFERENCE1
#undef KC_REFERENCE2
#undef KC_REFERENCE3

#define KC_DIRECTION(suffix)                                                                                 \
  double __nv_dadd_##suffix(double, double);                                                                 \
  double __nv_dmul_##suffix(double, double);                                                                 \
  double __nv_ddiv_##suffix(double, double);                                                                 \
  double __nv_dsqrt_##suffix(double);                                                                        \
  double __nv_fma_##suffix(double, double, double);                                                          \
  float __nv_fadd_##suffix(float, float);                                                                    \
  float __nv_fmul_##suffix(float, float);                                                                    \
  float __nv_fdiv_##suffix(float, float);                                                                    \
  float __nv_frcp_##suffix(float);                                                                           \
  float __nv_fsqrt_##suffix(float);                                                                          \
  int __nv_double2int_##suffix(double);                                                                      \
  unsigned __nv_float2uint_##suffix(float);                                                                  \
  long long __nv_double2ll_##suffix(double);                                                                 \
  unsigned long long __nv_float2ull_##suffix(float);                                                         \
  float __nv_int2float_##suffix(int);                                                                        \
  float __nv_ull2float_##suffix(unsigned long long);                                                         \
  double __nv_ll2double_##suffix(long long);                                                                 \
  float __nv_double2float_##suffix(double);
KC_DIRECTION(rn)
KC_DIRECTION(rz)
KC_DIRECTION(ru)
KC_DIRECTION(rd)
#undef KC_DIRECTION

float __nv_fmaxf(float, float);
float __nv_fminf(float, float);
float __nv_saturatef(float);
float __nv_fast_powf(float, float);
double __nv_frexp(double, int*);
void __nv_sincospi(double, double*, double*);
unsigned short __nv_float2half_rn(float);
float __nv_half2float(unsigned short);
int __nv_mulhi(int, int);
unsigned __nv_umulhi(unsigned, unsigned);
long long __nv_mul64hi(long long, long long);
int __nv_mul24(int, int);
int __nv_hadd(int, int);
int __nv_rhadd(int, int);
int __nv_sad(int, int, int);
int __nv_byte_perm(int, int, int);
int __nv_brev(int);
int __nv_clz(int);
int __nv_ffs(int);
int __nv_ffsll(long long);
int __nv_popcll(unsigned long long);
int __nv_abs(int);
int __nv_vadd4(int, int);
int __nv_vaddss4(int, int);
int __nv_vaddus2(int, int);
int __nv_vsubus4(int, int);
int __nv_vcmpgts4(int, int);
int __nv_vsetltu2(int, int);
int __nv_vsadu4(int, int);
int __nv_vabsss4(int);
int __nv_vavgs4(int, int);
}

namespace {

/// Distance in units of the last place of the type that holds `got`.
template <class Float> double ulps(Float got, long double wanted) {
  if (std::isnan(wanted)) return std::isnan(got) ? 0 : INFINITY;
  if (std::isinf(wanted) || std::isinf(got)) return (long double)(got) == wanted ? 0 : INFINITY;
  int exponent = std::max(std::ilogb(wanted), std::numeric_limits<Float>::min_exponent - 1);
  return double(std::fabs(got - wanted) /
                std::ldexp(1.0L, exponent - (std::numeric_limits<Float>::digits - 1)));
}

TEST(Math, ValuesAreWithinWhatCudaDocuments) {
  // The references are rounded to double, which adds half a unit to comparisons of doubles.
#define KC_REFERENCE1(type, name, x, result, limit)                                                          \
  EXPECT_LE(ulps(__nv_##name(x), result), limit + (sizeof(type) == 8 ? 0.5 : 0.01))                          \
      << #name << "(" << x << ")";
#define KC_REFERENCE2(type, name, x, y, result, limit)                                                       \
  EXPECT_LE(ulps(__nv_##name(x, y), result), limit + (sizeof(type) == 8 ? 0.5 : 0.01))                       \
      << #name << "(" << x << ", " << y << ")";
#define KC_REFERENCE3(type, name, x, y, z, result, limit)                                                    \
  EXPECT_LE(ulps(__nv_##name(x, y, z), result), limit + (sizeof(type) == 8 ? 0.5 : 0.01)) << #name;
#include "math_reference.def"
}

TEST(Math, SpecialValues) {
  const float inf = INFINITY, nan = NAN;
  EXPECT_EQ(__nv_fmaxf(nan, 1), 1);
  EXPECT_EQ(__nv_fminf(1, nan), 1);
  EXPECT_FALSE(std::signbit(__nv_fmaxf(-0.0f, 0.0f)));
  EXPECT_TRUE(std::signbit(__nv_fminf(0.0f, -0.0f)));
  EXPECT_EQ(__nv_saturatef(nan), 0);
  EXPECT_EQ(__nv_saturatef(-inf), 0);
  EXPECT_EQ(__nv_saturatef(7), 1);
  EXPECT_TRUE(std::isnan(__nv_fast_powf(-2, 2))) << "the device computes exp2(y * log2(x))";
  EXPECT_EQ(__nv_sinpi(3.0), 0);
  EXPECT_EQ(__nv_cospi(2.5), 0);
  EXPECT_EQ(__nv_erfinv(1.0), inf);
  EXPECT_TRUE(std::isnan(__nv_erfinv(1.5)));
  EXPECT_EQ(__nv_erfcinv(2.0), -inf);
  EXPECT_EQ(__nv_normcdfinv(0.5), 0);
  EXPECT_EQ(__nv_norm3d(inf, NAN, 1), inf);
  EXPECT_EQ(__nv_rnorm3d(inf, NAN, 1), 0);
  EXPECT_EQ(__nv_norm3d(1e200, 1e200, 0), std::hypot(1e200, 1e200)) << "squares must not overflow";
  int exponent = 7;
  EXPECT_EQ(__nv_frexp(inf, &exponent), inf);
  EXPECT_EQ(exponent, 0);
  double sine, cosine;
  __nv_sincospi(0.5, &sine, &cosine);
  EXPECT_EQ(sine, 1);
  EXPECT_EQ(cosine, 0);
}

/// rd <= exact <= ru with nothing between, rz on the side of zero, rn one of the two.
template <class Float> void expectDirections(Float rn, Float rz, Float ru, Float rd, long double exact) {
  EXPECT_LE((long double)(rd), exact);
  EXPECT_GE((long double)(ru), exact);
  if (rd == ru)
    EXPECT_EQ((long double)(rd), exact);
  else
    EXPECT_EQ(std::nextafter(rd, Float(INFINITY)), ru);
  EXPECT_EQ(rz, exact < 0 ? ru : rd);
  EXPECT_TRUE(rn == rd || rn == ru);
  EXPECT_LE(std::fabs(rn - exact), std::fabs(rd - exact));
  EXPECT_LE(std::fabs(rn - exact), std::fabs(ru - exact));
}

#define DIRECTIONS(function, exact, ...)                                                                     \
  expectDirections(__nv_##function##_rn(__VA_ARGS__), __nv_##function##_rz(__VA_ARGS__),                     \
                   __nv_##function##_ru(__VA_ARGS__), __nv_##function##_rd(__VA_ARGS__), exact)

TEST(MathRounding, FloatOperations) {
  const float values[] = {1.1f, -3.3f, 1e-3f, 16777217.0f, 0.7f};
  for (float x : values)
    for (float y : values) {
      DIRECTIONS(fadd, (long double)(x) + y, x, y);
      DIRECTIONS(fmul, (long double)(x)*y, x, y);
      DIRECTIONS(fdiv, (long double)(x) / y, x, y);
    }
  DIRECTIONS(frcp, 1 / 3.0L, 3.0f);
  DIRECTIONS(fsqrt, std::sqrt(2.0L), 2.0f);
}

TEST(MathRounding, DoubleOperations) {
  DIRECTIONS(dadd, 1 + 0x1p-60L, 1.0, 0x1p-60);
  DIRECTIONS(dadd, -1 - 0x1p-60L, -1.0, -0x1p-60);
  DIRECTIONS(dmul, (1 + 0x1p-31L) * (1 + 0x1p-31L), 1 + 0x1p-31, 1 + 0x1p-31);
  DIRECTIONS(ddiv, 1 / 3.0L, 1.0, 3.0);
  DIRECTIONS(dsqrt, std::sqrt(2.0L), 2.0);
  DIRECTIONS(fma, 1 + 0x1p-31L + 0x1p-61L, 1 + 0x1p-31, 1.0, 0x1p-61);
  DIRECTIONS(dadd, 3.0L, 1.0, 2.0);
}

TEST(MathRounding, NarrowingAndIntegers) {
  DIRECTIONS(double2float, 0.1, 0.1);
  DIRECTIONS(double2float, -0.1, -0.1);
  DIRECTIONS(int2float, 16777217.0L, 16777217);
  DIRECTIONS(int2float, -2147483647.0L, -2147483647);
  DIRECTIONS(ull2float, 18446744073709551615.0L, ~0ull);
  DIRECTIONS(ll2double, 9007199254740993.0L, 9007199254740993ll);
  DIRECTIONS(ull2float, 0.0L, 0ull);
  EXPECT_FALSE(std::signbit(__nv_ull2float_rd(0)));
  EXPECT_EQ(__nv_double2float_rz(1e300), std::numeric_limits<float>::max());
  EXPECT_EQ(__nv_double2float_ru(1e300), INFINITY);
}

TEST(MathConversion, DirectionsSaturationAndNan) {
  EXPECT_EQ(__nv_double2int_rn(2.5), 2);
  EXPECT_EQ(__nv_double2int_rn(3.5), 4);
  EXPECT_EQ(__nv_double2int_rz(-2.7), -2);
  EXPECT_EQ(__nv_double2int_ru(2.1), 3);
  EXPECT_EQ(__nv_double2int_rd(-2.1), -3);
  EXPECT_EQ(__nv_double2int_rz(1e10), 2147483647);
  EXPECT_EQ(__nv_double2int_rz(-1e10), -2147483647 - 1);
  EXPECT_EQ(__nv_double2int_rz(NAN), -2147483647 - 1);
  EXPECT_EQ(__nv_float2uint_rz(NAN), 0u);
  EXPECT_EQ(__nv_float2uint_rz(-3.0f), 0u);
  EXPECT_EQ(__nv_float2uint_rz(1e20f), ~0u);
  EXPECT_EQ(__nv_double2ll_rn(1e300), std::numeric_limits<long long>::max());
  EXPECT_EQ(__nv_float2ull_rz(1e30f), ~0ull);
  EXPECT_EQ(__nv_float2ull_rd(1.9f), 1ull);
}

TEST(MathConversion, HalfPrecision) {
  const std::pair<float, int> known[] = {{1.0f, 0x3c00},      {-2.0f, 0xc000},      {65504.0f, 0x7bff},
                                         {65520.0f, 0x7c00},  {65519.0f, 0x7bff},   {0x1p-24f, 0x0001},
                                         {0x1p-25f, 0x0000},  {0x1.8p-25f, 0x0001}, {0x1p-14f, 0x0400},
                                         {0.333333f, 0x3555}, {-0.0f, 0x8000}};
  for (auto [value, half] : known) EXPECT_EQ(__nv_float2half_rn(value), half) << value;
  EXPECT_EQ(__nv_float2half_rn(1.0f + 0x1p-11f), 0x3c00) << "a tie goes to even";
  EXPECT_EQ(__nv_float2half_rn(1.0f + 0x1.8p-10f), 0x3c02) << "a tie goes to even";
  for (unsigned half = 0; half < 0x7c00; ++half) // there and back for every finite value
    ASSERT_EQ(__nv_float2half_rn(__nv_half2float(static_cast<unsigned short>(half))), half);
  EXPECT_TRUE(std::isnan(__nv_half2float(0x7e00)));
  EXPECT_EQ(__nv_half2float(0xfc00), -INFINITY);
}

TEST(MathInteger, PartsOfProductsAndBits) {
  EXPECT_EQ(__nv_mulhi(-1, 2), -1);
  EXPECT_EQ(__nv_umulhi(0xffffffffu, 2), 1u);
  EXPECT_EQ(__nv_mul64hi(-1, 2), -1);
  EXPECT_EQ(__nv_mul24(0x1000003, 5), 15);
  EXPECT_EQ(__nv_mul24(0xffffff, 7), -7);
  EXPECT_EQ(__nv_hadd(2147483647, 2147483645), 2147483646);
  EXPECT_EQ(__nv_hadd(-3, 0), -2);
  EXPECT_EQ(__nv_rhadd(-3, 0), -1);
  EXPECT_EQ(__nv_sad(-2, 3, 10), 15);
  EXPECT_EQ(unsigned(__nv_byte_perm(0x03020100, 0x07060504, 0x7531)), 0x07050301u);
  EXPECT_EQ(unsigned(__nv_byte_perm(0x80, 0, 0x8)), 0x80808080u) << "three bits of each selector count";
  EXPECT_EQ(__nv_brev(1), std::numeric_limits<int>::min());
  EXPECT_EQ(__nv_clz(0), 32);
  EXPECT_EQ(__nv_clz(1), 31);
  EXPECT_EQ(__nv_ffs(0), 0);
  EXPECT_EQ(__nv_ffs(8), 4);
  EXPECT_EQ(__nv_ffsll(1ll << 40), 41);
  EXPECT_EQ(__nv_popcll(~0ull), 64);
  EXPECT_EQ(__nv_abs(std::numeric_limits<int>::min()), std::numeric_limits<int>::min());
}

TEST(MathSimd, LanesAreIndependent) {
  EXPECT_EQ(unsigned(__nv_vadd4(0x01ff0201, 0x01010101)), 0x02000302u);
  EXPECT_EQ(unsigned(__nv_vaddss4(0x7f800001, 0x01ff0001)), 0x7f800002u);
  EXPECT_EQ(unsigned(__nv_vaddus2(int(0xffff0001), 0x00010001)), 0xffff0002u);
  EXPECT_EQ(unsigned(__nv_vsubus4(0x01000305, 0x02000101)), 0x00000204u);
  EXPECT_EQ(unsigned(__nv_vcmpgts4(0x01ff0000, 0x00000001)), 0xff000000u);
  EXPECT_EQ(unsigned(__nv_vsetltu2(0x00010005, int(0xffff0003))), 0x00010000u);
  EXPECT_EQ(__nv_vsadu4(0x01020304, 0x04030201), 8);
  EXPECT_EQ(unsigned(__nv_vabsss4(int(0x80ff7f01))), 0x7f017f01u);
  EXPECT_EQ(unsigned(__nv_vavgs4(0x01fd0000, 0x02fe0000)), 0x02fd0000u) << "halves round away from zero";
}

/// Names of functions that a library defines, as nm lists them.
std::set<std::string> definedNames(const std::string& library, const std::string& prefix) {
  std::set<std::string> names;
  FILE* pipe = popen(("nm -g --defined-only '" + library + "' 2>/dev/null").c_str(), "r");
  if (!pipe) return names;
  char line[4096];
  while (std::fgets(line, sizeof line, pipe)) {
    std::string text = line;
    std::size_t at = text.find(" T " + prefix);
    if (at != std::string::npos) names.insert(text.substr(at + 3, text.size() - at - 4));
  }
  pclose(pipe);
  return names;
}

TEST(Math, EveryLibdeviceFunctionIsThere) {
  std::ifstream header(KCHECK_LIBDEVICE_HEADER);
  if (!header) GTEST_SKIP() << "no clang headers to compare with";
  std::set<std::string> defined = definedNames(KCHECK_RUNTIME_LIBRARY, "__nv_");
  ASSERT_GT(defined.size(), 400u);
  std::regex name(R"(__nv_\w+)");
  for (std::string line; std::getline(header, line);)
    for (std::sregex_iterator it(line.begin(), line.end(), name), end; it != end; ++it)
      EXPECT_TRUE(defined.contains(it->str())) << it->str();
}

} // namespace
