// Half precision: __half and __half2 with arithmetic, comparisons, conversions and atomics. On the compiler's own
// 16-bit floating point type.
#pragma once
#pragma GCC system_header

#include "cuda_runtime.h"

#define __KC_FN static __inline__ __host__ __device__ __attribute__((always_inline))
#define __KC_DEV static __inline__ __device__ __attribute__((always_inline))

struct __half_raw {
  unsigned short x;
};

struct __half {
  _Float16 value;
  __half() = default;
  __host__ __device__ __half(float f) : value(_Float16(f)) {}
  __host__ __device__ __half(double f) : value(_Float16(f)) {}
  __host__ __device__ __half(int i) : value(_Float16(i)) {}
  __host__ __device__ __half(unsigned int i) : value(_Float16(i)) {}
  __host__ __device__ __half(long long i) : value(_Float16(i)) {}
  __host__ __device__ __half(_Float16 v) : value(v) {}
  __host__ __device__ __half(__half_raw r) : value(__builtin_bit_cast(_Float16, r.x)) {}
  __host__ __device__ operator float() const { return float(value); }
  __host__ __device__ operator __half_raw() const { return {__builtin_bit_cast(unsigned short, value)}; }
};
typedef __half half;

struct __align__(4) __half2 {
  __half x, y;
  __half2() = default;
  __host__ __device__ __half2(__half a, __half b) : x(a), y(b) {}
};
typedef __half2 half2;

#define __KC_OPERATOR(op, name)                                                                                        \
  __KC_FN __half operator op(__half a, __half b) { return __half(_Float16(a.value op b.value)); }                      \
  __KC_FN __half& operator op##=(__half& a, __half b) { return a = a op b; }                                           \
  __KC_FN __half2 operator op(__half2 a, __half2 b) { return __half2(a.x op b.x, a.y op b.y); }                        \
  __KC_FN __half2& operator op##=(__half2& a, __half2 b) { return a = a op b; }                                        \
  __KC_FN __half name(__half a, __half b) { return a op b; }                                                           \
  __KC_FN __half2 name##2(__half2 a, __half2 b) { return a op b; }
__KC_OPERATOR(+, __hadd)
__KC_OPERATOR(-, __hsub)
__KC_OPERATOR(*, __hmul)
__KC_OPERATOR(/, __hdiv)
#undef __KC_OPERATOR
__KC_FN __half operator-(__half a) { return __half(_Float16(-a.value)); }
__KC_FN __half2 operator-(__half2 a) { return __half2(-a.x, -a.y); }
__KC_FN __half2 __h2div(__half2 a, __half2 b) { return a / b; }

#define __KC_COMPARE(op, name)                                                                                         \
  __KC_FN bool operator op(__half a, __half b) { return a.value op b.value; }                                          \
  __KC_FN bool name(__half a, __half b) { return a.value op b.value; }                                                 \
  __KC_FN __half2 name##2(__half2 a, __half2 b) { return __half2(__half(float(a.x op b.x)), __half(float(a.y op b.y))); }
__KC_COMPARE(==, __heq)
__KC_COMPARE(!=, __hne)
__KC_COMPARE(<, __hlt)
__KC_COMPARE(<=, __hle)
__KC_COMPARE(>, __hgt)
__KC_COMPARE(>=, __hge)
#undef __KC_COMPARE

__KC_FN __half __float2half(float f) { return __half(f); }
__KC_FN __half __float2half_rn(float f) { return __half(f); }
__KC_FN __half __double2half(double f) { return __half(f); }
__KC_FN __half __int2half_rn(int i) { return __half(i); }
__KC_FN __half __uint2half_rn(unsigned int i) { return __half(i); }
__KC_FN float __half2float(__half h) { return float(h.value); }
__KC_FN int __half2int_rz(__half h) { return int(float(h.value)); }
__KC_FN int __half2int_rn(__half h) { return int(__builtin_rintf(float(h.value))); }
__KC_FN unsigned short __half_as_ushort(__half h) { return __builtin_bit_cast(unsigned short, h.value); }
__KC_FN short __half_as_short(__half h) { return __builtin_bit_cast(short, h.value); }
__KC_FN __half __ushort_as_half(unsigned short s) { return __half(__builtin_bit_cast(_Float16, s)); }
__KC_FN __half __short_as_half(short s) { return __half(__builtin_bit_cast(_Float16, s)); }
__KC_FN __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
__KC_FN __half2 make_half2(__half a, __half b) { return __half2(a, b); }
__KC_FN __half2 __half2half2(__half a) { return __half2(a, a); }
__KC_FN __half2 __float2half2_rn(float f) { return __half2(__half(f), __half(f)); }
__KC_FN __half2 __floats2half2_rn(float a, float b) { return __half2(__half(a), __half(b)); }
__KC_FN __half2 __float22half2_rn(float2 f) { return __half2(__half(f.x), __half(f.y)); }
__KC_FN float2 __half22float2(__half2 h) { return make_float2(float(h.x), float(h.y)); }
__KC_FN __half __low2half(__half2 h) { return h.x; }
__KC_FN __half __high2half(__half2 h) { return h.y; }
__KC_FN float __low2float(__half2 h) { return float(h.x); }
__KC_FN float __high2float(__half2 h) { return float(h.y); }
__KC_FN __half2 __low2half2(__half2 h) { return __half2(h.x, h.x); }
__KC_FN __half2 __high2half2(__half2 h) { return __half2(h.y, h.y); }
__KC_FN __half2 __lowhigh2highlow(__half2 h) { return __half2(h.y, h.x); }

__KC_FN __half __hfma(__half a, __half b, __half c) { return __half(_Float16(float(a) * float(b) + float(c))); }
__KC_FN __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
  return __half2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}
__KC_FN __half __hneg(__half a) { return -a; }
__KC_FN __half2 __hneg2(__half2 a) { return -a; }
__KC_FN __half __habs(__half a) { return __ushort_as_half(__half_as_ushort(a) & 0x7fff); }
__KC_FN __half __hmax(__half a, __half b) { return a > b || b != b ? a : b; }
__KC_FN __half __hmin(__half a, __half b) { return a < b || b != b ? a : b; }
__KC_FN __half2 __hmax2(__half2 a, __half2 b) { return __half2(__hmax(a.x, b.x), __hmax(a.y, b.y)); }
__KC_FN __half2 __hmin2(__half2 a, __half2 b) { return __half2(__hmin(a.x, b.x), __hmin(a.y, b.y)); }
__KC_FN bool __hisnan(__half a) { return a != a; }
__KC_FN bool __hisinf(__half a) { return (__half_as_ushort(a) & 0x7fff) == 0x7c00; }

#define __KC_MATH(name, function)                                                                                      \
  __KC_DEV __half h##name(__half a) { return __half(function(float(a))); }                                             \
  __KC_DEV __half2 h2##name(__half2 a) { return __half2(h##name(a.x), h##name(a.y)); }
__KC_MATH(sqrt, sqrtf)
__KC_MATH(rsqrt, rsqrtf)
__KC_MATH(exp, expf)
__KC_MATH(exp2, exp2f)
__KC_MATH(log, logf)
__KC_MATH(log2, log2f)
__KC_MATH(sin, sinf)
__KC_MATH(cos, cosf)
__KC_MATH(floor, floorf)
__KC_MATH(ceil, ceilf)
#undef __KC_MATH
__KC_DEV __half hrcp(__half a) { return __half(1.0f / float(a)); }

#define __KC_SHUFFLE(name, third)                                                                                      \
  __KC_DEV __half name(unsigned int mask, __half v, third t, int width = 32) {                                         \
    return __ushort_as_half((unsigned short)name(mask, (unsigned int)__half_as_ushort(v), t, width));                  \
  }                                                                                                                    \
  __KC_DEV __half2 name(unsigned int mask, __half2 v, third t, int width = 32) {                                       \
    return __builtin_bit_cast(__half2, name(mask, __builtin_bit_cast(unsigned int, v), t, width));                     \
  }
__KC_SHUFFLE(__shfl_sync, int)
__KC_SHUFFLE(__shfl_up_sync, unsigned int)
__KC_SHUFFLE(__shfl_down_sync, unsigned int)
__KC_SHUFFLE(__shfl_xor_sync, int)
#undef __KC_SHUFFLE

__KC_DEV __half __ldg(const __half* p) { return __ushort_as_half(__ldg((const unsigned short*)p)); }
__KC_DEV __half2 __ldg(const __half2* p) { return __builtin_bit_cast(__half2, __ldg((const unsigned int*)p)); }

__KC_DEV __half atomicAdd(__half* address, __half v) {
  unsigned short old, add = __half_as_ushort(v);
  asm volatile("atom.add.noftz.f16 %0,[%1],%2;" : "=h"(old) : "l"(address), "h"(add) : "memory");
  return __ushort_as_half(old);
}
__KC_DEV __half2 atomicAdd(__half2* address, __half2 v) {
  unsigned int old, add = __builtin_bit_cast(unsigned int, v);
  asm volatile("atom.add.noftz.f16x2 %0,[%1],%2;" : "=r"(old) : "l"(address), "r"(add) : "memory");
  return __builtin_bit_cast(__half2, old);
}

#undef __KC_FN
#undef __KC_DEV
