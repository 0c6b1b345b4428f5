// nvcc's __nv_atomic_* builtins, which clang lacks, on cuda::atomic_ref. Included when a file's text names one.
#pragma once
#pragma GCC system_header

#include <cuda/atomic>

#define __NV_ATOMIC_RELAXED 0
#define __NV_ATOMIC_CONSUME 1
#define __NV_ATOMIC_ACQUIRE 2
#define __NV_ATOMIC_RELEASE 3
#define __NV_ATOMIC_ACQ_REL 4
#define __NV_ATOMIC_SEQ_CST 5
#define __NV_THREAD_SCOPE_SYSTEM 0
#define __NV_THREAD_SCOPE_DEVICE 1
#define __NV_THREAD_SCOPE_BLOCK 2
#define __NV_THREAD_SCOPE_CLUSTER 1
#define __NV_THREAD_SCOPE_THREAD 10

template <int Scope> struct __kcheckNvAtomic {
  static constexpr cuda::thread_scope scope = static_cast<cuda::thread_scope>(Scope);
  template <typename T> using ref = cuda::atomic_ref<T, scope>;
  static __device__ cuda::memory_order order(int o) { return static_cast<cuda::memory_order>(o); }

  template <typename T> static __device__ T load_n(const T* p, int o) {
    return ref<T>(*const_cast<T*>(p)).load(order(o));
  }
  template <typename T, typename V> static __device__ void store_n(T* p, V v, int o) {
    ref<T>(*p).store(static_cast<T>(v), order(o));
  }
  template <typename T, typename V> static __device__ T exchange_n(T* p, V v, int o) {
    return ref<T>(*p).exchange(static_cast<T>(v), order(o));
  }
  template <typename T, typename V> static __device__ bool compare_n(T* p, T* expected, V v, int o) {
    return ref<T>(*p).compare_exchange_strong(*expected, static_cast<T>(v), order(o));
  }
#define __KC_FETCH(name)                                                                                               \
  template <typename T, typename V> static __device__ T fetch_##name(T* p, V v, int o) {                               \
    return ref<T>(*p).fetch_##name(static_cast<T>(v), order(o));                                                       \
  }
  __KC_FETCH(add)
  __KC_FETCH(sub)
  __KC_FETCH(and)
  __KC_FETCH(or)
  __KC_FETCH(xor)
  __KC_FETCH(min)
  __KC_FETCH(max)
#undef __KC_FETCH
};

#define __nv_atomic_load_n(p, o, s) __kcheckNvAtomic<s>::load_n(p, o)
#define __nv_atomic_load(p, result, o, s) ((void)(*(result) = __kcheckNvAtomic<s>::load_n(p, o)))
#define __nv_atomic_store_n(p, v, o, s) __kcheckNvAtomic<s>::store_n(p, v, o)
#define __nv_atomic_store(p, v, o, s) __kcheckNvAtomic<s>::store_n(p, *(v), o)
#define __nv_atomic_exchange_n(p, v, o, s) __kcheckNvAtomic<s>::exchange_n(p, v, o)
#define __nv_atomic_exchange(p, v, result, o, s) ((void)(*(result) = __kcheckNvAtomic<s>::exchange_n(p, *(v), o)))
#define __nv_atomic_compare_exchange_n(p, e, v, weak, o, f, s) __kcheckNvAtomic<s>::compare_n(p, e, v, o)
#define __nv_atomic_compare_exchange(p, e, v, weak, o, f, s) __kcheckNvAtomic<s>::compare_n(p, e, *(v), o)
#define __nv_atomic_fetch_add(p, v, o, s) __kcheckNvAtomic<s>::fetch_add(p, v, o)
#define __nv_atomic_fetch_sub(p, v, o, s) __kcheckNvAtomic<s>::fetch_sub(p, v, o)
#define __nv_atomic_fetch_and(p, v, o, s) __kcheckNvAtomic<s>::fetch_and(p, v, o)
#define __nv_atomic_fetch_or(p, v, o, s) __kcheckNvAtomic<s>::fetch_or(p, v, o)
#define __nv_atomic_fetch_xor(p, v, o, s) __kcheckNvAtomic<s>::fetch_xor(p, v, o)
#define __nv_atomic_fetch_min(p, v, o, s) __kcheckNvAtomic<s>::fetch_min(p, v, o)
#define __nv_atomic_fetch_max(p, v, o, s) __kcheckNvAtomic<s>::fetch_max(p, v, o)
#define __nv_atomic_add(p, v, o, s) ((void)__kcheckNvAtomic<s>::fetch_add(p, v, o))
#define __nv_atomic_sub(p, v, o, s) ((void)__kcheckNvAtomic<s>::fetch_sub(p, v, o))
#define __nv_atomic_and(p, v, o, s) ((void)__kcheckNvAtomic<s>::fetch_and(p, v, o))
#define __nv_atomic_or(p, v, o, s) ((void)__kcheckNvAtomic<s>::fetch_or(p, v, o))
#define __nv_atomic_xor(p, v, o, s) ((void)__kcheckNvAtomic<s>::fetch_xor(p, v, o))
#define __nv_atomic_min(p, v, o, s) ((void)__kcheckNvAtomic<s>::fetch_min(p, v, o))
#define __nv_atomic_max(p, v, o, s) ((void)__kcheckNvAtomic<s>::fetch_max(p, v, o))
#define __nv_atomic_thread_fence(o, s)                                                                                 \
  cuda::atomic_thread_fence(static_cast<cuda::memory_order>(o), static_cast<cuda::thread_scope>(s))
