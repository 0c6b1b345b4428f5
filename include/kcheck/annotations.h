// Promises about the arrays of a kernel. kcheck's static pass takes them for true, as listed assumptions, and
// its run checks them; to every other compiler they are nothing. C++11.
//
//   #include <kcheck/annotations.h>
//
//   __global__ void scatter(float* out, const float* in, const int* index, int n) {
//     kcheck::extent(out, n);
//     kcheck::permutation(index, n);
//     int i = blockIdx.x * blockDim.x + threadIdx.x;
//     if (i < n) out[index[i]] = in[i];
//   }
//
// Put them at the kernel's start, where every thread passes. kcheck finds the header by itself; for nvcc,
// -I KCHECK/include.
#pragma once

#include <cstddef>
#include <type_traits>

#if defined(__CUDACC__) || defined(__CUDA__)
#define KCHECK_PROMISE_ __host__ __device__ inline
#else
#define KCHECK_PROMISE_ inline
#endif

#ifdef __KCHECK__ // kcheck compiles: both passes know the call by its name
extern "C" __attribute__((device)) void __kcheck_array(const void* array, long long count,
                                                       unsigned elementBytes, unsigned promise,
                                                       const char* file, unsigned line);
#define KCHECK_PLACE_ , const char *file = __builtin_FILE(), unsigned line = __builtin_LINE()
#define KCHECK_PASS_ON_ , file, line
#ifdef __CUDA_ARCH__
#define KCHECK_TELL_(promise)                                                                                \
  __kcheck_array((const void*)array, static_cast<long long>(count), sizeof(T), promise, file, line)
#else
#define KCHECK_TELL_(promise) (void)array, (void)count, (void)file, (void)line
#endif
#else
#define KCHECK_PLACE_
#define KCHECK_PASS_ON_
#define KCHECK_TELL_(promise) (void)array, (void)count
#endif

namespace kcheck {

/// The array has `count` elements.
template <class T, class Count> KCHECK_PROMISE_ void extent(const T* array, Count count KCHECK_PLACE_) {
  static_assert(std::is_integral<Count>::value, "the number of elements is an integer");
  KCHECK_TELL_(0);
}

/// The first `count` elements of the array, which the kernel only reads, differ from one another.
template <class T, class Count> KCHECK_PROMISE_ void distinct(const T* array, Count count KCHECK_PLACE_) {
  static_assert(std::is_integral<T>::value && std::is_integral<Count>::value,
                "indices and their number are integers");
  KCHECK_TELL_(1);
}

/// They are the numbers from 0 to count - 1, each once.
template <class T, class Count> KCHECK_PROMISE_ void permutation(const T* array, Count count KCHECK_PLACE_) {
  static_assert(std::is_integral<T>::value && std::is_integral<Count>::value,
                "indices and their number are integers");
  KCHECK_TELL_(2);
}

/// None of the first `count` elements, which the kernel only reads, is less than the one before it: where the
/// rows of a sparse matrix begin, the results of a scan. Unsigned ones leave the upper half of their range
/// free.
template <class T, class Count> KCHECK_PROMISE_ void ascending(const T* array, Count count KCHECK_PLACE_) {
  static_assert(std::is_integral<T>::value && std::is_integral<Count>::value,
                "positions and their number are integers");
  KCHECK_TELL_(std::is_signed<T>::value ? 3 : 4);
}

/// Of a whole array in memory of a fixed size.
template <class T, std::size_t Size> KCHECK_PROMISE_ void distinct(const T (&array)[Size] KCHECK_PLACE_) {
  distinct(&array[0], Size KCHECK_PASS_ON_);
}
template <class T, std::size_t Size> KCHECK_PROMISE_ void permutation(const T (&array)[Size] KCHECK_PLACE_) {
  permutation(&array[0], Size KCHECK_PASS_ON_);
}
template <class T, std::size_t Size> KCHECK_PROMISE_ void ascending(const T (&array)[Size] KCHECK_PLACE_) {
  ascending(&array[0], Size KCHECK_PASS_ON_);
}

} // namespace kcheck

#undef KCHECK_PROMISE_
#undef KCHECK_PLACE_
#undef KCHECK_PASS_ON_
#undef KCHECK_TELL_
