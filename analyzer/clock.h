// Time that the analysis itself has used: budgets count this, not the hours of the day, so that what a busy
// machine proves is what an idle one proves.
#pragma once

#include <ctime>

namespace kcheck::analyzer {

/// Seconds of processor time that the calling thread has used.
inline double threadSeconds() {
  struct timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

} // namespace kcheck::analyzer
