// Flags: a thread says by what it stores that it has come so far, others go on when they find it there. What
// the one has done before its fence and the store is then ordered before what these do behind a fence of
// theirs. Here the stores are found that may be such; whether each place has one thread to set it is asked of
// the complete model.
#pragma once

#include "analyzer/model/execution.h"

namespace kcheck::analyzer {

/// Per object what is looked at and set in ways that are followed: all that is ever stored there.
std::map<unsigned, std::vector<FlagStore>> findFlags(KernelState& state, Execution& run);

/// The looks that one thread of each block takes for all, with that thread and where all are yet together.
std::map<const llvm::Instruction*, OneThread> findCommonLooks(KernelState& state, const Execution& run);

/// The stores as the model keeps them, from a run over the whole kernel.
void addFlags(KernelState& state, const Execution& whole);

} // namespace kcheck::analyzer
