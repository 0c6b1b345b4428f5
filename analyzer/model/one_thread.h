// What one thread of a block does for all of them.
#pragma once

#include <array>
#include <cstdint>
#include <map>

namespace llvm {
class BasicBlock;
} // namespace llvm

namespace kcheck::analyzer {

/// A thread of its block, by its indices.
using ThreadPlace = std::array<std::int64_t, 3>;

/// The one thread of a block that comes to a place, where it parts for that from the others.
struct OneThread {
  ThreadPlace thread{};
  const llvm::BasicBlock* parting = nullptr;
  bool isSure = false; ///< it comes whenever its block comes to `parting`
  friend auto operator<=>(const OneThread&, const OneThread&) = default;
};

using OneThreads = std::map<const llvm::BasicBlock*, OneThread>; ///< by the place

} // namespace kcheck::analyzer
