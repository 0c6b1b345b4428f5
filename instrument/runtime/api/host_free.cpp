// The program's calls of free() and its uses of delete come here (pass/link.cpp), which would end it where
// the memory is CUDA's.
#include "instrument/runtime/api/memory_use.h"

#include <cstddef>

using kcheck::runtime::api::freedAsHosts;

// NOLINTBEGIN(bugprone-reserved-identifier): the linker's and the compiler's names
#define KC_FREE(symbol, name, parameters, arguments)                                                         \
  __attribute__((weak)) void __real_##symbol parameters;                                                     \
  void __wrap_##symbol parameters {                                                                          \
    if (!freedAsHosts(pointer, name, __builtin_return_address(0))) __real_##symbol arguments;                \
  }

extern "C" {

KC_FREE(free, "free", (void* pointer), (pointer))
KC_FREE(_ZdlPv, "delete", (void* pointer), (pointer))
KC_FREE(_ZdlPvm, "delete", (void* pointer, std::size_t bytes), (pointer, bytes))
KC_FREE(_ZdaPv, "delete[]", (void* pointer), (pointer))
KC_FREE(_ZdaPvm, "delete[]", (void* pointer, std::size_t bytes), (pointer, bytes))

} // extern "C"
// NOLINTEND(bugprone-reserved-identifier)
