// The numbers by which threads take their turns at a lock.
#pragma once

namespace kcheck::analyzer {

class Execution;
struct KernelState;

/// Notes for which numbers threads wait, by the locks, from a run through the whole kernel.
void addLockTurns(KernelState& state, Execution& whole);

} // namespace kcheck::analyzer
