#include "instrument/runtime/core/host_threads.h"

#include "instrument/runtime/core/context.h"

#include <utility>

namespace kcheck::runtime {
namespace {

std::atomic<HostThread> numbers{0};
thread_local HostThread number = 0;
thread_local std::uint64_t heard = 0; ///< Streams::waitsSoFar() when the thread last learnt of others

} // namespace

HostThread thisHostThread() { return number; }

HostThread startHostThread() {
  Streams& streams = context().streams;
  // The first thread is followed from here on. One that is not followed may have started this one.
  if (!number && numbers == 0) {
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

ForAllThreads::ForAllThreads() : before(std::exchange(number, 0)) {}

ForAllThreads::~ForAllThreads() { number = before; }

void hostThreadLearns() {
  if (!number) return;
  Streams& streams = context().streams;
  const std::uint64_t now = streams.waitsSoFar();
  if (std::exchange(heard, now) != now) streams.learns(number);
}

} // namespace kcheck::runtime
