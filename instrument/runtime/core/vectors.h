// KCHECK_VECTORS before a function: compiled for the widest vectors that the machine may have; the fitting
// one is chosen when the program starts. What it calls comes along where it is KCHECK_INLINE. KCHECK_BY_16
// before a loop over a multiple of 16: no remainder is written for it. EachLane: a number for each lane of a
// warp.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !__has_feature(address_sanitizer)
#define KCHECK_VECTORS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#define KCHECK_BY_16 _Pragma("clang loop vectorize_width(16) interleave_count(1)")
#include <immintrin.h>
#define KCHECK_HAS_CONFLICTS ///< functions that are KCHECK_CONFLICTS exist; for machines with "avx512cd"
#define KCHECK_CONFLICTS __attribute__((target("avx512f,avx512cd")))
#else
#define KCHECK_VECTORS
#define KCHECK_BY_16
#endif
#define KCHECK_INLINE __attribute__((always_inline)) inline

namespace kcheck::runtime {

/// A number of each lane; comparisons give all bits or none.
using EachLane = std::uint32_t __attribute__((ext_vector_type(32)));

using LaneBits = bool __attribute__((ext_vector_type(32)));

/// By reference, here and below: how vectors are handed over hangs on the machine.
KCHECK_INLINE void load(EachLane& each, const std::uint32_t* numbers) {
  std::memcpy(&each, numbers, sizeof each);
}

/// The lanes for which it holds.
KCHECK_INLINE std::uint32_t bitsOf(const auto& comparison) {
  return std::bit_cast<std::uint32_t>(__builtin_convertvector(comparison, LaneBits));
}

inline bool hasConflicts() {
#ifdef KCHECK_HAS_CONFLICTS
  return __builtin_cpu_supports("avx512cd") != 0;
#else
  return false;
#endif
}

} // namespace kcheck::runtime
