// Warp matches and 16-bit atomics, which clang's CUDA headers expect from a toolkit.
#pragma once

#include "../host_defines.h"

#define __KC_MATCH(type, bits, as)                                                                                     \
  static __inline__ __device__ unsigned int __match_any_sync(unsigned mask, type value) {                              \
    return (unsigned int)__nvvm_match_any_sync_i##bits(mask, (as)value);                                               \
  }                                                                                                                    \
  static __inline__ __device__ unsigned int __match_all_sync(unsigned mask, type value, int* pred) {                   \
    return (unsigned int)__nvvm_match_all_sync_i##bits##p(mask, (as)value, pred);                                      \
  }
__KC_MATCH(unsigned, 32, unsigned)
__KC_MATCH(int, 32, unsigned)
__KC_MATCH(unsigned long, 64, unsigned long long)
__KC_MATCH(long, 64, unsigned long long)
__KC_MATCH(unsigned long long, 64, unsigned long long)
__KC_MATCH(long long, 64, unsigned long long)
static __inline__ __device__ unsigned int __match_any_sync(unsigned mask, float value) {
  return __match_any_sync(mask, __nv_float_as_uint(value));
}
static __inline__ __device__ unsigned int __match_all_sync(unsigned mask, float value, int* pred) {
  return __match_all_sync(mask, __nv_float_as_uint(value), pred);
}
static __inline__ __device__ unsigned int __match_any_sync(unsigned mask, double value) {
  return __match_any_sync(mask, (unsigned long long)__nv_double_as_longlong(value));
}
static __inline__ __device__ unsigned int __match_all_sync(unsigned mask, double value, int* pred) {
  return __match_all_sync(mask, (unsigned long long)__nv_double_as_longlong(value), pred);
}
static __inline__ __device__ void __nanosleep(unsigned int ns) { asm volatile("nanosleep.u32 %0;" ::"r"(ns)); }
