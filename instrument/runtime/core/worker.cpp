#include "instrument/runtime/core/worker.h"

#include "instrument/runtime/core/metrics.h"

#include <algorithm>
#include <csignal>
#include <thread>

#include <pthread.h>
#include <sched.h>
#include <x86intrin.h>

namespace kcheck::runtime {
namespace {

constexpr unsigned kPatience = 4000; ///< turns; the other thread may have no processor

/// One turn of a loop that waits for the other thread.
void relax(unsigned& turns) {
  if (++turns < kPatience)
    _mm_pause();
  else
    std::this_thread::yield();
}

/// Lines of a log that the other thread has used last are far away: all of them are asked for at once.
template <int toWrite> void fetch(const RowLog& log, std::size_t bytes) {
  constexpr std::size_t line = 64, most = 1 << 15;
  const auto* at = reinterpret_cast<const char*>(log.rows);
  for (std::size_t offset = 0; offset < std::min(bytes, most); offset += line)
    __builtin_prefetch(at + offset, toWrite);
}

/// The block as it was then, for as long as this lives.
class Then {
public:
  explicit Then(RowLog& log) : block(log.lanes->owner()), now(block) { log.moment->apply(block); }
  ~Then() { now.apply(block); }
  Then(const Then&) = delete;
  Then& operator=(const Then&) = delete;

private:
  BlockState& block;
  BlockMoment now;
};

/// The checked program handles its signals itself, on threads that it knows.
class NoSignals {
public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

private:
  sigset_t before;
};

} // namespace

Worker& worker() {
  static Worker* instance = new Worker;
  return *instance;
}

void Worker::start() {
  state = State::Unusable;
  if (std::thread::hardware_concurrency() < 2) return;
  static Worker* const self = this;
  NoSignals masked;
  auto body = [](void*) -> void* {
    self->work();
    return nullptr;
  };
  if (pthread_create(&thread, nullptr, body, nullptr) != 0) return;
  pthread_setname_np(thread, "kcheck checks");
  pthread_detach(thread);
  keepApart();
  pthread_atfork(nullptr, nullptr, [] { self->state = State::Unusable; }); // a child has one thread
  state = State::Running;
}

void Worker::meet(const LaunchState& of) {
  if (ofLaunch == of.number) return;
  ofLaunch = of.number;
  itsChecks.tried = itsChecks.failed = 0;
  itsChecks.known.forget();
  alone = 0;
  pause = kFewest;
  pace = &paces[of.kernel];
  since = __rdtsc();
}

void Worker::leave(LaunchState& of) {
  finish(of, nullptr);
  if (ofLaunch == of.number && pace) addUp();
}

void Worker::addUp() {
  std::uint64_t now = __rdtsc();
  pace->cycles += now - since;
  since = now;
}

/// What comes after the stretch that has just ended.
void Worker::Pace::goOn() {
  constexpr std::uint64_t part = 64, longest = 1u << 16;
  constexpr double worth = 20; ///< what has lost may have cost one part in so many
  double passed = double(cycles), each = passed / double(std::max<std::uint64_t>(warps, 1));
  cycles = warps = 0;
  left = part;
  if (phase == Phase::Settled || phase == Phase::WarmUp) {
    phase = phase == Phase::Settled ? Phase::Before : Phase::Trial;
    parts.clear();
    return;
  }
  parts.push_back(each);
  if (parts.size() < kParts && !cutShort) return;
  // Not the fastest part, by luck, nor those in which the machine did something else.
  std::sort(parts.begin(), parts.end());
  cost[shared] = parts[std::min<std::size_t>(1, parts.size() - 1)];
  if (phase == Phase::Before && !cutShort) {
    shared = !shared;
    phase = Phase::WarmUp;
    return;
  }
  if (cutShort || cost[shared] >= cost[!shared]) shared = !shared;
  phase = Phase::Settled;
  left = std::max(stretch, cutShort ? std::uint64_t(worth * passed / (cost[shared] + 1)) : 0);
  stretch = std::min(2 * stretch, longest);
  cutShort = false;
}

bool Worker::takes(const LaunchState& of, const RowLog& log) {
  const RuntimeOptions& options = context().options;
  if (options.jobs < 2 || state == State::Unusable || log.spills || of.steps) return false;
  if (alone) return --alone, false;
  if (!pace->left) {
    addUp();
    pace->goOn();
  }
  --pace->left;
  ++pace->warps;
  if (!pace->shared && !options.eager) return false;
  if (state == State::NotStarted) start();
  return state == State::Running;
}

RowLog* Worker::take(LaunchState& of, RowLog* log) {
  log->close();
  launch = &of;
  std::uint64_t number = handedOver.load(std::memory_order_relaxed);
  if (of.accesses && isBehind(number)) {
    checkRows(of, ownChecks, *log, *log->window, false, &of.traffic);
    log->counted = true;
  }
  waiting[number % kMost] = log;
  bytes += log->bytes;
  handedOver.store(number + 1, std::memory_order_release);
  if (sleeps.load(std::memory_order_relaxed)) wake(); // it may fall asleep just now: waitFor() looks again
  if (unused.empty()) reclaim();
  while (number + 1 - reclaimed >= kMost || (number + 1 - reclaimed > 1 && bytes > kMostBytes)) {
    waitFor(reclaimed + 1);
    if (stuck.load(std::memory_order_acquire)) recover(nullptr);
    reclaim();
  }
  if (unused.empty()) unused.push_back(new RowLog);
  RowLog* next = unused.back();
  unused.pop_back();
  fetch<1>(*next, log->bytes);
  return next;
}

void Worker::finish(LaunchState& of, RowLog* running) {
  if (state != State::Running || recovering || finished == handedOver.load(std::memory_order_relaxed)) return;
  waitFor(handedOver.load(std::memory_order_relaxed));
  if (stuck.load(std::memory_order_acquire)) recover(running);
  reclaim();
  finished = reclaimed;
  moveTraffic(itsCounts, of.traffic);
}

/// The worker has so much to do that counting is left to the first one.
bool Worker::isBehind(std::uint64_t number) {
  if (number - reclaimed > kMost / 2) reclaim();
  return number - reclaimed > kMost / 2;
}

void Worker::wake() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!sleeps.load()) return;
  keepApart();
  handedOver.notify_one();
}

/// Who wakes another thread likes to have it on its own processor, which is the one that is busy.
void Worker::keepApart() {
  int here = sched_getcpu();
  cpu_set_t processors;
  if (here == busy || sched_getaffinity(0, sizeof processors, &processors) != 0) return;
  busy = here;
  if (CPU_COUNT(&processors) < 2) return;
  CPU_CLR(static_cast<unsigned>(here), &processors);
  pthread_setaffinity_np(thread, sizeof processors, &processors);
}

/// Until so many are checked, or one cannot be.
void Worker::waitFor(std::uint64_t finished) {
  if (checked.load(std::memory_order_acquire) >= finished) return;
  wake();
  constexpr std::uint64_t tooLong = 2'000'000; // cycles: it has no processor
  std::uint64_t start = __rdtsc();
  unsigned turns = 0;
  while (checked.load(std::memory_order_acquire) < finished && !stuck.load(std::memory_order_acquire))
    relax(turns);
  if (__rdtsc() - start <= tooLong) return;
  pace->left = 0;
  pace->cutShort = pace->phase == Pace::Phase::Before || pace->phase == Pace::Phase::Trial;
}

/// Logs that are checked can be used again.
void Worker::reclaim() {
  for (std::uint64_t end = checked.load(std::memory_order_acquire); reclaimed < end; ++reclaimed) {
    RowLog* log = waiting[reclaimed % kMost];
    bytes -= log->bytes;
    unused.push_back(log);
  }
}

/// The worker stands still at a log that needs a replay: that and all later ones are checked here and now.
void Worker::recover(RowLog* running) {
  std::uint64_t first = checked.load(std::memory_order_acquire),
                end = handedOver.load(std::memory_order_relaxed);
  recovering = true;
  if (running) takeBack(*running);
  for (std::uint64_t number = end; --number > first;) takeBack(*waiting[number % kMost]);
  for (std::uint64_t number = first; number < end; ++number) {
    RowLog& log = *waiting[number % kMost];
    if (number > first) doAgain(log);
    if (number > first && check(log)) continue;
    Then then(log);
    replay(log);
  }
  if (running) doAgain(*running);
  recovering = false;
  alone = context().options.eager ? 0 : pause;
  pause = std::min(2 * pause, kLongest);
  checked.store(end, std::memory_order_release);
  stuck.store(false, std::memory_order_release);
}

bool Worker::check(const RowLog& log) {
  return tryRows(*launch, itsChecks, log, *log.window,
                 launch->accesses && !log.counted ? &itsCounts : nullptr);
}

/// The body of its thread.
void Worker::work() {
  for (std::uint64_t next = 0;;) {
    waitForWork(next);
    if (handedOver.load(std::memory_order_acquire) > next + 1) {
      const RowLog& coming = *waiting[(next + 1) % kMost];
      fetch<0>(coming, coming.bytes);
    }
    if (check(*waiting[next % kMost])) {
      checked.store(++next, std::memory_order_release);
      continue;
    }
    stuck.store(true, std::memory_order_release);
    for (unsigned turns = 0; stuck.load(std::memory_order_acquire);) relax(turns);
    next = checked.load(std::memory_order_acquire);
  }
}

void Worker::waitForWork(std::uint64_t next) {
  for (unsigned turns = 0; turns < kPatience;) {
    if (handedOver.load(std::memory_order_acquire) > next) return;
    relax(turns);
  }
  sleeps.store(true);
  while (handedOver.load() <= next) handedOver.wait(next);
  sleeps.store(false);
}

} // namespace kcheck::runtime
