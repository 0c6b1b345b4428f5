#include "instrument/runtime/core/async.h"

#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/race.h"
#include "instrument/runtime/core/sync.h"

#include <algorithm>

namespace kcheck::runtime {
namespace {

void restampWrite(Cell& cell, Token from, Token to) {
  if (cell.write == from) cell.write = to;
}

void restampRead(Cell& cell, Token from, Token to) {
  if (cell.read == from) cell.read = to;
  if (!isReadSet(cell.read)) return;
  if (ReadSet* set = readSetOf(*context().launch, cell.read)) set->restamp(from, to);
}

void restamp(const AsyncCopies::Range& range, Token from, Token to) {
  auto one = range.isSource ? restampRead : restampWrite;
  for (Address at = range.begin; at < range.end; at = (at | 3) + 1) {
    Cell& cell = cellOf(at);
    if (cell.write != kBytes) {
      one(cell, from, to);
      continue;
    }
    for (Address byte = at; byte < std::min((at | 3) + 1, range.end); ++byte)
      one(byteCells(cell).cell[byte & 3], from, to);
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

AsyncCopies& copiesOf(ThreadState& thread) {
  if (!thread.copies) thread.copies = std::make_unique<AsyncCopies>();
  thread.owner().anyCopies = true;
  return *thread.copies;
}

} // namespace

void startCopy(ThreadState& thread, AsyncCopies::Range to, AsyncCopies::Range from) {
  if (!inShared(to.begin) || to.begin == to.end) return;
  std::vector<AsyncCopies::Group>& groups = copiesOf(thread).groups;
  if (groups.empty() || groups.back().committed) groups.push_back({freshToken(thread), {}, false});
  AsyncCopies::Group& group = groups.back();
  for (const AsyncCopies::Range& range : {to, from}) {
    if (range.begin == range.end || !inArena(range.begin) || !inArena(range.end - 1)) continue;
    group.ranges.push_back(range);
    restamp(range, thread.me, group.token);
  }
}

void commitCopies(ThreadState& thread) {
  std::vector<AsyncCopies::Group>& groups = copiesOf(thread).groups;
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

std::uint64_t phaseOf(Address object) { return *reinterpret_cast<const std::uint64_t*>(object) >> kPhaseAt; }

void renew(const ThreadState& thread, AsyncCopies::Group& group) {
  Token fresh = freshToken(thread);
  for (const AsyncCopies::Range& range : group.ranges) restamp(range, group.token, fresh);
  group.token = fresh;
}

/// Whoever waited for a phase passes its copies on at the next barrier.
void dropReceived(ThreadState& thread) {
  auto& objects = thread.owner().launch->barrierObjects;
  std::erase_if(thread.copies->handed, [&](const AsyncCopies::Handed& handed) {
    auto object = objects.find(handed.object);
    return object == objects.end() || handed.phase < object->second.received;
  });
}

/// From here on the barrier object waits for the thread's copies.
void handOver(ThreadState& thread, Address at, BarrierObject& object) {
  constexpr std::size_t kMany = 64;
  if (!thread.copies || thread.copies->groups.empty()) return;
  AsyncCopies& copies = *thread.copies;
  object.arriving.raise(keyOf(thread), copies.groups.back().token);
  if (copies.handed.size() >= kMany) dropReceived(thread);
  for (AsyncCopies::Group& group : copies.groups)
    if (!group.ranges.empty()) copies.handed.push_back({at, phaseOf(at), std::move(group)});
  copies.groups.clear();
}

} // namespace

void carryCopiesOver(BlockState& block) {
  if (!block.anyCopies) return;
  for (ThreadState& thread : block) {
    if (!thread.copies) continue;
    for (AsyncCopies::Group& group : thread.copies->groups) renew(thread, group);
    dropReceived(thread);
    for (AsyncCopies::Handed& handed : thread.copies->handed) {
      renew(thread, handed.group);
      BarrierObject& object = block.launch->barrierObjects[handed.object];
      bool isOver = handed.phase != phaseOf(handed.object);
      (isOver ? object.completed : object.arriving).raise(keyOf(thread), handed.group.token);
    }
  }
}

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
  case BarrierObjectOp::ArriveOnCopies:
    handOver(thread, at, object);
    if (value) word = arrive(object, before, value, false);
    break;
  case BarrierObjectOp::Test:
  case BarrierObjectOp::TestParity:
    thread.polledBarrier = 0;
    if (!passed(before, value, op == BarrierObjectOp::TestParity)) return thread.polledBarrier = at, 0;
    receive(thread, object.completed);
    object.received = std::max(object.received, before >> kPhaseAt);
    return 1;
  }
  return before;
}

ArrivalCount arrivalsAt(Address object) {
  const std::uint64_t state = *reinterpret_cast<const std::uint64_t*>(object);
  return {state & kCount, state >> kPendingAt & kCount};
}

} // namespace kcheck::runtime

using namespace kcheck;
using namespace kcheck::runtime;

extern "C" {

void kcAsyncCopy(abi::ThreadContext* context, void* to, std::uint64_t bytes, const void* from,
                 std::uint64_t read) {
  auto begin = reinterpret_cast<Address>(to), source = reinterpret_cast<Address>(from);
  startCopy(*static_cast<ThreadState*>(context), {begin, begin + bytes}, {source, source + read, true});
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
