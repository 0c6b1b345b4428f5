// atomicCAS and atomicExch of 16 bytes, which nvcc has from sm_90 on and clang not at all.
#pragma once
#pragma GCC system_header

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
template <bool Holds, typename T> struct __kcheckWide {};
template <typename T> struct __kcheckWide<true, T> { using type = T; };
#define __KC_WIDE(T) \
  typename __kcheckWide<sizeof(T) == 16 && (__alignof(T) >= 16) && __is_trivially_copyable(T), T>::type

#define __KC_WIDE_ATOMICS(suffix, scope)                                                                               \
  template <typename T>                                                                                                \
  static inline __attribute__((device)) __KC_WIDE(T) atomicCAS##suffix(T* address, T compare, T value) {               \
    unsigned long long c[2], v[2], old[2];                                                                             \
    __builtin_memcpy(c, &reinterpret_cast<const char&>(compare), 16);                                                  \
    __builtin_memcpy(v, &reinterpret_cast<const char&>(value), 16);                                                    \
    asm volatile("{.reg .b128 c, v, d; mov.b128 c, {%3, %4}; mov.b128 v, {%5, %6}; "                                   \
                 "atom.cas" scope ".b128 d, [%2], c, v; mov.b128 {%0, %1}, d;}"                                        \
                 : "=l"(old[0]), "=l"(old[1])                                                                          \
                 : "l"(address), "l"(c[0]), "l"(c[1]), "l"(v[0]), "l"(v[1])                                            \
                 : "memory");                                                                                          \
    __builtin_memcpy(&reinterpret_cast<char&>(value), old, 16);                                                        \
    return value;                                                                                                      \
  }                                                                                                                    \
  template <typename T>                                                                                                \
  static inline __attribute__((device)) __KC_WIDE(T) atomicExch##suffix(T* address, T value) {                         \
    unsigned long long v[2], old[2];                                                                                   \
    __builtin_memcpy(v, &reinterpret_cast<const char&>(value), 16);                                                    \
    asm volatile("{.reg .b128 v, d; mov.b128 v, {%3, %4}; "                                                            \
                 "atom.exch" scope ".b128 d, [%2], v; mov.b128 {%0, %1}, d;}"                                          \
                 : "=l"(old[0]), "=l"(old[1])                                                                          \
                 : "l"(address), "l"(v[0]), "l"(v[1])                                                                  \
                 : "memory");                                                                                          \
    __builtin_memcpy(&reinterpret_cast<char&>(value), old, 16);                                                        \
    return value;                                                                                                      \
  }
__KC_WIDE_ATOMICS(, "")
__KC_WIDE_ATOMICS(_block, ".cta")
__KC_WIDE_ATOMICS(_system, ".sys")
#undef __KC_WIDE_ATOMICS
#undef __KC_WIDE
#endif
