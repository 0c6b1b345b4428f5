// Where a kernel has taken a lock: on the edges of the control flow behind which the atomic operation has
// said that the lock was free.
#pragma once

#include "analyzer/model/lock_operations.h"
#include "analyzer/model/locks.h"

#include <map>
#include <utility>
#include <vector>

namespace llvm {
class BasicBlock;
class LoopInfo;
} // namespace llvm

namespace kcheck::analyzer {

using TakenLock = const llvm::Instruction*; ///< a lock, by the instruction that takes it
using FlowEdge = std::pair<const llvm::BasicBlock*, const llvm::BasicBlock*>;

struct TakenLocks {
  std::map<FlowEdge, std::set<TakenLock>> onEdges;
  std::map<FlowEdge, std::set<TakenLock>> missedOnEdges; ///< surely not taken
  std::set<TakenLock> all;
  std::set<TakenLock> ambiguous; ///< of what is stored in these, edges say different things
  std::unordered_map<const llvm::Instruction*, LockValues> values;
};

/// How the lock is taken; by turns, the look at the number that is served.
LockOperation takingOf(TakenLock taken);

TakenLocks takenLocks(const std::vector<const llvm::BasicBlock*>& blocks, const llvm::LoopInfo& loops);

} // namespace kcheck::analyzer
