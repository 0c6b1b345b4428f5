// make_int4 and its relatives.
#pragma once

#include "vector_types.h"

#define __KCHECK_MAKE(type, name)                                                                                      \
  static __inline__ __host__ __device__ name##1 make_##name##1(type x) { return name##1{x}; }                          \
  static __inline__ __host__ __device__ name##2 make_##name##2(type x, type y) { return name##2{x, y}; }               \
  static __inline__ __host__ __device__ name##3 make_##name##3(type x, type y, type z) { return name##3{x, y, z}; }    \
  static __inline__ __host__ __device__ name##4 make_##name##4(type x, type y, type z, type w) {                       \
    return name##4{x, y, z, w};                                                                                        \
  }

__KCHECK_MAKE(signed char, char)
__KCHECK_MAKE(unsigned char, uchar)
__KCHECK_MAKE(short, short)
__KCHECK_MAKE(unsigned short, ushort)
__KCHECK_MAKE(int, int)
__KCHECK_MAKE(unsigned int, uint)
__KCHECK_MAKE(long, long)
__KCHECK_MAKE(unsigned long, ulong)
__KCHECK_MAKE(long long, longlong)
__KCHECK_MAKE(unsigned long long, ulonglong)
__KCHECK_MAKE(float, float)
__KCHECK_MAKE(double, double)
#undef __KCHECK_MAKE
