// Lets one instruction of host code run alone: what it needs can be given to it, and taken away behind it.
#pragma once

namespace kcheck::runtime {

/// From the handler of the fault that the instruction met, with that handler's `state`: once it has run,
/// `afterwards` is called in its thread. False where that cannot be: the thread keeps the signal of a step
/// from coming or the program uses it for something else, or the instruction counts as one for each round of
/// its own.
bool runAlone(void* state, void (*afterwards)());

} // namespace kcheck::runtime
