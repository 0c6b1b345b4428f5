// Locks that one thread takes for its whole block: `if (threadIdx.x == 0) lock(); __syncthreads(); ...;
// __syncthreads(); if (threadIdx.x == 0) unlock();`.
#pragma once

#include "analyzer/model/intervals.h"
#include "analyzer/model/one_thread.h"
#include "analyzer/model/taken_locks.h"

namespace llvm {
class DominatorTree;
class LoopInfo;
} // namespace llvm

namespace kcheck::analyzer {

class Broadcasts;

/// Says of the locks of a kernel which ones are taken by a thread for its block, which comes to be so where
/// the block parts for it, and where its threads have met that one again.
class BlockLocks {
public:
  struct Flow {
    const llvm::DominatorTree& dominators;
    const llvm::LoopInfo& loops;
    const Broadcasts& broadcasts;
  };
  BlockLocks(const llvm::Function& kernel, const TakenLocks& locks, const OneThreads& ones, const Flow& flow);

  /// By the ways past the taking that the other threads go. Until they have met, these say nothing.
  const std::map<FlowEdge, std::set<TakenLock>>& passedOnEdges() const { return passed; }
  bool isOfBlock(TakenLock taken) const { return waits.count(taken) != 0; }
  const ThreadPlace& takenBy(TakenLock taken) const { return waits.at(taken).one.thread; }
  /// Whether the thread that is there has taken it itself.
  bool hasTaken(TakenLock taken, const llvm::BasicBlock* here) const;
  /// Whether it has been taken for whoever is there.
  bool isTakenFor(TakenLock taken, const llvm::BasicBlock* here) const;
  /// Whether no other thread of the block gives back, by `release`, while one is there.
  bool isApartFrom(const llvm::BasicBlock* release, const llvm::BasicBlock* here) const;
  /// Whether one thread of the block alone comes there.
  bool isOne(const llvm::BasicBlock* here) const { return ones.count(here) != 0; }

private:
  struct Wait {
    const llvm::BasicBlock *before, *leaves, *behind; ///< the loop, its only way out, and where that leads
    OneThread one;
  };
  void notePassing(TakenLock taken, const Wait& wait);

  const OneThreads& ones;
  Flow flow;
  Intervals intervals;
  std::map<TakenLock, Wait> waits;
  std::map<FlowEdge, std::set<TakenLock>> passed;
};

} // namespace kcheck::analyzer
