#include "instrument/runtime/core/host_threads.h"

#include "instrument/runtime/core/context.h"

#include <utility>

extern "C" {
[[gnu::weak]] extern const char kcheckOnlyOwnCode; ///< of the linker's: pass/link.cpp
[[gnu::weak]] extern const char kcheckLoadsCode;   ///< frontend/host_learning.cpp
}

namespace kcheck::runtime {
namespace {

std::atomic<HostThread> numbers{0};
thread_local HostThread number = 0;
thread_local bool standsForAll = false;
thread_local std::uint64_t heard = 0; ///< Streams::waitsSoFar() when the thread last learnt of others

} // namespace

bool hostThreadsAreFollowed() { return &kcheckOnlyOwnCode && !&kcheckLoadsCode; }

HostThread thisHostThread() { return number; }

HostThread startHostThread() {
  Streams& streams = context().streams;
  // The first thread is followed from here on. One that is not followed may have started this one.
  if (!number && numbers == 0 && !standsForAll) {
    number = ++numbers;
    heard = streams.waitsSoFar();
    streams.enter(number, 0);
  }
  const HostThread started = ++numbers;
  streams.enter(started, number);
  return started;
}

FollowedThread::FollowedThread(HostThread own) { number = own; }

FollowedThread::~FollowedThread() { forgetHostThread(std::exchange(number, 0)); }

void forgetHostThread(HostThread own) { context().streams.leave(own); }

ForAllThreads::ForAllThreads()
    : before(std::exchange(number, 0)), stoodForAll(std::exchange(standsForAll, true)) {}

ForAllThreads::~ForAllThreads() {
  number = before;
  standsForAll = stoodForAll;
}

AsCalledThread::AsCalledThread() : before(0), heardBefore(0) {
  if (!hostThreadsAreFollowed() || standsForAll) return;
  const HostThread called = startHostThread(); // follows the calling one if it is the first
  if (!number) {
    forgetHostThread(called);
    return;
  }
  before = std::exchange(number, called);
  heardBefore = std::exchange(heard, context().streams.waitsSoFar());
}

AsCalledThread::~AsCalledThread() {
  if (!before) return;
  forgetHostThread(std::exchange(number, before));
  heard = heardBefore;
}

void hostThreadLearns() {
  if (!number) return;
  Streams& streams = context().streams;
  const std::uint64_t now = streams.waitsSoFar();
  if (std::exchange(heard, now) != now) streams.learns(number);
}

} // namespace kcheck::runtime
