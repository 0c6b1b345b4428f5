// Clang includes this before CUDA's device_functions.hpp, whose functions call min and max of unsigned numbers
// (`__vimax3_u32`). Those are defined later; as long as nobody has heard of them, the signed ones are called.
#pragma GCC system_header

static inline __attribute__((device)) unsigned int min(const unsigned int, const unsigned int);
static inline __attribute__((device)) unsigned int max(const unsigned int, const unsigned int);

#include_next <device_atomic_functions.hpp>
