// Crashes of the checked program: those of device code end the launch and are reported; all others stay what
// they are.
#pragma once

namespace kcheck::runtime {

/// While it lives, memory faults of this thread are device code's.
class FaultGuard {
public:
  FaultGuard();
  ~FaultGuard();
  FaultGuard(const FaultGuard&) = delete;
  FaultGuard& operator=(const FaultGuard&) = delete;
};

} // namespace kcheck::runtime
