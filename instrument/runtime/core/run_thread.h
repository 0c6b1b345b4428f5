// One simulated thread at a time: from where it stands to its next wait. In a header because the scheduler
// spends its time here.
#pragma once

#include "instrument/runtime/core/random.h"
#include "instrument/runtime/core/scheduler.h"
#include "instrument/runtime/core/state.h"
#include "instrument/runtime/core/vectors.h"

#include <memory>

namespace kcheck::runtime {

inline bool frameDone(void* frame) { return *static_cast<void**>(frame) == nullptr; }

inline void resumeFrame(void* frame) { (*static_cast<void (**)(void*)>(frame))(frame); }

/// A thread from start to end, on its fibre.
inline void fibreBody(void* data) {
  auto& thread = *static_cast<ThreadState*>(data);
  LaunchState& launch = *thread.owner().launch;
  thread.coroutine = launch.kernel->start(&thread, launch.arguments);
  while (thread.coroutine && !frameDone(thread.coroutine)) {
    thread.fibre->leave();
    resumeFrame(thread.coroutine);
  }
}

/// True when the thread has ended.
KCHECK_INLINE bool advance(ThreadState& thread) {
  LaunchState& launch = *thread.owner().launch;
  bool first = thread.status == ThreadStatus::NotStarted;
  if (launch.fibres) {
    if (first) {
      if (!thread.fibre) thread.fibre = std::make_unique<Fibre>();
      thread.fibre->prepare(fibreBody, &thread);
    }
    thread.fibre->enter();
    return !thread.fibre->running();
  }
  if (first) {
    thread.coroutine = launch.kernel->start(&thread, launch.arguments);
    return !thread.coroutine || frameDone(thread.coroutine);
  }
  resumeFrame(thread.coroutine);
  return frameDone(thread.coroutine);
}

/// How long a thread that gives way stays away: often not at all, sometimes up to 8 rounds. So one who waits
/// for others meets them just ahead in some rounds and far ahead in others, and order that holds by luck
/// alone shows. The same in every run, and for all lanes of a warp, which stay in step.
inline std::uint8_t roundsAway(ThreadState& thread) {
  const LaunchState& launch = *thread.owner().launch;
  if (!launch.tracksSync || launch.inStep) return 0;
  constexpr std::uint32_t longest = 8;
  Random random(++thread.yields * 1021 + thread.warp * 67 + thread.owner().index * 4099);
  return random.below(2) ? 0 : static_cast<std::uint8_t>(random.below(longest) + 1);
}

/// Whether a thread that waits for so many rounds only goes on without letting others run, and how far.
inline bool goesOn(ThreadState& thread) {
  constexpr std::uint32_t mostRounds = 4096;
  const std::uint8_t impatient = thread.owner().launch->impatient;
  if (!impatient || !(thread.wait.a & abi::kGivesUp)) return false;
  if (++thread.yields > mostRounds) return false;
  thread.haste = impatient;
  thread.status = ThreadStatus::Ready;
  return true;
}

/// Runs a thread up to its next wait.
KCHECK_INLINE void runThread(ThreadState& thread) {
  BlockState& block = thread.owner();
  while (true) {
    thread.wait.kind = abi::WaitKind::None;
    ++block.launch->work;
    block.launch->current = &thread;
    bool ended = advance(thread);
    block.launch->current = nullptr;
    if (block.launch->faulted) return;
    if (ended) {
      thread.status = ThreadStatus::Done;
      --block.live;
      ++block.launch->progress;
      return;
    }
    switch (thread.wait.kind) {
    case abi::WaitKind::BarrierArrive:
      arriveAtBarrier(thread);
      thread.status = ThreadStatus::Ready;
      continue; // does not wait
    case abi::WaitKind::Yield:
      block.launch->nobodyWaits = false;
      if (goesOn(thread)) continue;
      thread.status = ThreadStatus::Yielded;
      thread.asleep = roundsAway(thread);
      block.anyYields = true;
      return;
    case abi::WaitKind::None: // a step of lockstep
      thread.status = ThreadStatus::Ready;
      if (block.launch->nobodyWaits) continue;
      if (!thread.haste) return;
      --thread.haste;
      continue;
    default: thread.status = ThreadStatus::Waiting; return;
    }
  }
}

inline bool runnable(const ThreadState& thread) {
  return thread.status == ThreadStatus::Ready || thread.status == ThreadStatus::NotStarted;
}

} // namespace kcheck::runtime
