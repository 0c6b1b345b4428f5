// Loads and stores with cache hints, which clang's CUDA headers leave out. PTX has them as weak accesses, whatever the
// caches: nothing but their speed differs from `*p`, and loops that poll a word by one of them are removed by ptxas.
#pragma once
#pragma GCC system_header

#define __KC_HINT static __inline__ __attribute__((device, always_inline))
#define __KC_HINTED(type)                                                                                              \
  __KC_HINT type __ldcg(const type* p) { return *p; }                                                                  \
  __KC_HINT type __ldca(const type* p) { return *p; }                                                                  \
  __KC_HINT type __ldcs(const type* p) { return *p; }                                                                  \
  __KC_HINT type __ldlu(const type* p) { return *p; }                                                                  \
  __KC_HINT type __ldcv(const type* p) { return *p; }                                                                  \
  __KC_HINT void __stwb(type* p, type v) { *p = v; }                                                                   \
  __KC_HINT void __stcg(type* p, type v) { *p = v; }                                                                   \
  __KC_HINT void __stcs(type* p, type v) { *p = v; }                                                                   \
  __KC_HINT void __stwt(type* p, type v) { *p = v; }
__KC_HINTED(char)
__KC_HINTED(signed char)
__KC_HINTED(short)
__KC_HINTED(int)
__KC_HINTED(long)
__KC_HINTED(long long)
__KC_HINTED(unsigned char)
__KC_HINTED(unsigned short)
__KC_HINTED(unsigned int)
__KC_HINTED(unsigned long)
__KC_HINTED(unsigned long long)
__KC_HINTED(float)
__KC_HINTED(double)
__KC_HINTED(char2)
__KC_HINTED(char4)
__KC_HINTED(short2)
__KC_HINTED(short4)
__KC_HINTED(int2)
__KC_HINTED(int4)
__KC_HINTED(longlong2)
__KC_HINTED(uchar2)
__KC_HINTED(uchar4)
__KC_HINTED(ushort2)
__KC_HINTED(ushort4)
__KC_HINTED(uint2)
__KC_HINTED(uint4)
__KC_HINTED(ulonglong2)
__KC_HINTED(float2)
__KC_HINTED(float4)
__KC_HINTED(double2)
#undef __KC_HINT
#undef __KC_HINTED
