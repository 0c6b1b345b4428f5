// Crashes of the checked program: those of device code end the launch and are reported; all others stay what
// they are.
#pragma once

#include <csignal>

namespace kcheck::runtime {

inline constexpr int kFaults[4] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

/// The calling thread's: stack overflow needs a stack to be handled on.
void giveSignalStack();

/// While it lives, memory faults of this thread, and of those that help it (crew.h), are device code's.
class FaultGuard {
public:
  FaultGuard();
  ~FaultGuard();
  FaultGuard(const FaultGuard&) = delete;
  FaultGuard& operator=(const FaultGuard&) = delete;
};

} // namespace kcheck::runtime
