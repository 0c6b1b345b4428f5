#include "instrument/runtime/api/later.h"

#include "instrument/runtime/api/attendant.h"
#include "instrument/runtime/api/errors.h"
#include "instrument/runtime/api/graph_run.h"
#include "instrument/runtime/core/host_guard.h"
#include "instrument/runtime/core/host_threads.h"
#include "instrument/runtime/core/launch.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <deque>
#include <thread>

namespace kcheck::runtime::api {
namespace {

using namespace std::chrono_literals;

struct PutOff {
  cuda::Stream* stream;
  Work work;
};

struct Later {
  std::deque<PutOff> works;                      ///< in the order in which the program has asked for them
  std::vector<std::shared_ptr<GraphRun>> graphs; ///< that have begun, oldest first
  std::vector<std::unique_ptr<cuda::Stream>> kept;
  void clear() {
    works.clear();
    graphs.clear();
  }
  std::atomic<bool> lives{false};
};

/// Under StreamTable::working.
Later& later() {
  static Later* instance = new Later; // outlives every exit handler
  return *instance;
}

const cuda::Event* eventOf(const Work& work, bool wait) {
  const auto* event = std::get_if<EventWork>(&work);
  return event && event->wait == wait ? event->event : nullptr;
}

/// Whether something before the one at `end` has to be done first. What cannot be performed was put off
/// before.
bool waits(const cuda::Stream& stream, const Work* work, std::size_t end) {
  if (isSetAside(stream.id)) return true;
  if (std::ranges::any_of(later().graphs,
                          [&](const auto& run) { return streamsWait(run->stream(), stream.id); }))
    return true;
  const cuda::Event* awaited = work ? eventOf(*work, true) : nullptr;
  return std::any_of(later().works.begin(), later().works.begin() + static_cast<std::ptrdiff_t>(end),
                     [&](const PutOff& before) {
                       return streamsWait(before.stream->id, stream.id) ||
                              (awaited && eventOf(before.work, false) == awaited);
                     });
}

/// A node of a graph. Launches of one graph follow each other.
bool advanceGraph() {
  std::vector<std::shared_ptr<GraphRun>>& graphs = later().graphs;
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    const std::shared_ptr<GraphRun> run = graphs[i];
    const auto before =
        std::ranges::find_if(graphs, [&](const auto& other) { return other->isOf(run->whole()); });
    if (*before != run || !run->advance()) continue;
    if (run->isOver()) std::erase(graphs, run);
    return true;
  }
  return false;
}

bool performOne() {
  const ForAllThreads knowing; // whoever has asked for it is somewhere else by now
  if (advanceGraph()) return true;
  std::deque<PutOff>& works = later().works;
  for (std::size_t i = 0; i < works.size(); ++i) {
    if (waits(*works[i].stream, &works[i].work, i)) continue;
    PutOff next = std::move(works[i]);
    works.erase(works.begin() + static_cast<std::ptrdiff_t>(i));
    orderWithLegacy(*next.stream);
    perform(next.work, next.stream->id);
    return true;
  }
  return false;
}

bool nothingLives() { return !anySetAside() && later().works.empty() && later().graphs.empty(); }

enum class Patience { UntilNobodyMoves, ToTheEnd };

/// False: it is not done, and nothing goes on.
template <class Done> bool goOnUntil(Done&& done, Patience patience) {
  std::lock_guard lock(streamTable().working);
  heartenLaunches();
  const DeviceAccess access;
  bool isDone = false;
  while (true) {
    while (!deviceFaulted() && performOne()) {
    }
    if (deviceFaulted()) later().clear();
    isDone = done();
    if (isDone || !anySetAside()) break;
    const GoOn standing = goOnWithLaunches();
    raiseErrorsOfLaunches();
    if (standing == GoOn::Exhausted) break;
    if (standing == GoOn::Polls && patience == Patience::UntilNobodyMoves) break;
  }
  leaveLaunches();
  noteWhatLives();
  return isDone || done();
}

/// What the other threads of the program have worked so far.
std::chrono::nanoseconds workOfOthers() {
  auto on = [](clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
  };
  return on(CLOCK_PROCESS_CPUTIME_ID) - on(CLOCK_THREAD_CPUTIME_ID);
}

/// Another thread of the program may still do what is waited for: some time is given it, more where it is
/// busy.
template <class Done> bool waitForOthers(Done&& done) {
  constexpr auto idle = 3s, most = 20s;
  const auto start = std::chrono::steady_clock::now();
  auto lastWork = start;
  std::chrono::nanoseconds worked = workOfOthers();
  while (programHasOtherThreads()) {
    std::this_thread::sleep_for(1ms);
    if (goOnUntil(done, Patience::UntilNobodyMoves)) return true;
    const auto now = std::chrono::steady_clock::now();
    if (const auto more = workOfOthers(); more - worked > 100us) {
      worked = more;
      lastWork = now;
    }
    if (now - lastWork > idle || now - start > most) break;
  }
  return false;
}

template <class Done> void wait(Done&& done, std::uint64_t stream) {
  if (goOnUntil(done, Patience::ToTheEnd) || deviceFaulted() || waitForOthers(done)) return;
  std::lock_guard lock(streamTable().working);
  giveUpLaunches(stream);
  raiseErrorsOfLaunches();
  later().clear();
  noteWhatLives();
}

} // namespace

bool anythingLives() { return later().lives.load(std::memory_order_relaxed); }

void noteWhatLives() {
  const bool lives = !nothingLives(), before = later().lives.exchange(lives);
  if (lives && !before) callAttendant();
}

void performGraph(std::shared_ptr<const cuda::Graph> graph, std::uint64_t stream) {
  const bool isFirst =
      std::ranges::none_of(later().graphs, [&](const auto& other) { return other->isOf(*graph); });
  auto run = std::make_shared<GraphRun>(std::move(graph), stream);
  later().graphs.push_back(run);
  if (!isFirst) return;
  while (!deviceFaulted() && !run->isOver() && run->advance()) {
  }
  if (run->isOver() || deviceFaulted()) std::erase(later().graphs, run);
}

bool putOff(cuda::Stream& stream, Work& work) {
  goOn();
  if (!waits(stream, &work, later().works.size())) return false;
  keepArguments(work);
  later().works.push_back({&stream, std::move(work)});
  noteWhatLives();
  return true;
}

void goOn() { goOnUntil(nothingLives, Patience::UntilNobodyMoves); }

bool attendLaunches() {
  const std::uint64_t before = launchesMoved();
  goOn();
  hostKnowsAll();
  return launchesMoved() != before;
}

bool isBusy(const cuda::Stream& stream) {
  std::lock_guard lock(streamTable().working);
  return waits(stream, nullptr, later().works.size());
}

bool isBusy(const cuda::Event& event) {
  std::lock_guard lock(streamTable().working);
  return std::ranges::any_of(later().works,
                             [&](const PutOff& work) { return eventOf(work.work, false) == &event; });
}

void waitFor(cuda::Stream& stream) {
  if (anythingLives()) wait([&] { return !isBusy(stream); }, stream.id);
}

void waitFor(cuda::Event& event) {
  if (!anythingLives()) return;
  std::unique_lock lock(streamTable().working);
  const auto record = std::ranges::find_if(
      later().works, [&](const PutOff& work) { return eventOf(work.work, false) == &event; });
  if (record == later().works.end()) return;
  const std::uint64_t stream = record->stream->id;
  lock.unlock();
  wait([&] { return !isBusy(event); }, stream);
}

void waitForAll() {
  if (anythingLives()) wait(nothingLives, kEveryStream);
}

void tryToEndAll() {
  if (anythingLives()) goOnUntil(nothingLives, Patience::ToTheEnd);
}

void keep(std::unique_ptr<cuda::Stream> stream) {
  if (anythingLives()) later().kept.push_back(std::move(stream));
}

void dropAll() {
  tryToEndAll();
  std::lock_guard lock(streamTable().working);
  later().clear();
  dropLaunches();
  noteWhatLives();
}

} // namespace kcheck::runtime::api
