// What fences, atomics and barriers have in common: what a thread knows, and what it has read and may come to
// know.
#pragma once

#include "instrument/runtime/core/state.h"

namespace kcheck::runtime {

SyncState& stateOf(ThreadState& thread);
/// From here on the thread's accesses are told apart from what it did before.
void renewToken(ThreadState& thread);
/// Everything that comes before what the thread does now, itself included. `wide` as in SyncState.
Clock everything(const ThreadState& thread, bool wide);
/// A fence of `scope` follows what was received.
void learn(SyncState& state, Received& received, std::uint32_t scope);
/// What was read from atomics before now counts as known. Barriers do not make it so of what a loop has
/// waited for: they order no more than the block.
void receivePending(SyncState& state, std::uint32_t scope);
/// From here on the thread's loads see what fences of others came before this one of its own.
void noteFence(ThreadState& thread);

} // namespace kcheck::runtime
