#include "instrument/runtime/api/attendant.h"

#include "instrument/runtime/api/later.h"
#include "instrument/runtime/core/fault.h"
#include "instrument/runtime/core/gate.h"
#include "instrument/runtime/core/launch.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <mutex>
#include <thread>

#include <pthread.h>

namespace kcheck::runtime::api {
namespace {

using namespace std::chrono_literals;

std::atomic<bool> called{false};

void* attend(void*) {
  constexpr auto shortest = std::chrono::microseconds(50), longest = std::chrono::microseconds(10'000);
  giveSignalStack();
  for (auto pause = longest / 4;;) {
    called.wait(false);
    std::this_thread::sleep_for(pause);
    if (!anythingLives()) {
      called = false;
      if (anythingLives()) called = true;
      continue;
    }
    if (!enterAsAttendant()) continue;
    const auto start = std::chrono::steady_clock::now();
    const bool moved = attendLaunches();
    leaveAsAttendant();
    const auto taken =
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start);
    pause = moved ? std::max(shortest, taken) : std::min(2 * pause, longest); // half a processor at most
  }
}

} // namespace

void callAttendant() {
  called = true;
  called.notify_one();
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  if (attendants() != 0) return;
  sigset_t others, before; // the program handles its signals itself
  sigfillset(&others);
  for (int fault : kFaults) sigdelset(&others, fault);
  pthread_sigmask(SIG_SETMASK, &others, &before);
  pthread_t thread;
  if (pthread_create(&thread, nullptr, attend, nullptr) == 0) {
    attendants() = 1;
    pthread_setname_np(thread, "kcheck host");
    pthread_detach(thread);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

} // namespace kcheck::runtime::api
