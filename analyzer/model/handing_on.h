// Which loads read what one thread of the block stored for all, and which atomic operations count
// blocks in: what broadcasts.h and arrivals.h leave for the caller to see to.
#pragma once

#include "analyzer/model/kernel_state.h"

namespace kcheck::analyzer {

class Execution;

/// Of a whole run with loops settled (uniformity.h): the loads for which it holds,
/// with the thread that stores.
std::map<const llvm::Instruction*, ThreadPlace> confirmBroadcasts(KernelState& state, const Execution& run);

/// Those of `state.arriving` for which it holds in a run that takes all of them for arrivals.
std::map<const llvm::Instruction*, Arrival> confirmArrivals(KernelState& state, const Execution& run);

/// Of a basic block: the thread that comes there, whenever `condition` holds, from where its block's threads
/// part for it.
struct OneComes {
  ThreadPlace thread{};
  const llvm::BasicBlock* parting = nullptr;
  Expr condition = nullptr; ///< width 1, the same for all threads
};
std::optional<OneComes> oneComesTo(KernelState& state, const Execution& run, const llvm::BasicBlock& block);
/// Of all basic blocks, of a whole run with loops settled.
OneThreads findOnes(KernelState& state, const Execution& run);

/// The atomic operations that one thread of each block does, as far as their conditions say.
std::map<const llvm::Instruction*, Arrival> candidateArrivals(KernelState& state, const Execution& run);

} // namespace kcheck::analyzer
