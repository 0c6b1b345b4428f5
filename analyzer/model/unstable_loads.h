// What a load finds is the same for all threads where nobody writes there before the next barrier.
#pragma once

#include "analyzer/model/execution.h"

namespace kcheck::analyzer {

/// Loads of places that may be written in a barrier interval that the load belongs to, by the cut of `state`.
/// Of what is written there, `state` knows the objects.
std::set<const llvm::Instruction*> findUnstable(KernelState& state, const Execution& run);

} // namespace kcheck::analyzer
