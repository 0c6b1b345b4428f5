// Device functions that overload by type on top of clang's own CUDA headers, which have the intrinsics.
#pragma once

#define __KC_DEVICE static __inline__ __device__ __attribute__((always_inline))

// Atomics, in the scopes of CUDA: device, _block, _system.
#define __KC_ATOMIC(name, type, intrinsic)                                                                             \
  __KC_DEVICE type name(type* address, type val) { return intrinsic(address, val); }                                   \
  __KC_DEVICE type name##_block(type* address, type val) { return intrinsic##_block(address, val); }                   \
  __KC_DEVICE type name##_system(type* address, type val) { return intrinsic##_system(address, val); }
#define __KC_ATOMIC_AS(name, type, as, intrinsic)                                                                      \
  __KC_DEVICE type name(type* address, type val) { return (type)intrinsic((as*)address, (as)val); }                    \
  __KC_DEVICE type name##_block(type* address, type val) { return (type)intrinsic##_block((as*)address, (as)val); }    \
  __KC_DEVICE type name##_system(type* address, type val) { return (type)intrinsic##_system((as*)address, (as)val); }

__KC_ATOMIC(atomicAdd, int, __iAtomicAdd)
__KC_ATOMIC(atomicAdd, unsigned int, __uAtomicAdd)
__KC_ATOMIC(atomicAdd, unsigned long long, __ullAtomicAdd)
__KC_ATOMIC(atomicAdd, float, __fAtomicAdd)
__KC_ATOMIC(atomicAdd, double, __dAtomicAdd)
__KC_ATOMIC(atomicExch, int, __iAtomicExch)
__KC_ATOMIC(atomicExch, unsigned int, __uAtomicExch)
__KC_ATOMIC(atomicExch, unsigned long long, __ullAtomicExch)
__KC_ATOMIC(atomicExch, float, __fAtomicExch)
__KC_ATOMIC(atomicMin, int, __iAtomicMin)
__KC_ATOMIC(atomicMin, unsigned int, __uAtomicMin)
__KC_ATOMIC(atomicMin, unsigned long long, __ullAtomicMin)
__KC_ATOMIC(atomicMin, long long, __illAtomicMin)
__KC_ATOMIC(atomicMax, int, __iAtomicMax)
__KC_ATOMIC(atomicMax, unsigned int, __uAtomicMax)
__KC_ATOMIC(atomicMax, unsigned long long, __ullAtomicMax)
__KC_ATOMIC(atomicMax, long long, __illAtomicMax)
__KC_ATOMIC(atomicAnd, int, __iAtomicAnd)
__KC_ATOMIC(atomicAnd, unsigned int, __uAtomicAnd)
__KC_ATOMIC(atomicAnd, unsigned long long, __ullAtomicAnd)
__KC_ATOMIC(atomicOr, int, __iAtomicOr)
__KC_ATOMIC(atomicOr, unsigned int, __uAtomicOr)
__KC_ATOMIC(atomicOr, unsigned long long, __ullAtomicOr)
__KC_ATOMIC(atomicXor, int, __iAtomicXor)
__KC_ATOMIC(atomicXor, unsigned int, __uAtomicXor)
__KC_ATOMIC(atomicXor, unsigned long long, __ullAtomicXor)
__KC_ATOMIC(atomicInc, unsigned int, __uAtomicInc)
__KC_ATOMIC(atomicDec, unsigned int, __uAtomicDec)

#define __KC_SUBTRACT(type, intrinsic)                                                                                 \
  __KC_DEVICE type atomicSub(type* address, type val) { return intrinsic(address, (type)(0 - val)); }                  \
  __KC_DEVICE type atomicSub_block(type* address, type val) { return intrinsic##_block(address, (type)(0 - val)); }    \
  __KC_DEVICE type atomicSub_system(type* address, type val) { return intrinsic##_system(address, (type)(0 - val)); }
__KC_SUBTRACT(int, __iAtomicAdd)
__KC_SUBTRACT(unsigned int, __uAtomicAdd)

#define __KC_COMPARE(type, intrinsic)                                                                                  \
  __KC_DEVICE type atomicCAS(type* address, type compare, type val) { return intrinsic(address, compare, val); }       \
  __KC_DEVICE type atomicCAS_block(type* address, type compare, type val) {                                            \
    return intrinsic##_block(address, compare, val);                                                                   \
  }                                                                                                                    \
  __KC_DEVICE type atomicCAS_system(type* address, type compare, type val) {                                           \
    return intrinsic##_system(address, compare, val);                                                                  \
  }
__KC_COMPARE(int, __iAtomicCAS)
__KC_COMPARE(unsigned int, __uAtomicCAS)
__KC_COMPARE(unsigned long long, __ullAtomicCAS)
extern "C" __attribute__((device)) unsigned short __usAtomicCAS(unsigned short*, unsigned short, unsigned short);
__KC_DEVICE unsigned short atomicCAS(unsigned short* address, unsigned short compare, unsigned short val) {
  return __usAtomicCAS(address, compare, val);
}

// Addresses within one space as numbers; clang's headers define the _impl functions further down.
typedef unsigned int cuuint32_t;
typedef unsigned long long cuuint64_t;
#define __KC_ADDRESS_SPACE(space)                                                                                      \
  extern "C" __device__ size_t __nv_cvta_generic_to_##space##_impl(const void*);                                       \
  extern "C" __device__ void* __nv_cvta_##space##_to_generic_impl(size_t);                                             \
  __KC_DEVICE size_t __cvta_generic_to_##space(const void* p) { return __nv_cvta_generic_to_##space##_impl(p); }       \
  __KC_DEVICE void* __cvta_##space##_to_generic(size_t p) { return __nv_cvta_##space##_to_generic_impl(p); }
__KC_ADDRESS_SPACE(global)
__KC_ADDRESS_SPACE(shared)
__KC_ADDRESS_SPACE(constant)
__KC_ADDRESS_SPACE(local)

// Arithmetic overloads.
__KCHECK_MIN_MAX(__KC_DEVICE)
__KCHECK_MIN_MAX_REAL(__KC_DEVICE, __nv_fminf, __nv_fmaxf, __nv_fmin, __nv_fmax)
__KC_DEVICE float rsqrt(float x) { return rsqrtf(x); }
__KC_DEVICE float rcbrt(float x) { return rcbrtf(x); }
__KC_DEVICE float sinpi(float x) { return sinpif(x); }
__KC_DEVICE float cospi(float x) { return cospif(x); }
__KC_DEVICE void sincos(float x, float* s, float* c) { sincosf(x, s, c); }
__KC_DEVICE float normcdf(float x) { return normcdff(x); }
__KC_DEVICE float normcdfinv(float x) { return normcdfinvf(x); }
__KC_DEVICE float erfcinv(float x) { return erfcinvf(x); }
__KC_DEVICE float erfcx(float x) { return erfcxf(x); }
__KC_DEVICE int mul24(int a, int b) { return __mul24(a, b); }
__KC_DEVICE unsigned int umul24(unsigned int a, unsigned int b) { return __umul24(a, b); }
__KC_DEVICE int mulhi(int a, int b) { return __mulhi(a, b); }
__KC_DEVICE float saturate(float x) { return __saturatef(x); }
__KC_DEVICE int float2int(float x) { return __float2int_rz(x); }

// dp4a and friends, in plain arithmetic.
__KC_DEVICE int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 32; i += 8) c += (int)(signed char)(a >> i) * (int)(signed char)(b >> i);
  return c;
}
__KC_DEVICE unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) {
  for (int i = 0; i < 32; i += 8) c += ((a >> i) & 255) * ((b >> i) & 255);
  return c;
}

__KC_DEVICE unsigned int __isGlobal(const void* p) { return __nvvm_isspacep_global(p); }
__KC_DEVICE unsigned int __isShared(const void* p) { return __nvvm_isspacep_shared(p); }
__KC_DEVICE unsigned int __isConstant(const void* p) { return __nvvm_isspacep_const(p); }
__KC_DEVICE unsigned int __isLocal(const void* p) { return __nvvm_isspacep_local(p); }
__KC_DEVICE unsigned long long __globaltimer() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}
