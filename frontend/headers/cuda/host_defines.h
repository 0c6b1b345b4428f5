// Qualifiers of CUDA C++ as clang's attributes. Part of the headers that kcheck uses where no CUDA toolkit is
// installed; names, numbers and layouts are CUDA 13's, so that kcheck's runtime serves both.
#pragma once

#if defined(__CUDA__) && !defined(__CUDACC__)
#define __CUDACC__
#endif

#define CUDA_VERSION 13000
#define CUDART_VERSION 13000
#define CUDARTAPI
#define CUDART_CB
#define CUDAAPI

#define __inline_hint__
#if defined(__CUDACC__)
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device, annotate("kcheck.managed")))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __maxnreg__(n)
#define __block_size__(...)
#define __cluster_dims__(...)
#define __grid_constant__
#define __nv_pure__ __attribute__((const))
#else
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define __launch_bounds__(...)
#define __grid_constant__
#endif
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __device_builtin__
#define __cudart_builtin__
