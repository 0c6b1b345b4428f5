// "The last block to arrive does the rest": each block counts itself in by one atomic operation, once, with a
// fence before; the block that draws the last ticket knows that all others have done what they do before
// theirs.
#pragma once

#include <vector>

namespace llvm {
class Function;
class Instruction;
class LoopInfo;
} // namespace llvm

namespace kcheck::analyzer {

/// The atomic operations of a kernel that may be arrivals: outside of loops, counting up by one or with
/// atomicInc, device-wide. That one thread of each block does it, and nothing else is done to the counter
/// but by the last block, is for the caller to see to.
class Arrivals {
public:
  Arrivals(const llvm::Function& kernel, const llvm::LoopInfo& loops);
  const std::vector<const llvm::Instruction*>& all() const { return atomics; }

private:
  std::vector<const llvm::Instruction*> atomics;
};

} // namespace kcheck::analyzer
