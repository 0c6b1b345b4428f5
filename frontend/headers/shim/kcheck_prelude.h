// Included before every CUDA file, after the CUDA headers: what nvcc accepts and clang alone does not.
#pragma once
#pragma GCC system_header

#if defined(__CUDA__) && defined(__CUDACC__)
#include <time.h> // brought along by nvcc's headers: many programs measure without including it

#include "kcheck_hints.h"
#include "kcheck_min_max.h"
#include "kcheck_surfaces.h"
#include "kcheck_wide_atomics.h"

// Clang has no managed variables for CUDA: the front end looks for the annotation.
#undef __managed__
#define __managed__ __attribute__((device, annotate("kcheck.managed")))

// Clang drops an assumption whose condition calls a function; a function that is handed the value keeps it. Both passes
// know the device's by name: the static one takes the condition for true, the run checks it.
extern "C" __attribute__((device)) void __kcheck_assumption(bool holds, const char* text, const char* file,
                                                            unsigned line);
__attribute__((host, device, always_inline)) static inline constexpr void
__kcheck_assume(bool condition, const char* text, const char* file, unsigned line) {
#ifdef __CUDA_ARCH__
  if (!__builtin_is_constant_evaluated()) __kcheck_assumption(condition, text, file, line);
#else
  (void)text, (void)file, (void)line;
  __builtin_assume(condition);
#endif
}
#define __builtin_assume(...) __kcheck_assume(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

// Of the device's functions these are declared by clang without a body, or not at all.
static inline __attribute__((device)) double nan(const char*) { return __builtin_nan(""); }
static inline __attribute__((device)) float nanf(const char*) { return __builtin_nanf(""); }
static inline __attribute__((device)) float __tanhf(float x) { return tanhf(x); }

// Host code may call CUDA's min and max.
__KCHECK_MIN_MAX(static inline __attribute__((host)))
__KCHECK_MIN_MAX_OF(static inline __attribute__((host)), int, int, int)
__KCHECK_MIN_MAX_REAL(static inline __attribute__((host)), fminf, fmaxf, fmin, fmax)
#endif
