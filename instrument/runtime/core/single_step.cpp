#include "instrument/runtime/core/single_step.h"

#include "instrument/runtime/core/gate.h"

#include <csignal>
#include <cstdint>

#include <ucontext.h>

namespace kcheck::runtime {
namespace {

constexpr greg_t kTrap = 0x100; ///< of the flags: a trap follows each instruction

thread_local void (*next)() = nullptr;
struct sigaction before;

void onTrap(int signal, siginfo_t*, void* state) {
  const InRuntime here;
  auto& flags = static_cast<ucontext_t*>(state)->uc_mcontext.gregs[REG_EFL];
  void (*afterwards)() = next;
  if (!afterwards) { // none of ours: as if we had not been here
    sigaction(signal, &before, nullptr);
    raise(signal); // behind a breakpoint the program would go on
    return;
  }
  next = nullptr;
  flags &= ~kTrap;
  afterwards();
}

/// Whether traps come here.
bool receivesTraps() {
  struct sigaction action{};
  sigaction(SIGTRAP, nullptr, &action);
  if ((action.sa_flags & SA_SIGINFO) && action.sa_sigaction == onTrap) return true;
  if (action.sa_handler != SIG_DFL) return false;
  before = action;
  action = {};
  action.sa_sigaction = onTrap;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  return sigaction(SIGTRAP, &action, nullptr) == 0;
}

/// `rep movs` and the like, which are left and entered again for each element.
bool isRepeated(const std::uint8_t* instruction) {
  if (*instruction != 0xf3 && *instruction != 0xf2) return false;
  ++instruction;
  if ((*instruction & 0xf0) == 0x40) ++instruction; // of 64 bits
  return *instruction >= 0xa4 && *instruction <= 0xaf;
}

} // namespace

bool runAlone(void* state, void (*afterwards)()) {
  auto& context = *static_cast<ucontext_t*>(state);
  if (next == afterwards) return true; // it needs more than one thing
  if (sigismember(&context.uc_sigmask, SIGTRAP) || !receivesTraps() ||
      isRepeated(reinterpret_cast<const std::uint8_t*>(context.uc_mcontext.gregs[REG_RIP])))
    return false;
  next = afterwards;
  context.uc_mcontext.gregs[REG_EFL] |= kTrap;
  return true;
}

} // namespace kcheck::runtime
