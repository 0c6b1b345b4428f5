// What the first runs over a kernel learn, in terms that hold for the states of later ones as well.
#pragma once

#include "analyzer/model/arrival_rows.h"
#include "analyzer/model/execution.h"

namespace kcheck::analyzer {

/// Objects keep their numbers.
struct Knowledge {
  std::vector<std::pair<std::string, MemoryObject>> objects;
  std::set<unsigned> written, locks, locksGivenBack, changedPointerSources, synchronizingObjects;
  std::map<unsigned, std::set<Reach>> pointerPlaces;
  std::map<const llvm::BasicBlock*, const llvm::Instruction*> afterWaiting;
  std::set<const llvm::Instruction*> polled;
  std::map<unsigned, std::map<Update, std::set<const llvm::BasicBlock*>>> updates;
  std::map<const llvm::BasicBlock*, std::set<unsigned>> writtenIn;
  std::set<const llvm::Instruction*> unstable, unstableInGrid;
  std::map<unsigned, std::int64_t> fixedParameters;
  OneThreads ones; ///< where there are locks to take
  std::map<const llvm::Instruction*, ThreadPlace> handedOn;
  std::map<const llvm::Instruction*, Arrival> arriving;
  std::map<unsigned, std::vector<FlagStore>> flags;
  std::map<const llvm::Instruction*, OneThread> commonLooks;
  bool hasGroups = false;
};

void prime(KernelState& state, const Knowledge& known);

/// Parameters that an assumption at the kernel's start sets to a constant.
void findFixedParameters(KernelState& state, const Execution& run, Knowledge& known);
/// Objects to which nothing is done but to take locks and give them back, all in the same terms.
void findLocks(KernelState& state, const Execution& run, Knowledge& known);
/// What loops wait for, atomics and flags, and the blocks that come after such a loop.
void findWaiting(const Execution& run, Knowledge& known);
/// Objects into which what an atomic or a flag says is written, or that decides about writing them.
void findSynchronizing(const KernelState& state, const Execution& run, Knowledge& known);

} // namespace kcheck::analyzer
