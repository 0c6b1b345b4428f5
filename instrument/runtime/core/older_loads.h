// Loads that may see an older store than the last one: hardware holds stores back, and a thread that has just
// stored to one flag may still find another one as it was.
#pragma once

#include "instrument/runtime/core/state.h"

namespace kcheck::runtime {

/// The oldest store that the value which the thread is about to load may as well come from; null where that
/// is the last one. Only what that store has published is what the thread can rely on. Two threads that each
/// store to a flag and look at the other's may both find it unset, unless fences stand between.
const SyncWord::Version* olderStore(const ThreadState& thread, const SyncWord& word, Address at,
                                    std::uint32_t bytes);

} // namespace kcheck::runtime
