// Rooms for resident blocks: shared window, thread states, and what starts and ends a block in them.
#pragma once

#include "instrument/runtime/core/state.h"

namespace kcheck::runtime {

/// What device code asks of the launch's shape.
void setShape(abi::BlockContext& block, const LaunchConfig& config);
/// From the lowest address of this thread's stack to here: where threads without fibres keep their locals.
void findStack(LaunchState& launch);
/// Tokens for the block's next barrier interval.
Token takeInterval(const BlockState& block);
std::size_t mostResident(const LaunchState& launch);
/// A block in a free room, its threads not started.
BlockState& startBlock(LaunchState& launch, std::uint64_t index);
void endBlock(BlockState& block);
/// Before tokens run out: starts counting anew, where everything in the shadow then counts as ordered.
/// `quiet`: no block runs.
void renewTokensIfNeeded(LaunchState& launch, bool quiet);
/// They are running out in the middle of the launch. It cannot go on, which this reports.
bool tokensRunOut(const LaunchState& launch);
/// The launch's first tokens, as an operation of its stream.
void beginTokens(LaunchState& launch);

} // namespace kcheck::runtime
