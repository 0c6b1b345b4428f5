// Who decides which threads reach a barrier.
#pragma once

#include "analyzer/model/execution.h"

namespace kcheck::analyzer {

/// Adds a BarrierControl to the model for every branch that a barrier of this reach depends on, as the run
/// from the entry saw it.
void addBarrierControls(KernelState& state, const Execution& run, BarrierKind kind);
/// The same for what some lanes must come to together.
void addTogetherControls(KernelState& state, const Execution& run);
/// Whether shuffles read from lanes that take part (shuffle_sources.cpp).
void addShuffleSources(KernelState& state, const Execution& run);

} // namespace kcheck::analyzer
