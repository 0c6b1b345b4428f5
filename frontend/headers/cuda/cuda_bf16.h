// bfloat16: the upper half of a float. Arithmetic is done in float and rounded to nearest even.
#pragma once
#pragma GCC system_header

#include "cuda_runtime.h"

#define __KC_FN static __inline__ __host__ __device__ __attribute__((always_inline))

struct __nv_bfloat16 {
  unsigned short bits;
  __nv_bfloat16() = default;
  __host__ __device__ __nv_bfloat16(float f) {
    const unsigned int u = __builtin_bit_cast(unsigned int, f);
    bits = (u & 0x7fffffff) > 0x7f800000 ? 0x7fff : (unsigned short)((u + 0x7fff + (u >> 16 & 1)) >> 16);
  }
  __host__ __device__ __nv_bfloat16(double f) : __nv_bfloat16(float(f)) {}
  __host__ __device__ __nv_bfloat16(int i) : __nv_bfloat16(float(i)) {}
  __host__ __device__ operator float() const { return __builtin_bit_cast(float, (unsigned int)bits << 16); }
};
typedef __nv_bfloat16 nv_bfloat16;
struct __align__(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
};
typedef __nv_bfloat162 nv_bfloat162;

__KC_FN __nv_bfloat16 __float2bfloat16(float f) { return __nv_bfloat16(f); }
__KC_FN __nv_bfloat16 __float2bfloat16_rn(float f) { return __nv_bfloat16(f); }
__KC_FN __nv_bfloat16 __double2bfloat16(double f) { return __nv_bfloat16(f); }
__KC_FN float __bfloat162float(__nv_bfloat16 b) { return float(b); }
__KC_FN __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return {__nv_bfloat16(a), __nv_bfloat16(b)}; }
__KC_FN float2 __bfloat1622float2(__nv_bfloat162 b) { return make_float2(float(b.x), float(b.y)); }

#define __KC_OPERATOR(op, name)                                                                                        \
  __KC_FN __nv_bfloat16 operator op(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16(float(a) op float(b)); }  \
  __KC_FN __nv_bfloat16& operator op##=(__nv_bfloat16& a, __nv_bfloat16 b) { return a = a op b; }                      \
  __KC_FN __nv_bfloat16 name(__nv_bfloat16 a, __nv_bfloat16 b) { return a op b; }                                      \
  __KC_FN __nv_bfloat162 name##2(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.x op b.x, a.y op b.y}; }
__KC_OPERATOR(+, __hadd)
__KC_OPERATOR(-, __hsub)
__KC_OPERATOR(*, __hmul)
__KC_OPERATOR(/, __hdiv)
#undef __KC_OPERATOR
#define __KC_COMPARE(op, name)                                                                                         \
  __KC_FN bool operator op(__nv_bfloat16 a, __nv_bfloat16 b) { return float(a) op float(b); }                          \
  __KC_FN bool name(__nv_bfloat16 a, __nv_bfloat16 b) { return float(a) op float(b); }
__KC_COMPARE(==, __heq)
__KC_COMPARE(!=, __hne)
__KC_COMPARE(<, __hlt)
__KC_COMPARE(<=, __hle)
__KC_COMPARE(>, __hgt)
__KC_COMPARE(>=, __hge)
#undef __KC_COMPARE
__KC_FN __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
  return __nv_bfloat16(float(a) * float(b) + float(c));
}
static __inline__ __device__ __nv_bfloat16 atomicAdd(__nv_bfloat16* address, __nv_bfloat16 v) {
  unsigned short *word = (unsigned short*)address, old = *word, assumed;
  do {
    assumed = old;
    old = atomicCAS(word, assumed, (__builtin_bit_cast(__nv_bfloat16, assumed) + v).bits);
  } while (assumed != old);
  return __builtin_bit_cast(__nv_bfloat16, old);
}
#undef __KC_FN
