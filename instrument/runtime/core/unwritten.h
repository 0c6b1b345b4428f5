// Reads of what nobody has written, and of flags that have a first value by the order of the run alone.
#pragma once

#include "instrument/runtime/core/race.h"

namespace kcheck::runtime {

/// The access has found words that nobody has written.
void reportUnwrittenRead(CheckedAccess& access);

/// An atomic or volatile store, made with the token, has given its word the first value.
void noteFirstStore(const CheckedAccess& access, Token token);
/// A read in a loop that waits for what it reads: where nothing orders the word's first store before it, the
/// thread may come first on a GPU, and take for the flag what happens to lie there. Before the access itself
/// brings order.
void checkFirstStore(CheckedAccess& access);

} // namespace kcheck::runtime
