// Included before every CUDA file: what nvcc accepts and clang alone does not.
#pragma once

#ifdef __CUDACC__
// Clang drops an assumption whose condition calls a function; a function that is handed the value keeps it.
__attribute__((host, device, always_inline)) static inline constexpr void __kcheck_assume(bool condition) {
  __builtin_assume(condition);
}
#define __builtin_assume(...) __kcheck_assume(static_cast<bool>(__VA_ARGS__))
#endif
