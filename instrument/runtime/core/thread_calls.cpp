// The calls of abi_calls.def that concern the calling thread alone: which space an address lies in, and
// leaving.
#include "instrument/runtime/core/fibre.h"
#include "instrument/runtime/core/memory.h"
#include "instrument/runtime/core/shadow.h"
#include "instrument/runtime/core/state.h"

#include <cstdlib>

using namespace kcheck;
using namespace kcheck::runtime;

extern "C" {

std::uint32_t kcSpace(abi::ThreadContext* /*thread*/, void* pointer) {
  auto address = reinterpret_cast<Address>(pointer);
  MemorySpace space = MemorySpace::Local; // a coroutine frame or a stack of the host
  if (inShared(address)) {
    space = MemorySpace::Shared;
  } else if (inArena(address)) {
    const Allocation* allocation = find(pointer);
    space =
        allocation && allocation->kind == MemoryKind::Constant ? MemorySpace::Constant : MemorySpace::Global;
  }
  return static_cast<std::uint32_t>(space);
}

/// The pass turns `exit` into a return where it can; only kernels that run on fibres call this.
void kcExit(abi::ThreadContext* context) {
  auto& thread = *static_cast<ThreadState*>(context);
  if (!thread.fibre) std::abort();
  thread.fibre->finish();
}

} // extern "C"
