// The second worker: a thread that checks the logs of warps that have stopped (rows.h) while the first one
// runs device code. It checks them in the order in which the warps have stopped, so that everything is found
// that one worker finds, and nothing else. The shadow and what accesses cost are its own meanwhile;
// finishChecks() gives them back.
//
// A log that the fast way cannot settle stops it. The first worker then takes back what its warps have
// written since, from the logs, goes through that one by one, and lets the rest happen again.
#pragma once

#include "instrument/runtime/core/row_log.h"

#include <atomic>
#include <unordered_map>

#include <pthread.h>

namespace kcheck::runtime {

class Worker {
public:
  /// A warp of the launch has stopped.
  void meet(const LaunchState& launch);
  /// Whether that warp may be left to the worker.
  bool takes(const LaunchState& launch, const RowLog& log);
  /// Leaves the log to it, and says where the next warp logs.
  RowLog* take(LaunchState& launch, RowLog* log);
  /// Until everything is checked. `running`: what the warp that runs has logged so far, if anything.
  void finish(LaunchState& launch, RowLog* running);
  /// The launch has come to its end.
  void leave(LaunchState& launch);
  /// What the first worker may use after finish().
  RowChecks& checks() { return itsChecks; }

private:
  static constexpr std::uint32_t kMost = 16;          ///< logs that wait
  static constexpr std::size_t kMostBytes = 1u << 20; ///< of them all, unless it is one
  static constexpr std::uint64_t kFewest = 64; ///< a launch of fewer warps is not worth the handing over
  static constexpr std::uint64_t kLongest = 1u << 14;

  /// How fast a kernel's warps go by with one worker and with two. Light ones go faster with one where the
  /// processors lie far apart, since each log has to travel; so both are tried now and then.
  struct Pace {
    enum class Phase : std::uint8_t { Settled, Before, WarmUp, Trial } phase = Phase::Settled;
    bool shared = false;
    std::uint64_t left = kFewest; ///< warps until something else is tried
    std::uint64_t warps = 0, cycles = 0;
    std::uint64_t stretch = 1024; ///< warps between two trials
    double cost[2]{};             ///< cycles of a warp, by `shared`
    static constexpr std::size_t kParts = 4;
    std::vector<double> parts; ///< the same of the parts of a trial
    bool cutShort = false;     ///< the other thread has no processor
    void goOn();
  };

  enum class State : std::uint8_t { NotStarted, Running, Unusable };

  void start();
  void work();
  bool check(const RowLog& log);
  void waitForWork(std::uint64_t next);
  void waitFor(std::uint64_t finished);
  void addUp();
  void wake();
  void keepApart();
  void reclaim();
  bool isBehind(std::uint64_t number);
  void recover(RowLog* running);

  RowChecks itsChecks;
  SiteTraffics itsCounts;
  LaunchState* launch = nullptr;
  RowLog* waiting[kMost]{};
  alignas(64) std::atomic<std::uint64_t> handedOver = 0;
  std::atomic<bool> sleeps = false;
  alignas(64) std::atomic<std::uint64_t> checked = 0;
  std::atomic<bool> stuck = false; ///< at number `checked`
  // Of the first worker:
  alignas(64) std::uint64_t reclaimed = 0, finished = 0;
  std::size_t bytes = 0;       ///< of those not reclaimed
  std::vector<RowLog*> unused; ///< the last one first: it is in the cache
  RowChecks ownChecks;         ///< to count with
  State state = State::NotStarted;
  pthread_t thread{};
  int busy = -1; ///< the first worker's processor when the other one was woken
  bool recovering = false;
  std::uint64_t ofLaunch = 0;
  std::uint64_t alone = 0, pause = 0; ///< after a replay: warps to be checked by the first worker
  std::unordered_map<const KernelEntry*, Pace> paces;
  Pace* pace = nullptr;    ///< of the launch
  std::uint64_t since = 0; ///< the processor's clock when its cycles were last added up
};

Worker& worker();

} // namespace kcheck::runtime
