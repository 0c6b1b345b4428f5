// Asynchronous copies from global to shared memory by the C interface.
#pragma once
#pragma GCC system_header

#include "cuda_runtime.h"

static __inline__ __device__ __attribute__((always_inline)) void
__pipeline_memcpy_async(void* to, const void* from, size_t bytes, size_t zfill = 0) {
  const unsigned shared = unsigned(__cvta_generic_to_shared(to));
  const unsigned read = unsigned(bytes - zfill);
  if (bytes == 4)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared), "l"(from), "r"(read) : "memory");
  else if (bytes == 8)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(shared), "l"(from), "r"(read) : "memory");
  else asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(from), "r"(read) : "memory");
}
static __inline__ __device__ __attribute__((always_inline)) void __pipeline_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
static __inline__ __device__ __attribute__((always_inline)) void __pipeline_wait_prior(size_t groups) {
  switch (groups) {
  case 0: asm volatile("cp.async.wait_group 0;" ::: "memory"); break;
  case 1: asm volatile("cp.async.wait_group 1;" ::: "memory"); break;
  case 2: asm volatile("cp.async.wait_group 2;" ::: "memory"); break;
  case 3: asm volatile("cp.async.wait_group 3;" ::: "memory"); break;
  default: asm volatile("cp.async.wait_all;" ::: "memory"); // earlier than asked is right as well
  }
}
