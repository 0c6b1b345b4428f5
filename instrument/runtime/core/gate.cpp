#include "instrument/runtime/core/gate.h"

#include <pthread.h>
#include <sched.h>

namespace kcheck::runtime {
namespace {

std::atomic<unsigned> inside{0}, ownThreads{0};
std::atomic<bool> attending{false};
thread_local bool attends = false;
thread_local unsigned depth = 0;

} // namespace

InRuntime::InRuntime() {
  ++depth;
  if (attends) return; // a function of the program that it calls
  inside.fetch_add(1);
  while (attending.load()) sched_yield();
}

InRuntime::~InRuntime() {
  --depth;
  if (!attends) inside.fetch_sub(1);
}

bool isInRuntime() { return attends || depth; }

bool isAttendant() { return attends; }

bool enterAsAttendant() {
  attends = true;
  attending = true;
  if (inside.load() == 0) return true;
  attending = false;
  return false;
}

void leaveAsAttendant() { attending = false; }

std::atomic<unsigned>& attendants() {
  static const int registered = pthread_atfork(nullptr, nullptr, [] { // a child has one thread
    ownThreads = 0;
    attending = false;
  });
  static_cast<void>(registered);
  return ownThreads;
}

} // namespace kcheck::runtime
