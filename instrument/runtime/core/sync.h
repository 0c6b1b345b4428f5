// Order finer than block barriers: fences, atomics that publish and receive, __syncwarp, barriers of part of
// a block. Asked only after the tokens alone could not tell.
#pragma once

#include "instrument/runtime/core/race.h"

namespace kcheck::runtime {

/// Whether the thread has received everything that the owner did up to the token.
bool knownTo(const ThreadState& thread, const Owner& owner, Token token);
/// The same if all fences and atomics had the widest scope.
bool widelyKnown(const ThreadState& thread, const Owner& owner, Token token);
/// Whether the thread has seen the last atomic operation on the word.
bool knowsWord(const ThreadState& thread, Address at, Seen seen = Seen::AtAll);
/// Whether the owner had done all up to the token when it stored to the word, and the thread has seen that
/// store: what the owner read of this very word before is then no secret of the hardware's, fence or none.
bool storedSince(const ThreadState& thread, const Owner& owner, Token token, Address at);
/// Whether the thread has received all that other blocks have done.
bool knowsEverything(const ThreadState& thread);
/// Whether a write of the thread now would publish what came before a fence.
bool hasFenced(const ThreadState& thread);

/// A fence of scope 1 block, 2 device, 3 system.
void fence(ThreadState& thread, std::uint32_t scope);
/// Whether an access is in a loop that waits for what it reads.
enum class Polls : std::uint8_t {
  No,
  OnePlace,
  ManyPlaces ///< one after the other: abi::SiteProbes
};
/// An atomic operation, or a volatile access, on the word.
void synchronise(ThreadState& thread, Address at, std::uint32_t bytes, AtomicOrder order, Polls polls);
/// All named lanes have met: each knows what the others know.
void joinLanes(BlockState& block, std::uint32_t warp, std::uint32_t mask);
/// The threads have met at a barrier of part of the block.
void joinThreads(const std::vector<ThreadState*>& threads, const Clock& arrived);
/// What a thread makes known by arriving at a barrier without waiting.
Clock released(ThreadState& thread);
/// The thread now comes after all that the clock says.
void receive(ThreadState& thread, const Clock& clock);
/// All threads of the block have met; the caller starts the next interval.
void joinBlock(BlockState& block);
/// The whole grid has met.
void joinGrid(LaunchState& launch);
/// The same where other launches live, whose accesses come before the barrier no more than before.
void joinGridInCompany(LaunchState& launch);

} // namespace kcheck::runtime
