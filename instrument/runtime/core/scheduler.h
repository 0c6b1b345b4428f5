// Runs the blocks of a launch: threads one by one up to their next wait, warps until all lanes wait, blocks
// until they are done or nothing moves; then the waits are answered, here and in warp.cpp and barrier.cpp.
#pragma once

#include "instrument/runtime/core/state.h"

namespace kcheck::runtime {

/// All blocks of the launch, to the end or to a fault; where nobody can go on, `hang` is reported. False: its
/// threads only poll, and may do so (LaunchState::mayWait); continueGrid() goes on.
bool runGrid(LaunchState& launch);
enum class Standing : std::uint8_t {
  Over,
  Moved,     ///< some thread got somewhere; now they only poll
  Polls,     ///< as before
  Exhausted, ///< for so long that nothing will come of it
};
/// For a while, until nobody gets anywhere.
Standing continueGrid(LaunchState& launch);
/// Something outside of the launch may have changed: it is not exhausted.
void heartenGrid(LaunchState& launch);
/// The clock goes forward, or memory still changes: false where even that is no reason to go on.
bool tryHarder(LaunchState& launch);
/// Nothing will ever come: `hang`.
void giveUpGrid(LaunchState& launch);
/// It runs no further.
void dropGrid(LaunchState& launch);

/// Lanes of one warp that wait for each other: answers what is complete. True when some thread can go on.
bool answerWarp(BlockState& block, std::uint32_t warp);
/// Nothing moves in the block: collectives whose named lanes are elsewhere are reported and answered as they
/// stand.
bool forceWarp(BlockState& block, std::uint32_t warp);

/// Block barriers whose threads have all come.
bool answerBarriers(BlockState& block);
/// Nothing moves: reports who waits where, and lets the waiting threads go on.
bool forceBarriers(BlockState& block);
/// A thread arrives without waiting.
void arriveAtBarrier(ThreadState& thread);
/// All live threads of all blocks wait for the grid.
bool answerGrid(LaunchState& launch);
/// Nothing moves but for threads that wait for the grid: reports who is missing, and lets them go on.
bool forceGrid(LaunchState& launch);
void reportHang(LaunchState& launch, bool changes);

/// The block's next barrier interval: everything up to now comes before it.
void startInterval(BlockState& block);
/// Lets the thread go on; the wait's result has been filled in.
inline void wake(ThreadState& thread) { thread.status = ThreadStatus::Ready; }
/// Whether the thread waits in `kind`.
inline bool waitsFor(const ThreadState& thread, abi::WaitKind kind) {
  return thread.status == ThreadStatus::Waiting && thread.wait.kind == kind;
}

/// Whether the thread waits for others of its warp.
inline bool waitsForLanes(const ThreadState& thread) {
  return thread.status == ThreadStatus::Waiting && thread.wait.kind != abi::WaitKind::BlockBarrier &&
         thread.wait.kind != abi::WaitKind::GridSync;
}

/// Ends the whole launch from within device code: a trap, a failed assertion, an access that cannot be made.
[[noreturn]] void abandonThread(ThreadState& thread, DeviceFault fault);

/// Leaves the running thread in the middle of an access (lockstep and random schedules).
void stepAccess(ThreadState& thread);

} // namespace kcheck::runtime
