// How the threads that run a launch together (crew.h) divide its blocks.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

namespace kcheck::runtime {

/// Blocks that a share has not started: it takes them from the front, others take half of them from the back.
class alignas(64) BlockRange {
public:
  void assign(std::uint64_t from, std::uint64_t to) { both = from << 32 | to; }
  std::uint64_t count() const;
  std::optional<std::uint64_t> takeFirst();
  /// What is left to the other one.
  bool takeHalfOf(BlockRange& other);

private:
  std::atomic<std::uint64_t> both = 0; ///< the first, and the one behind the last
};

} // namespace kcheck::runtime
