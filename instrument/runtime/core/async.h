// What goes on beside a thread: asynchronous copies into shared memory (cp.async), which belong to nobody
// until somebody has waited for them, and barrier objects (mbarrier), which threads and copies arrive at.
#pragma once

#include "instrument/abi.h"
#include "instrument/runtime/core/clock.h"

#include <cstdint>
#include <vector>

namespace kcheck::runtime {

struct BlockState;
struct ThreadState;

/// The copies of one thread that it has not waited for, by group; the last group may still be open.
struct AsyncCopies {
  struct Range {
    Address begin, end;
  };
  struct Group {
    Token token = 0; ///< of the writes, as if by a thread of their own
    std::vector<Range> ranges;
    bool committed = false;
  };
  std::vector<Group> groups; ///< oldest first
};

/// A barrier object in memory. Its state word lies in the program's own 8 bytes; here is what it orders.
struct BarrierObject {
  Clock arriving;  ///< by those who have arrived in the current phase
  Clock completed; ///< by those who arrived in earlier phases
};

/// The range has just been written by a copy that the thread has started.
void startCopy(ThreadState& thread, Address to, std::size_t bytes);
void commitCopies(ThreadState& thread);
/// Waits for all groups but the last `left`.
void waitForCopies(ThreadState& thread, std::uint32_t left);
void waitForAllCopies(ThreadState& thread);
/// A new barrier interval has begun: what nobody has waited for is not part of the one before.
void carryCopiesOver(BlockState& block);
/// An operation on a barrier object, as abi.h lists them.
std::uint64_t useBarrierObject(ThreadState& thread, Address at, abi::BarrierObjectOp op, std::uint64_t value);

} // namespace kcheck::runtime
