// What one thread of a block leaves in shared memory for all: `if (threadIdx.x == 0) x = ...;
// __syncthreads(); ... x ...`. The load then has the value that this thread stored.
#pragma once

#include <map>
#include <set>

namespace llvm {
class BasicBlock;
class DominatorTree;
class Function;
class Instruction;
class LoopInfo;
} // namespace llvm

namespace kcheck::analyzer {

/// The loads of a kernel that may be such, by its control flow, with the one store that they can read.
class Broadcasts {
public:
  /// `areApart`: members of structures are told apart.
  Broadcasts(const llvm::Function& kernel, const llvm::DominatorTree& dominators, const llvm::LoopInfo& loops,
             bool areApart);
  const std::map<const llvm::Instruction*, const llvm::Instruction*>& all() const { return found; }
  bool isSource(const llvm::Instruction& store) const { return sources.count(&store) != 0; }
  /// Whether a load reads what was stored in the same round of all loops around the store, a barrier of the
  /// block before, if one thread of each block goes from `parting` to the store whenever the block's threads
  /// come to `parting`. That it is one, and that all or none come, is for the caller to see to.
  bool areParted(const llvm::BasicBlock* parting, const llvm::Instruction& load) const;
  /// The same of what one thread does from `from` until it comes to `until`, for whoever is at `here`.
  bool areParted(const llvm::BasicBlock* from, const llvm::BasicBlock* until, const llvm::BasicBlock* parting,
                 const llvm::BasicBlock* here) const;

private:
  bool arePartedFrom(const llvm::BasicBlock* from, const llvm::BasicBlock* parting,
                     const llvm::BasicBlock* here) const;
  const llvm::DominatorTree& dominators;
  const llvm::LoopInfo& loops;
  std::map<const llvm::Instruction*, const llvm::Instruction*> found;
  std::set<const llvm::Instruction*> sources;
};

} // namespace kcheck::analyzer
