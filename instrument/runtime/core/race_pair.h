// Two accesses to one word: whether the earlier one comes before the other or may run beside it.
#pragma once

#include "instrument/runtime/core/race_report.h"

namespace kcheck::runtime {

/// Reports the pair where it is a race and the access is in none yet.
void checkPair(CheckedAccess& access, const Earlier& earlier, Address at);
Owner ownerOf(const LaunchState& launch, const BlockState& block, Token token);
bool sameThread(const CheckedAccess& access, Token token);
/// Barriers order all readers of the set before the access.
bool allComeBefore(const CheckedAccess& access, const ReadSet& set);
/// A thread that reads a word and then stores to it read the word before all who have seen its store: how a
/// ticket lock is handed on (`serving = serving + 1`, volatile).
bool readBeforeSeenStore(const CheckedAccess& access, const Earlier& earlier, Address at);

} // namespace kcheck::runtime
