#include "instrument/runtime/core/fibre.h"

#include "instrument/runtime/core/state.h"

#include <cassert>
#include <new>

#include <sys/mman.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KCHECK_FIBRE_ASAN 1
#include <sanitizer/common_interface_defs.h>
#endif
#endif

#if !defined(__x86_64__)
#error "fibres are written for x86-64, as the pass's output is"
#endif

extern "C" void kcheckSwitchStack(void** save, void* to);
asm(R"(
.text
.globl kcheckSwitchStack
.type kcheckSwitchStack, @function
kcheckSwitchStack:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, (%rdi)
  mov %rsi, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
.size kcheckSwitchStack, .-kcheckSwitchStack
.globl kcheckFibreStart
.type kcheckFibreStart, @function
kcheckFibreStart:
  mov %rbx, %rdi
  call *%r12
  ud2
.size kcheckFibreStart, .-kcheckFibreStart
)");
extern "C" void kcheckFibreStart();

namespace kcheck::runtime {
namespace {
constexpr std::size_t kGuard = 4096;
} // namespace

Fibre::Fibre() {
  void* memory = mmap(nullptr, kStackBytes + kGuard, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  mprotect(memory, kGuard, PROT_NONE);
  stack = reinterpret_cast<Address>(memory) + kGuard;
}

Fibre::~Fibre() { munmap(reinterpret_cast<void*>(stack - kGuard), kStackBytes + kGuard); }

void Fibre::prepare(void (*newBody)(void*), void* newArgument) {
  body = newBody;
  argument = newArgument;
  active = true;
  auto* top = reinterpret_cast<std::uintptr_t*>(stack + kStackBytes);
  *--top = 0; // kcheckFibreStart calls with the stack aligned
  *--top = 0;
  *--top = reinterpret_cast<std::uintptr_t>(&kcheckFibreStart);
  *--top = 0;                                       // rbp
  *--top = reinterpret_cast<std::uintptr_t>(this);  // rbx
  *--top = reinterpret_cast<std::uintptr_t>(&main); // r12
  *--top = 0;
  *--top = 0;
  *--top = 0;
  inside = top;
}

void Fibre::enter() {
  assert(active);
#ifdef KCHECK_FIBRE_ASAN
  void* own = nullptr;
  __sanitizer_start_switch_fiber(&own, reinterpret_cast<void*>(stack), kStackBytes);
#endif
  kcheckSwitchStack(&outside, inside);
#ifdef KCHECK_FIBRE_ASAN
  __sanitizer_finish_switch_fiber(own, nullptr, nullptr);
#endif
}

void Fibre::leave() {
#ifdef KCHECK_FIBRE_ASAN
  __sanitizer_start_switch_fiber(active ? &sanitizerStack : nullptr, callerBottom, callerBytes);
#endif
  kcheckSwitchStack(&inside, outside);
#ifdef KCHECK_FIBRE_ASAN
  __sanitizer_finish_switch_fiber(sanitizerStack, &callerBottom, &callerBytes);
#endif
}

void Fibre::finish() {
  active = false;
  leave();
}

void Fibre::main(Fibre* fibre) {
#ifdef KCHECK_FIBRE_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &fibre->callerBottom, &fibre->callerBytes);
#endif
  fibre->body(fibre->argument);
  fibre->active = false;
  fibre->leave();
}

bool onDeviceStack(const ThreadState& thread, Address address) {
  if (thread.fibre && thread.fibre->holds(address)) return true;
  const LaunchState& launch = *thread.owner().launch;
  return address - launch.stackLow < launch.stackHigh - launch.stackLow;
}

} // namespace kcheck::runtime
