// LLVM's loop unroller, for passes that write loops out round by round.
#pragma once

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Dominators.h"

namespace kcheck::analyzer {

/// With the analyses that it needs. Once a loop has been written out, another one has to be made.
class Unrolling {
public:
  explicit Unrolling(llvm::Function& kernel);

  llvm::LoopInfo& loops() { return loopInfo; }
  llvm::ScalarEvolution& evolution() { return scalars; }
  /// How often the loop goes round, where that is a number and the loop can be written out; else 0.
  unsigned roundsOf(const llvm::Loop& loop);
  /// Every access of every round stays, also of what the kernel reads and does not use.
  bool writeOut(llvm::Loop& loop);

private:
  llvm::Function& kernel;
  llvm::DominatorTree dominators;
  llvm::LoopInfo loopInfo;
  llvm::TargetLibraryInfoImpl known;
  llvm::TargetLibraryInfo library;
  llvm::AssumptionCache assumptions;
  llvm::ScalarEvolution scalars;
  llvm::TargetTransformInfo costs;
};

/// Loops as the unroller wants them.
void simplifyLoops(llvm::Function& kernel);

/// Takes out what nobody comes to any more, such as a round after the last one.
void dropDeadRounds(llvm::Function& kernel);

} // namespace kcheck::analyzer
