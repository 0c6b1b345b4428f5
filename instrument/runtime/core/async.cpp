#include "instrument/runtime/core/async.h"

#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/sync.h"

#include <algorithm>

namespace kcheck::runtime {
namespace {

void restamp(const AsyncCopies::Range& range, Token from, Token to) {
  for (Address at = range.begin; at < range.end; at = (at | 3) + 1) {
    Cell& cell = cellOf(at);
    if (cell.write == from) cell.write = to;
    if (cell.write != kBytes) continue;
    for (Address byte = at; byte < std::min((at | 3) + 1, range.end); ++byte)
      if (byteCells(cell).cell[byte & 3].write == from) byteCells(cell).cell[byte & 3].write = to;
  }
}

Token freshToken(const ThreadState& thread) {
  return context().epochs.takeThread(thread.owner().index, kCopies + thread.linear);
}

std::uint64_t keyOf(const ThreadState& thread) {
  return Clock::threadKey(thread.owner().index, kCopies + thread.linear);
}

/// The thread now comes after its oldest `count` groups.
void finish(ThreadState& thread, std::size_t count) {
  if (!count) return;
  std::vector<AsyncCopies::Group>& groups = thread.copies->groups;
  Clock known;
  known.raise(keyOf(thread), groups[count - 1].token);
  receive(thread, known);
  groups.erase(groups.begin(), groups.begin() + static_cast<std::ptrdiff_t>(count));
}

} // namespace

void startCopy(ThreadState& thread, Address to, std::size_t bytes) {
  if (!inShared(to) || !bytes) return;
  if (!thread.copies) thread.copies = std::make_unique<AsyncCopies>();
  std::vector<AsyncCopies::Group>& groups = thread.copies->groups;
  if (groups.empty() || groups.back().committed) groups.push_back({freshToken(thread), {}, false});
  groups.back().ranges.push_back({to, to + bytes});
  restamp(groups.back().ranges.back(), thread.me, groups.back().token);
}

void commitCopies(ThreadState& thread) {
  if (!thread.copies) thread.copies = std::make_unique<AsyncCopies>();
  std::vector<AsyncCopies::Group>& groups = thread.copies->groups;
  if (groups.empty() || groups.back().committed)
    groups.push_back({freshToken(thread), {}, false}); // empty groups count
  groups.back().committed = true;
}

void waitForCopies(ThreadState& thread, std::uint32_t left) {
  if (!thread.copies) return;
  const std::vector<AsyncCopies::Group>& groups = thread.copies->groups;
  std::size_t committed = groups.size() - (!groups.empty() && !groups.back().committed);
  finish(thread, committed - std::min<std::size_t>(committed, left));
}

void waitForAllCopies(ThreadState& thread) {
  if (thread.copies) finish(thread, thread.copies->groups.size());
}

void carryCopiesOver(BlockState& block) {
  for (ThreadState& thread : block) {
    if (!thread.copies) continue;
    for (AsyncCopies::Group& group : thread.copies->groups) {
      Token fresh = freshToken(thread);
      for (const AsyncCopies::Range& range : group.ranges) restamp(range, group.token, fresh);
      group.token = fresh;
    }
  }
}

namespace {

using abi::BarrierObjectOp;

// The state word: threads expected and still missing in 20 bits each, the rest counts phases.
constexpr std::uint64_t kCount = (1u << 20) - 1;
constexpr unsigned kPendingAt = 20, kPhaseAt = 40;

std::uint64_t stateOf(std::uint64_t expected, std::uint64_t pending, std::uint64_t phase) {
  return (expected & kCount) | (pending & kCount) << kPendingAt | phase << kPhaseAt;
}

std::uint64_t arrive(BarrierObject& object, std::uint64_t state, std::uint64_t count, bool drops) {
  std::uint64_t expected = (state & kCount) - (drops ? count : 0);
  std::uint64_t pending = (state >> kPendingAt & kCount) - count, phase = state >> kPhaseAt;
  if ((pending & kCount) != 0) return stateOf(expected, pending, phase);
  object.completed.join(object.arriving);
  object.arriving.clear();
  return stateOf(expected, expected, phase + 1);
}

bool passed(std::uint64_t state, std::uint64_t token, bool byParity) {
  std::uint64_t phase = state >> kPhaseAt;
  return byParity ? (phase & 1) != (token & 1) : phase != token >> kPhaseAt;
}

} // namespace

std::uint64_t useBarrierObject(ThreadState& thread, Address at, BarrierObjectOp op, std::uint64_t value) {
  LaunchState& launch = *thread.owner().launch;
  if (op == BarrierObjectOp::Init) {
    launch.barrierObjects[at] = {};
    return stateOf(value, value, 0);
  }
  if (!inArena(at) || (at & 7)) return 0; // reported by the access before
  BarrierObject& object = launch.barrierObjects[at];
  auto& word = *reinterpret_cast<std::uint64_t*>(at);
  const std::uint64_t before = word;
  switch (op) {
  case BarrierObjectOp::Init: break;
  case BarrierObjectOp::Arrive:
  case BarrierObjectOp::ArriveDrop:
    object.arriving.join(released(thread));
    word = arrive(object, before, value, op == BarrierObjectOp::ArriveDrop);
    ++launch.progress;
    break;
  case BarrierObjectOp::ArriveOnCopies: {
    if (thread.copies && !thread.copies->groups.empty()) {
      object.arriving.raise(keyOf(thread), thread.copies->groups.back().token);
      thread.copies->groups.clear(); // the object's business now
    }
    if (value) word = arrive(object, before, value, false);
    break;
  }
  case BarrierObjectOp::Test:
  case BarrierObjectOp::TestParity:
    if (!passed(before, value, op == BarrierObjectOp::TestParity)) return 0;
    receive(thread, object.completed);
    return 1;
  }
  return before;
}

} // namespace kcheck::runtime

using namespace kcheck;
using namespace kcheck::runtime;

extern "C" {

void kcAsyncCopy(abi::ThreadContext* context, void* to, std::uint64_t bytes) {
  startCopy(*static_cast<ThreadState*>(context), reinterpret_cast<Address>(to), bytes);
}

void kcAsyncCommit(abi::ThreadContext* context) { commitCopies(*static_cast<ThreadState*>(context)); }

void kcAsyncWait(abi::ThreadContext* context, std::uint32_t left) {
  auto& thread = *static_cast<ThreadState*>(context);
  if (left == abi::kAllCopies)
    waitForAllCopies(thread);
  else
    waitForCopies(thread, left);
}

std::uint64_t kcBarrierObject(abi::ThreadContext* context, void* object, std::uint32_t op,
                              std::uint64_t value) {
  return useBarrierObject(*static_cast<ThreadState*>(context), reinterpret_cast<Address>(object),
                          static_cast<abi::BarrierObjectOp>(op), value);
}

} // extern "C"
