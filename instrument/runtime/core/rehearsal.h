// A launch whose threads were ordered by locks, flags or tickets runs a second time in the opposite order, on
// memory as it was before, and is then forgotten but for the races that it showed. One order hides some of
// them: a thread that has taken a lock comes after all that others did under it, also with what it then does
// without the lock. What the second order shows is a race by the same rules, in an order as good as the
// first.
#pragma once

#include "instrument/runtime/core/state.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace kcheck::runtime {

/// The content of all live memory.
class MemoryCopy {
public:
  MemoryCopy();
  /// Puts it back, where the allocations still are.
  void restore() const;

private:
  struct Part {
    Address base;
    std::size_t bytes;
    std::unique_ptr<std::byte[]> content;
  };
  std::vector<Part> parts;
};

/// Which bytes nobody has written: a rehearsal must not make them look written.
class UnwrittenCopy {
public:
  UnwrittenCopy();
  void restore() const;

private:
  struct Part {
    Address base;
    std::vector<std::uint8_t> words; ///< bits 0 to 3: bytes; kFresh: not looked at yet
  };
  static constexpr std::uint8_t kFresh = 0x80;
  static std::uint8_t stateOf(Address word);
  std::vector<Part> parts;
};

/// Whether a copy of the memory should be made before the launch: order finer than barriers is possible, the
/// kernel is one of few such launches so far, and memory is small enough.
bool mayRehearse(const LaunchState& launch);

/// How far the launch that has just run may go the second time.
std::uint64_t rehearsalLimit(const LaunchState& launch);

} // namespace kcheck::runtime
