// The CUDA runtime for programs that are compiled where no CUDA toolkit is installed: own declarations on top of the
// CUDA headers that come with clang. --cuda-path=none includes it before every CUDA file.
#pragma once

#ifdef __CUDA__
// Host declarations of the C library come first: device overloads follow them.
#include <__clang_cuda_math_forward_declares.h>
#include <cmath>
#include <cstdlib>
#include <stdlib.h>
#include <string.h>
#endif

#include "cuda_runtime_api.h"
#include "vector_functions.h"

#ifdef __CUDA__
#include <__clang_cuda_builtin_vars.h>
#pragma push_macro("__CUDA_ARCH__")
#ifndef __CUDA_ARCH__
#define __CUDA_ARCH__ 9999 // host compilation sees the declarations of all device functions
#endif
#include <__clang_cuda_libdevice_declares.h>

#include <__clang_cuda_device_functions.h>
#include <__clang_cuda_math.h>

#include "../shim/kcheck_min_max.h"
#include "kcheck_device.h"
#include "kcheck_textures.h"

#pragma pop_macro("__CUDA_ARCH__")

extern "C" {
__device__ int vprintf(const char*, const char*);
__device__ void free(void*) __attribute((nothrow));
__device__ void* malloc(size_t) __attribute((nothrow)) __attribute__((malloc));
__device__ void __assertfail(const char* message, const char* file, unsigned line, const char* function,
                             size_t charSize);
__device__ static inline void __assert_fail(const char* message, const char* file, unsigned line,
                                            const char* function) {
  __assertfail(message, file, line, function, sizeof(char));
}
__device__ int printf(const char*, ...);
}
namespace std {
__device__ static inline void free(void* p) { ::free(p); }
__device__ static inline void* malloc(size_t size) { return ::malloc(size); }
} // namespace std

#define __KC_CONVERT(variable)                                                                                         \
  __device__ inline __cuda_builtin_##variable##_t::operator dim3() const { return dim3(x, y, z); }                     \
  __device__ inline __cuda_builtin_##variable##_t::operator uint3() const { return {x, y, z}; }
__KC_CONVERT(threadIdx)
__KC_CONVERT(blockIdx)
__KC_CONVERT(blockDim)
__KC_CONVERT(gridDim)
#undef __KC_CONVERT

#include <__clang_cuda_cmath.h>
#include <__clang_cuda_intrinsics.h>
#include <__clang_cuda_complex_builtins.h>

// CUDA's extra functions on the host.
static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }
static inline float rsqrt(float x) { return rsqrtf(x); }
static inline double sinpi(double x) { return sin(x * 3.14159265358979323846); }
static inline double cospi(double x) { return cos(x * 3.14159265358979323846); }
static inline float sinpif(float x) { return float(sinpi(double(x))); }
static inline float cospif(float x) { return float(cospi(double(x))); }
static inline double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }
static inline float normcdff(float x) { return float(normcdf(double(x))); }
static inline double norm3d(double a, double b, double c) { return sqrt(a * a + b * b + c * c); }
static inline float norm3df(float a, float b, float c) { return float(norm3d(a, b, c)); }
#endif
