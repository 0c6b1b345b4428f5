// Before libcu++'s header of this name. Atomics of one and two bytes are put together there from the word around them,
// because PTX has none: what a checker would see are accesses to the neighbours, and past the end of an array. Here they
// touch what they are about: `atom.add.u8` and the like are for kcheck's eyes only.
#pragma once
#pragma GCC system_header

#include_next <cuda/std/__atomic/functions/cuda_ptx_derived.h>

#include <cuda/std/__cccl/version.h>

#if CCCL_VERSION >= 3000000 && CCCL_VERSION < 3001000 && defined(__CUDA__)

_LIBCUDACXX_BEGIN_NAMESPACE_STD

#define __KC_LOAD(order, how, scope, where)                                                                            \
  static inline __device__ uint16_t __kcheck_load8(const void* __p, __atomic_cuda_##order, __thread_scope_##scope##_tag) { \
    uint16_t __r;                                                                                                      \
    asm volatile("ld." how where ".b8 %0,[%1];" : "=h"(__r) : "l"(__p) : "memory");                                    \
    return __r;                                                                                                        \
  }
#define __KC_STORE(order, how, scope, where)                                                                           \
  static inline __device__ void __kcheck_store8(void* __p, uint16_t __v, __atomic_cuda_##order,                        \
                                                __thread_scope_##scope##_tag) {                                        \
    asm volatile("st." how where ".b8 [%0],%1;" ::"l"(__p), "h"(__v) : "memory");                                      \
  }
#define __KC_EXCHANGE(bits, order, how, scope, where)                                                                  \
  static inline __device__ uint16_t __kcheck_cas##bits(void* __p, uint16_t __c, uint16_t __v, __atomic_cuda_##order,   \
                                                       __thread_scope_##scope##_tag) {                                 \
    uint16_t __r;                                                                                                      \
    asm volatile("atom.cas" how where ".b" #bits " %0,[%1],%2,%3;"                                                     \
                 : "=h"(__r)                                                                                           \
                 : "l"(__p), "h"(__c), "h"(__v)                                                                        \
                 : "memory");                                                                                          \
    return __r;                                                                                                        \
  }
#define __KC_UPDATE(name, op, bits, ptx, order, how, scope, where)                                                     \
  static inline __device__ uint16_t __kcheck_##name##bits(void* __p, uint16_t __v, __atomic_cuda_##order,               \
                                                          __thread_scope_##scope##_tag) {                              \
    uint16_t __r;                                                                                                      \
    asm volatile("atom." op how where "." ptx " %0,[%1],%2;" : "=h"(__r) : "l"(__p), "h"(__v) : "memory");             \
    return __r;                                                                                                        \
  }
#define __KC_SIZE(bits, order, how, scope, where)                                                                      \
  __KC_EXCHANGE(bits, order, how, scope, where)                                                                        \
  __KC_UPDATE(exchange, "exch", bits, "b" #bits, order, how, scope, where)                                             \
  __KC_UPDATE(fetch_and, "and", bits, "b" #bits, order, how, scope, where)                                             \
  __KC_UPDATE(fetch_or, "or", bits, "b" #bits, order, how, scope, where)                                               \
  __KC_UPDATE(fetch_xor, "xor", bits, "b" #bits, order, how, scope, where)                                             \
  __KC_UPDATE(fetch_add, "add", bits, "u" #bits, order, how, scope, where)                                             \
  __KC_UPDATE(fetch_min_s, "min", bits, "s" #bits, order, how, scope, where)                                           \
  __KC_UPDATE(fetch_min_u, "min", bits, "u" #bits, order, how, scope, where)                                           \
  __KC_UPDATE(fetch_max_s, "max", bits, "s" #bits, order, how, scope, where)                                           \
  __KC_UPDATE(fetch_max_u, "max", bits, "u" #bits, order, how, scope, where)
#define __KC_ORDERS(bits, scope, where)                                                                                \
  __KC_SIZE(bits, relaxed, ".relaxed", scope, where)                                                                   \
  __KC_SIZE(bits, acquire, ".acquire", scope, where)                                                                   \
  __KC_SIZE(bits, release, ".release", scope, where)                                                                   \
  __KC_SIZE(bits, acq_rel, ".acq_rel", scope, where)                                                                   \
  __KC_SIZE(bits, volatile, ".relaxed", scope, where)
#define __KC_SCOPE(scope, where)                                                                                       \
  __KC_LOAD(relaxed, "relaxed", scope, where)                                                                          \
  __KC_LOAD(acquire, "acquire", scope, where)                                                                          \
  __KC_LOAD(volatile, "volatile", scope, "")                                                                           \
  __KC_STORE(relaxed, "relaxed", scope, where)                                                                         \
  __KC_STORE(release, "release", scope, where)                                                                         \
  __KC_STORE(volatile, "volatile", scope, "")                                                                          \
  __KC_ORDERS(8, scope, where)                                                                                         \
  __KC_ORDERS(16, scope, where)
__KC_SCOPE(block, ".cta")
__KC_SCOPE(cluster, ".cluster")
__KC_SCOPE(device, ".gpu")
__KC_SCOPE(system, ".sys")
#undef __KC_SCOPE
#undef __KC_ORDERS
#undef __KC_SIZE
#undef __KC_UPDATE
#undef __KC_EXCHANGE
#undef __KC_STORE
#undef __KC_LOAD

// More special than libcu++'s own templates, and so preferred where both fit.

template <class _Type, class _Order, __atomic_cuda_operand _Op, class _Sco>
static inline __device__ void __cuda_atomic_load(const _Type* __ptr, _Type& __dst, _Order,
                                                 __atomic_cuda_operand_tag<_Op, 8>, _Sco, __atomic_cuda_mmio_disable) {
  __dst = static_cast<_Type>(__kcheck_load8(__ptr, _Order{}, _Sco{}));
}

template <class _Type, class _Order, __atomic_cuda_operand _Op, class _Sco>
static inline __device__ void __cuda_atomic_store(_Type* __ptr, _Type __val, _Order, __atomic_cuda_operand_tag<_Op, 8>,
                                                  _Sco, __atomic_cuda_mmio_disable) {
  __kcheck_store8(__ptr, static_cast<uint8_t>(__val), _Order{}, _Sco{});
}

#define __KC_FETCH(name, bits)                                                                                         \
  template <class _Type, class _Order, __atomic_cuda_operand _Op, class _Sco>                                          \
  static inline __device__ void __cuda_atomic_##name(_Type* __ptr, _Type& __dst, _Type __val, _Order,                  \
                                                     __atomic_cuda_operand_tag<_Op, bits>, _Sco) {                     \
    __dst = static_cast<_Type>(__kcheck_##name##bits(__ptr, static_cast<uint16_t>(__val), _Order{}, _Sco{}));          \
  }
#define __KC_COMPARED(name, bits)                                                                                      \
  template <class _Type, class _Order, __atomic_cuda_operand _Op, class _Sco>                                          \
  static inline __device__ void __cuda_atomic_##name(_Type* __ptr, _Type& __dst, _Type __val, _Order,                  \
                                                     __atomic_cuda_operand_tag<_Op, bits>, _Sco) {                     \
    if constexpr (static_cast<_Type>(-1) < static_cast<_Type>(0))                                                      \
      __dst = static_cast<_Type>(__kcheck_##name##_s##bits(__ptr, static_cast<uint16_t>(__val), _Order{}, _Sco{}));    \
    else __dst = static_cast<_Type>(__kcheck_##name##_u##bits(__ptr, static_cast<uint16_t>(__val), _Order{}, _Sco{})); \
  }
#define __KC_SIZE(bits)                                                                                                \
  __KC_FETCH(exchange, bits)                                                                                           \
  __KC_FETCH(fetch_and, bits)                                                                                          \
  __KC_FETCH(fetch_or, bits)                                                                                           \
  __KC_FETCH(fetch_xor, bits)                                                                                          \
  __KC_FETCH(fetch_add, bits)                                                                                          \
  __KC_COMPARED(fetch_min, bits)                                                                                       \
  __KC_COMPARED(fetch_max, bits)                                                                                       \
  template <class _Type, class _Order, __atomic_cuda_operand _Op, class _Sco>                                          \
  static inline __device__ bool __cuda_atomic_compare_exchange(_Type* __ptr, _Type& __dst, _Type __cmp, _Type __val,   \
                                                               _Order, __atomic_cuda_operand_tag<_Op, bits>, _Sco) {   \
    const _Type __old = static_cast<_Type>(                                                                            \
        __kcheck_cas##bits(__ptr, static_cast<uint16_t>(__cmp), static_cast<uint16_t>(__val), _Order{}, _Sco{}));      \
    __dst = __old;                                                                                                     \
    return __old == __cmp;                                                                                             \
  }
__KC_SIZE(8)
__KC_SIZE(16)
#undef __KC_SIZE
#undef __KC_COMPARED
#undef __KC_FETCH

_LIBCUDACXX_END_NAMESPACE_STD

#endif
