#include "instrument/runtime/core/company.h"

#include "instrument/runtime/core/context.h"

#include <algorithm>
#include <map>
#include <utility>

namespace kcheck::runtime {
namespace {

struct Company {
  std::vector<std::unique_ptr<LaunchState>> states;
  std::vector<LaunchState*> unused;
  std::vector<LaunchState*> live;               ///< set aside, oldest first
  std::map<std::uint64_t, std::uint64_t> ended; ///< by stream, the last one: the host may not know of it yet
  bool exists = false;
  SharedOrder order;          ///< while none of them runs
  Token first = 0;            ///< of the oldest
  std::uint64_t launches = 0; ///< numbers given
};

Company& company() {
  static Company* instance = new Company;
  return *instance;
}

/// So many owners of tokens or sets of readers, and what flags have ordered among those that have ended is
/// forgotten.
constexpr std::size_t kMost = std::size_t{1} << 20;

void begin(const LaunchState& launch) {
  Company& all = company();
  context().epochs.beginCompany(launch.first, launch.blockThreads);
  all.exists = true;
  all.first = launch.first;
  all.launches = 1;
}

void take(LaunchState& launch) { static_cast<SharedOrder&>(launch) = std::exchange(company().order, {}); }

void putBack(LaunchState& launch) { company().order = std::exchange(static_cast<SharedOrder&>(launch), {}); }

/// Everything that begins from now on comes after those that have ended.
bool areEndedKnown() {
  return std::ranges::all_of(company().ended,
                             [](auto one) { return context().streams.allKnow(one.first, one.second); });
}

} // namespace

LaunchState& takeState() {
  Company& all = company();
  if (all.unused.empty()) return *all.states.emplace_back(std::make_unique<LaunchState>());
  LaunchState& last = *all.unused.back();
  all.unused.pop_back();
  return last;
}

void giveBack(LaunchState& launch) {
  launch.grid.reset();
  company().unused.push_back(&launch);
}

const std::vector<std::unique_ptr<LaunchState>>& allStates() { return company().states; }

const std::vector<LaunchState*>& liveLaunches() { return company().live; }

void endCompany() {
  Company& all = company();
  if (!all.exists) return;
  context().readSetsUsed += static_cast<std::uint32_t>(all.order.readSets.size());
  context().epochs.endCompany();
  all.order = {};
  all.ended.clear();
  all.exists = false;
}

bool joinCompany(LaunchState& launch) {
  Company& all = company();
  launch.firstBlock = 0;
  const std::size_t size = std::max(context().epochs.owners(), all.order.readSets.size());
  const bool isLarge = size > kMost && !launch.rehearsal;
  if (all.exists && all.live.empty() && (isLarge || areEndedKnown())) endCompany();
  if (launch.readSets.empty()) launch.firstReadSet = context().readSetsUsed;
  if (!all.exists) return false;
  context().epochs.joinCompany(launch.blockThreads);
  launch.firstBlock = std::min(all.launches++, kNoLaunch - 1) << kLaunchShift;
  launch.first = all.first;
  take(launch);
  return true;
}

void setAside(LaunchState& launch) {
  Company& all = company();
  if (!all.exists) begin(launch);
  launch.inCompany = true;
  launch.quiet = {};
  launch.place = context().streams.running();
  all.live.push_back(&launch);
  endTurn(launch);
}

void takeTurn(LaunchState& launch) {
  take(launch);
  context().streams.resume(launch.place, context().epochs.now());
}

void endTurn(LaunchState& launch) {
  putBack(launch);
  context().streams.pause(context().epochs.now());
}

bool mayOrderOthers(const LaunchState& launch) {
  return launch.tracksSync && !context().streams.onlyLegacy() && !launch.words.empty();
}

void leaveCompany(LaunchState& launch) {
  Company& all = company();
  if (!launch.inCompany) {
    if (!mayOrderOthers(launch)) return;
    begin(launch);
  }
  std::erase(all.live, &launch);
  all.ended[launch.config.stream] = launch.sequence;
  putBack(launch);
}

SharedOrder orderBefore(const LaunchState& launch) {
  return launch.inCompany ? static_cast<const SharedOrder&>(launch) : SharedOrder{};
}

void repeatInCompany(LaunchState& launch, const SharedOrder& before) {
  if (!launch.inCompany) return;
  SharedOrder& order = company().order;
  order = before;
  order.readSets = std::exchange(launch.readSets, {}); // their numbers are in the shadow
  order.firstReadSet = launch.firstReadSet;
}

void tellHost() {
  Company& all = company();
  if (all.exists) context().hostKnows.add(all.order.published, all.first, 0, true);
}

} // namespace kcheck::runtime
