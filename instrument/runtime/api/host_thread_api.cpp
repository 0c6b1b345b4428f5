// Threads that the program starts, also by std::thread and std::async: what each knows when it begins is what
// its creator knew. Where the program has code that kcheck has not compiled, or sanitizers, which want the
// same function, threads are not followed.
#include "instrument/runtime/core/gate.h"
#include "instrument/runtime/core/host_threads.h"

#include <memory>

#include <dlfcn.h>
#include <pthread.h>

namespace {

using namespace kcheck::runtime;

struct Start {
  void* (*function)(void*);
  void* argument;
  HostThread number;
};

void* run(void* data) {
  const Start start = *std::unique_ptr<Start>(static_cast<Start*>(data));
  const FollowedThread followed(start.number);
  return start.function(start.argument);
}

} // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                              void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  if (!hostThreadsAreFollowed() || isInRuntime()) return create(thread, attributes, function, argument);
  Start* start = std::make_unique<Start>(Start{function, argument, startHostThread()}).release();
  const int error = create(thread, attributes, run, start);
  if (error) {
    const std::unique_ptr<Start> unused(start);
    forgetHostThread(unused->number);
  }
  return error;
}
