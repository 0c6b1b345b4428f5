// Warp collectives: which lanes meet, and what each gets. Exact as PTX says, inactive lanes included.
#include "instrument/runtime/core/events.h"
#include "instrument/runtime/core/matrix.h"
#include "instrument/runtime/core/race.h"
#include "instrument/runtime/core/rows.h"
#include "instrument/runtime/core/scheduler.h"
#include "instrument/runtime/core/sync.h"

#include <algorithm>
#include <bit>

namespace kcheck::runtime {
namespace {

using abi::WaitKind;

struct Warp {
  BlockState& block;
  ThreadState* lanes;
  std::uint32_t count, number;

  Warp(BlockState& block, std::uint32_t number)
      : block(block), lanes(block.begin() + number * kWarpSize),
        count(std::min(kWarpSize, block.threadCount - number * kWarpSize)), number(number) {}

  template <class Predicate> std::uint32_t maskOf(Predicate predicate) const {
    std::uint32_t mask = 0;
    for (std::uint32_t lane = 0; lane < count; ++lane)
      if (predicate(lanes[lane])) mask |= 1u << lane;
    return mask;
  }
  std::uint32_t live() const {
    return maskOf([](const ThreadState& thread) { return thread.status != ThreadStatus::Done; });
  }
};

bool isCollective(WaitKind kind) {
  switch (kind) {
  case WaitKind::WarpSync:
  case WaitKind::Shuffle:
  case WaitKind::Vote:
  case WaitKind::Match:
  case WaitKind::Reduce:
  case WaitKind::Matrix: return true;
  default: return false;
  }
}

/// The lanes that a waiting lane names, itself always among them.
std::uint32_t namedBy(const ThreadState& thread) { return thread.wait.a | thread.warpBit(); }

/// Both have called the same collective, at whatever place: a shuffle down and one across are two.
bool sameCollective(const ThreadState& a, const ThreadState& b) {
  if (a.wait.kind != b.wait.kind) return false;
  switch (a.wait.kind) {
  case WaitKind::Shuffle: return ((a.wait.b ^ b.wait.b) & ~abi::kOffersNothing) == 0;
  case WaitKind::Vote:
  case WaitKind::Match:
  case WaitKind::Reduce: return a.wait.b == b.wait.b;
  default: return true;
  }
}

/// Lanes that wait in the same collective with the same mask as `thread`.
std::uint32_t partners(const Warp& warp, const ThreadState& thread) {
  std::uint32_t named = namedBy(thread);
  return named & warp.maskOf([&](const ThreadState& other) {
    return other.status == ThreadStatus::Waiting && sameCollective(other, thread) && namedBy(other) == named;
  });
}

void reportMask(const ThreadState& thread, const ThreadState* other, const char* text,
                std::uint32_t otherLane) {
  LaunchState& launch = *thread.owner().launch;
  leaveShare(launch);
  wire::Finding finding = emptyFinding(wire::Rule::WarpMask);
  finding.kernel = launch.name;
  finding.nearness = wire::Nearness::Warp;
  finding.accessCount = other ? 2 : 1;
  finding.access[0] = describeThread(thread, thread.wait.site, wire::Doing::Wait);
  if (other) {
    bool done = other->status == ThreadStatus::Done;
    finding.access[1] = describeThread(*other, done ? wire::kNoSite : other->wait.site,
                                       done ? wire::Doing::Returned : wire::Doing::Wait);
  }
  finding.text = runtime::text(text);
  finding.numbers[0] = thread.wait.a;
  finding.numbers[1] = otherLane;
  report(finding);
}

// What each lane of a group gets. `group` is the mask of lanes that take part.

/// The lane whose value a shuffle reads, by PTX's clamp and segment words; `inRange` is the result predicate.
std::uint32_t shuffleSource(const abi::Wait& wait, std::uint32_t lane, bool& inRange) {
  std::uint32_t b = wait.c & 31, clamp = wait.d & 31, segment = wait.d >> 8 & 31;
  std::uint32_t first = lane & segment, last = first | (clamp & ~segment);
  std::uint32_t source = lane;
  switch (static_cast<abi::ShuffleMode>(wait.b & ~abi::kOffersNothing)) {
  case abi::ShuffleMode::Up:
    inRange = static_cast<int>(lane) - static_cast<int>(b) >= static_cast<int>(last);
    source = lane - b;
    break;
  case abi::ShuffleMode::Down: source = lane + b, inRange = source <= last; break;
  case abi::ShuffleMode::Butterfly: source = lane ^ b, inRange = source <= last; break;
  case abi::ShuffleMode::Index: source = first | (b & ~segment), inRange = source <= last; break;
  }
  return inRange ? source : lane;
}

/// A shuffle down of which as many lanes as it is far read lanes that are there: a step of a reduction, the
/// rest of which nobody needs. At the end of a whole warp it is the same, and defined. Not where the mask
/// names `source`, which is not there.
bool isStepOfReduction(const Warp& warp, std::uint32_t lane, std::uint32_t source, std::uint32_t group) {
  const abi::Wait& wait = warp.lanes[lane].wait;
  if (static_cast<abi::ShuffleMode>(wait.b & ~abi::kOffersNothing) != abi::ShuffleMode::Down) return false;
  if (wait.a >> source & 1) return false;
  const std::uint32_t far = wait.c & 31, first = static_cast<std::uint32_t>(std::countr_zero(group));
  const std::uint32_t needed = static_cast<std::uint32_t>((std::uint64_t{1} << 2 * far) - 1) << first;
  return far > 0 && far <= kWarpSize / 2 && first + 2 * far <= kWarpSize && (group & needed) == needed &&
         lane >= first + far;
}

void shuffle(const Warp& warp, std::uint32_t group) {
  for (std::uint32_t lane = 0; lane < warp.count; ++lane) {
    if (!(group >> lane & 1)) continue;
    ThreadState& thread = warp.lanes[lane];
    bool inRange = false;
    std::uint32_t source = shuffleSource(thread.wait, lane, inRange);
    thread.wait.predicate = inRange;
    if (group >> source & 1) {
      const abi::Wait& from = warp.lanes[source].wait;
      thread.wait.result = from.e;
      if (from.b & abi::kOffersNothing) thread.wait.predicate |= abi::kReceivedNothing;
      continue;
    }
    thread.wait.result = thread.wait.e; // undefined in CUDA
    reportMask(thread, source < warp.count ? &warp.lanes[source] : nullptr,
               isStepOfReduction(warp, lane, source, group) ? "reduces" : "reads", source);
  }
}

void vote(const Warp& warp, std::uint32_t group) {
  std::uint32_t ballot = group & warp.maskOf([](const ThreadState& thread) { return thread.wait.c != 0; });
  for (std::uint32_t lane = 0; lane < warp.count; ++lane) {
    if (!(group >> lane & 1)) continue;
    abi::Wait& wait = warp.lanes[lane].wait;
    switch (static_cast<abi::VoteMode>(wait.b)) {
    case abi::VoteMode::All: wait.result = ballot == group; break;
    case abi::VoteMode::Any: wait.result = ballot != 0; break;
    case abi::VoteMode::Uniform: wait.result = ballot == 0 || ballot == group; break;
    case abi::VoteMode::Ballot: wait.result = ballot; break;
    }
  }
}

void match(const Warp& warp, std::uint32_t group) {
  for (std::uint32_t lane = 0; lane < warp.count; ++lane) {
    if (!(group >> lane & 1)) continue;
    abi::Wait& wait = warp.lanes[lane].wait;
    std::uint32_t same =
        group & warp.maskOf([&](const ThreadState& other) { return other.wait.e == wait.e; });
    bool all = wait.b == 1;
    wait.predicate = same == group;
    wait.result = all && same != group ? 0 : same;
  }
}

std::uint32_t combine(abi::ReduceOp op, std::uint32_t a, std::uint32_t b) {
  auto left = static_cast<std::int32_t>(a), right = static_cast<std::int32_t>(b);
  switch (op) {
  case abi::ReduceOp::Add: return a + b;
  case abi::ReduceOp::Min: return static_cast<std::uint32_t>(std::min(left, right));
  case abi::ReduceOp::Max: return static_cast<std::uint32_t>(std::max(left, right));
  case abi::ReduceOp::UMin: return std::min(a, b);
  case abi::ReduceOp::UMax: return std::max(a, b);
  case abi::ReduceOp::And: return a & b;
  case abi::ReduceOp::Or: return a | b;
  case abi::ReduceOp::Xor: return a ^ b;
  }
  return a;
}

void reduce(const Warp& warp, std::uint32_t group) {
  auto first = static_cast<std::uint32_t>(std::countr_zero(group));
  auto value = static_cast<std::uint32_t>(warp.lanes[first].wait.e);
  auto op = static_cast<abi::ReduceOp>(warp.lanes[first].wait.b);
  for (std::uint32_t lane = first + 1; lane < warp.count; ++lane)
    if (group >> lane & 1) value = combine(op, value, static_cast<std::uint32_t>(warp.lanes[lane].wait.e));
  for (std::uint32_t lane = 0; lane < warp.count; ++lane)
    if (group >> lane & 1) warp.lanes[lane].wait.result = value;
}

void answerGroup(const Warp& warp, std::uint32_t group) {
  ThreadState& first = warp.lanes[std::countr_zero(group)];
  for (std::uint32_t lane = 0; lane < warp.count; ++lane)
    if ((group >> lane & 1) && !(warp.lanes[lane].wait.a >> lane & 1))
      reportMask(warp.lanes[lane], nullptr, "itself", lane);
  switch (first.wait.kind) {
  case WaitKind::WarpSync: joinLanes(warp.block, warp.number, group); break;
  case WaitKind::Shuffle: shuffle(warp, group); break;
  case WaitKind::Vote: vote(warp, group); break;
  case WaitKind::Match: match(warp, group); break;
  case WaitKind::Reduce: reduce(warp, group); break;
  case WaitKind::Matrix: answerMatrix(warp.lanes, group); break;
  default: break;
  }
  for (std::uint32_t lane = 0; lane < warp.count; ++lane)
    if (group >> lane & 1) wake(warp.lanes[lane]);
}

/// Lanes that asked who is active: those that ask at the same place, once no lane can still come by itself.
bool answerActive(const Warp& warp) {
  bool answered = false;
  for (std::uint32_t lane = 0; lane < warp.count; ++lane) {
    ThreadState& thread = warp.lanes[lane];
    if (!waitsFor(thread, WaitKind::ActiveMask)) continue;
    std::uint32_t site = thread.wait.site;
    std::uint32_t together = warp.maskOf([&](const ThreadState& other) {
      return waitsFor(other, WaitKind::ActiveMask) && other.wait.site == site;
    });
    for (std::uint32_t other = 0; other < warp.count; ++other)
      if (together >> other & 1) {
        warp.lanes[other].wait.result = together;
        wake(warp.lanes[other]);
      }
    answered = true;
  }
  return answered;
}

} // namespace

bool answerWarp(BlockState& block, std::uint32_t number) {
  Warp warp(block, number);
  std::uint32_t live = warp.live();
  bool answered = false;
  for (std::uint32_t lane = 0; lane < warp.count; ++lane) {
    ThreadState& thread = warp.lanes[lane];
    if (thread.status != ThreadStatus::Waiting || !isCollective(thread.wait.kind)) continue;
    bool outside = !(thread.wait.a & thread.warpBit()); // undefined in CUDA; nobody waits for it
    std::uint32_t group = outside ? thread.warpBit() : partners(warp, thread);
    if (!outside && (namedBy(thread) & live) != group) continue;
    answerGroup(warp, group);
    answered = true;
  }
  if (answered) {
    ++block.launch->progress;
    return true;
  }
  return answerActive(warp);
}

bool forceWarp(BlockState& block, std::uint32_t number) {
  Warp warp(block, number);
  for (std::uint32_t lane = 0; lane < warp.count; ++lane) {
    ThreadState& thread = warp.lanes[lane];
    if (thread.status != ThreadStatus::Waiting || !isCollective(thread.wait.kind)) continue;
    std::uint32_t group = partners(warp, thread);
    std::uint32_t missing = namedBy(thread) & warp.live() & ~group;
    if (missing) {
      auto other = static_cast<std::uint32_t>(std::countr_zero(missing));
      reportMask(thread, &warp.lanes[other], "missing", other);
    }
    answerGroup(warp, group);
    ++block.launch->progress;
    return true;
  }
  return false;
}

} // namespace kcheck::runtime
