// Which threads of a block come to its named barriers (`bar.sync 1, 128`).
#pragma once

#include "analyzer/model/execution.h"

namespace kcheck::analyzer {

/// For each named barrier by which name a thread comes to it, as KernelModel::groups has it. Empty where a
/// barrier waits for other threads than those that come, or groups overlap: then what it orders is not
/// followed. `run` is cut at named barriers, and how loops vary is settled.
std::vector<Expr> barrierGroups(KernelState& state, Execution& run);

} // namespace kcheck::analyzer
