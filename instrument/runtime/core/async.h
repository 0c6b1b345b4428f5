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
    bool isSource = false;
  };
  struct Group {
    Token token = 0; ///< of the accesses, as if by a thread of their own
    std::vector<Range> ranges;
    bool committed = false;
  };
  std::vector<Group> groups; ///< oldest first
  /// Those that a barrier object waits for in place of the thread.
  struct Handed {
    Address object;
    std::uint64_t phase;
    Group group;
  };
  std::vector<Handed> handed;
};

/// A barrier object in memory. Its state word lies in the program's own 8 bytes; here is what it orders.
struct BarrierObject {
  Clock arriving;  ///< by those who have arrived in the current phase
  Clock completed; ///< by those who arrived in earlier phases
  /// Phases before this one have ended, and somebody has waited for that.
  std::uint64_t received = 0;
};

/// A copy that the thread has started has just been made: what it wrote, and what it read.
void startCopy(ThreadState& thread, AsyncCopies::Range to, AsyncCopies::Range from);
void commitCopies(ThreadState& thread);
/// Waits for all groups but the last `left`.
void waitForCopies(ThreadState& thread, std::uint32_t left);
void waitForAllCopies(ThreadState& thread);
/// A new barrier interval has begun: what nobody has waited for is not part of the one before.
void carryCopiesOver(BlockState& block);
/// How many arrivals a phase of a barrier object takes, and how many are still to come.
struct ArrivalCount {
  std::uint64_t expected, missing;
};
ArrivalCount arrivalsAt(Address object);
/// An operation on a barrier object, as abi.h lists them.
std::uint64_t useBarrierObject(ThreadState& thread, Address at, abi::BarrierObjectOp op, std::uint64_t value);

} // namespace kcheck::runtime
