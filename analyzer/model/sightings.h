// Where a thread looks at a flag and goes on by what it finds: `while (flag == 0);`, `if (done)`.
#pragma once

#include <vector>

namespace llvm {
class BasicBlock;
class BranchInst;
class DominatorTree;
class Function;
class Instruction;
class Loop;
class LoopInfo;
class Value;
} // namespace llvm

namespace kcheck::analyzer {

/// The place that an atomic or volatile access looks at without changing it; null for any other instruction.
const llvm::Value* lookedAt(const llvm::Instruction& instruction);

/// One way on from a branch that follows from what the look in the same round has found.
struct Sighting {
  const llvm::Instruction* look = nullptr;
  const llvm::Value* pointer = nullptr;
  const llvm::BranchInst* branch = nullptr;
  unsigned way = 0; ///< which of its successors
  /// The loop that goes on until the look has found what it waits for, where there is no other way out of it.
  const llvm::Loop* waits = nullptr;

  const llvm::BasicBlock* target() const;
};

class Sightings {
public:
  Sightings(const llvm::Function& kernel, const llvm::LoopInfo& loops, const llvm::DominatorTree& dominators);
  const std::vector<Sighting>& all() const { return found; }
  /// Whether who is there has come that way.
  bool isBehind(const llvm::BasicBlock* block, const Sighting& sighting) const;

private:
  const llvm::DominatorTree& dominators;
  std::vector<Sighting> found;
};

} // namespace kcheck::analyzer
