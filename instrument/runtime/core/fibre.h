// A stack of its own for a simulated thread: for code that must be left in the middle of a call (recursion
// that waits, lockstep and random schedules that switch at every access).
#pragma once

#include "instrument/runtime/core/shadow.h"

#include <cstddef>

namespace kcheck::runtime {

struct ThreadState;

class Fibre {
public:
  static constexpr std::size_t kStackBytes = std::size_t{256} << 10;
  Fibre();
  ~Fibre();
  Fibre(const Fibre&) = delete;
  Fibre& operator=(const Fibre&) = delete;

  /// Begins `body(argument)` on the stack at the next enter().
  void prepare(void (*body)(void*), void* argument);
  /// Runs until the fibre leaves or its body ends; then `running()` is false. From the scheduler only.
  void enter();
  /// Back to where enter() was called. From within only.
  void leave();
  /// Ends the body from however deep a call, and leaves for good. From within only.
  void finish();
  bool running() const { return active; }
  Address lowest() const { return stack; }
  bool holds(Address address) const { return address - stack < kStackBytes; }

private:
  static void main(Fibre* fibre);
  Address stack = 0; ///< lowest address, above a guard page
  void* inside = nullptr;
  void* outside = nullptr;
  void (*body)(void*) = nullptr;
  void* argument = nullptr;
  bool active = false;
  void* sanitizerStack = nullptr;
  const void* callerBottom = nullptr;
  std::size_t callerBytes = 0;
};

/// Whether the address is on the stack that the thread runs on: its local memory.
bool onDeviceStack(const ThreadState& thread, Address address);

} // namespace kcheck::runtime
