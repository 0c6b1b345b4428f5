// A launch whose threads were ordered by locks, flags or tickets runs again in other orders, on memory as it
// was before, and is then forgotten but for the races that it showed. One order hides some of them: a thread
// that has taken a lock comes after all that others did under it, also with what it then does without the
// lock. What another order shows is a race by the same rules, in an order as good as the first.
#pragma once

#include "instrument/runtime/core/state.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kcheck::runtime {

/// Whether a copy of the memory should be made before the launch: something finer than barriers may order its
/// threads, or atomics tell them of each other, and the kernel has not been launched often.
bool mayRehearse(const LaunchState& launch);

/// So many threads at most go one access at a time: each has a stack.
inline constexpr std::size_t kMostRehearsed = 4096;

enum class Rehearsal : std::uint8_t {
  Backwards, ///< from the last thread to the first
  /// Every thread one access at a time, so that what may overlap does: critical sections of readers, failed
  /// attempts of a compare-and-swap.
  InStep,
  /// The same, but who waits stays away for a while: in step, those who wait come too late together, each
  /// time.
  Staggered,
  /// The same, and each thread sleeps now and then: one is overtaken in the middle of what others do twice,
  /// as when a stack's node is popped by another thread than the one that pushed it.
  Uneven,
  /// From block to block until somebody waits, and in step from there on; then the same backwards. A buffer
  /// is full then, or empty.
  FromFull,
  /// As the first time, backwards and in step, but loops that wait for so many rounds only (TraitGivesUp) go
  /// through them before others go on.
  Impatient,
  ImpatientBackwards,
  ImpatientInStep,
  Again, ///< as the first time
};

/// A block goes on until it has to wait; else each thread by one access.
bool goesByBlocks(Rehearsal order);
/// LaunchState::impatient. In lockstep little at first, so that critical sections last longer than attempts
/// to enter them, then more, for attempts of several accesses.
std::uint8_t hasteIn(Rehearsal order, unsigned attempt);

/// In which orders a launch that has just run should run again: all of them where order came from an atomic
/// or a flag; backwards, in step and unevenly where there were atomics at all; impatiently where loops
/// wait for so many rounds only. Of a large launch only some
/// blocks at a time go unevenly, and none in step. Where threads give way in loops that draw work alone
/// (TraitDraws), unevenly, some blocks at a time; where nobody gives way, backwards alone, if an atomic gives
/// somebody something.
std::vector<Rehearsal> rehearsals(const LaunchState& launch);
/// More threads than go one access at a time together.
bool isLarge(const LaunchState& launch);

/// What the launch has cost so far, in turns of threads and warps. Counted, not timed: a rehearsal ends at
/// the same place on every machine.
std::uint64_t costOf(const LaunchState& launch);
/// How much a rehearsal may cost of a launch that has cost `first`: no more than that, or half a second. What
/// only the rest of it would have shown is not found.
std::uint64_t rehearsalLimit(Rehearsal order, std::uint64_t first, bool large);
/// How many runs of the order, each with other sleeps, share its limit as far as it goes.
unsigned attemptsAt(Rehearsal order, const LaunchState& launch);

} // namespace kcheck::runtime
