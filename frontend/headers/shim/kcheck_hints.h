// Loads and stores with cache hints, which clang's CUDA headers leave out: plain accesses as far as meaning goes.
// Those that pass by the cache of the multiprocessor are volatile for single words: flags between blocks are polled and
// set with them.
#pragma once
#pragma GCC system_header

#define __KC_HINT static __inline__ __attribute__((device, always_inline))
#define __KC_HINTED(type, single)                                                                                      \
  __KC_HINT type __ldcg(const type* p) { return *(const single type*)p; }                                              \
  __KC_HINT type __ldca(const type* p) { return *p; }                                                                  \
  __KC_HINT type __ldcs(const type* p) { return *p; }                                                                  \
  __KC_HINT type __ldlu(const type* p) { return *p; }                                                                  \
  __KC_HINT void __stwb(type* p, type v) { *p = v; }                                                                   \
  __KC_HINT void __stcg(type* p, type v) { *(single type*)p = v; }                                                     \
  __KC_HINT void __stcs(type* p, type v) { *p = v; }                                                                   \
  __KC_HINT void __stwt(type* p, type v) { *(single type*)p = v; }
__KC_HINTED(char, volatile)
__KC_HINTED(signed char, volatile)
__KC_HINTED(short, volatile)
__KC_HINTED(int, volatile)
__KC_HINTED(long, volatile)
__KC_HINTED(long long, volatile)
__KC_HINTED(unsigned char, volatile)
__KC_HINTED(unsigned short, volatile)
__KC_HINTED(unsigned int, volatile)
__KC_HINTED(unsigned long, volatile)
__KC_HINTED(unsigned long long, volatile)
__KC_HINTED(float, volatile)
__KC_HINTED(double, volatile)
__KC_HINTED(char2, )
__KC_HINTED(char4, )
__KC_HINTED(short2, )
__KC_HINTED(short4, )
__KC_HINTED(int2, )
__KC_HINTED(int4, )
__KC_HINTED(longlong2, )
__KC_HINTED(uchar2, )
__KC_HINTED(uchar4, )
__KC_HINTED(ushort2, )
__KC_HINTED(ushort4, )
__KC_HINTED(uint2, )
__KC_HINTED(uint4, )
__KC_HINTED(ulonglong2, )
__KC_HINTED(float2, )
__KC_HINTED(float4, )
__KC_HINTED(double2, )

// "Do not cache, fetch again": volatile.
#define __KC_VOLATILE(type)                                                                                            \
  __KC_HINT type __ldcv(const type* p) { return *(const volatile type*)p; }
__KC_VOLATILE(char)
__KC_VOLATILE(signed char)
__KC_VOLATILE(short)
__KC_VOLATILE(int)
__KC_VOLATILE(long)
__KC_VOLATILE(long long)
__KC_VOLATILE(unsigned char)
__KC_VOLATILE(unsigned short)
__KC_VOLATILE(unsigned int)
__KC_VOLATILE(unsigned long)
__KC_VOLATILE(unsigned long long)
__KC_VOLATILE(float)
__KC_VOLATILE(double)
#undef __KC_HINT
#undef __KC_HINTED
#undef __KC_VOLATILE
