// What one lane of each warp leaves in shared memory for its warp: `if (lane == 0) x[warp] = ...;
// __syncwarp(); ... x[warp] ...`, or with a barrier of the block between. The load then has the value that
// this lane stored.
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

/// The loads of a kernel that may be such, by its control flow.
class LaneStores {
public:
  LaneStores(const llvm::Function& kernel, const llvm::DominatorTree& dominators, const llvm::LoopInfo& loops,
             bool areApart); ///< as of Broadcasts

  /// The only store to the variable that a load reads. It is done in the same round of all loops around it,
  /// if at all, and whoever has done it comes past the barrier of the warp or block before the load.
  struct Source {
    const llvm::Instruction* store = nullptr;
    const llvm::BasicBlock* barrier = nullptr;
  };
  const Source* of(const llvm::Instruction& load) const;
  bool isSource(const llvm::Instruction& store) const { return loads.count(&store) != 0; }
  bool empty() const { return found.empty(); }
  /// All loads of the variables that are stored to by sources, by the store: others than those found, too.
  const std::map<const llvm::Instruction*, std::set<const llvm::Instruction*>>& all() const { return loads; }

private:
  std::map<const llvm::Instruction*, Source> found; ///< by the load
  std::map<const llvm::Instruction*, std::set<const llvm::Instruction*>> loads;
};

} // namespace kcheck::analyzer
