#include "analyzer/traffic/traffic.h"

#include "analyzer/traffic/access_walk.h"

#include <algorithm>

namespace kcheck::analyzer {
namespace {

constexpr std::uint64_t kMostWorkInAll = 1 << 25; ///< evaluations of single operations

/// Rounds of a loop that was written out are accesses of their own here, while the run takes the n-th access
/// of each lane together: the figures are the same where the rounds are of the same lanes.
bool areOfSameLanes(const AccessTraffic& one, const AccessTraffic& other) {
  if (one.lanesDiffer || other.lanesDiffer) return false;
  for (std::size_t warp = 0; warp < std::min(one.masks.size(), other.masks.size()); ++warp)
    if (one.masks[warp] && other.masks[warp] && one.masks[warp] != other.masks[warp]) return false;
  return true;
}

void markMixedRounds(std::vector<AccessTraffic>& accesses) {
  std::map<SiteId, const AccessTraffic*> first;
  std::set<SiteId> mixed;
  for (const AccessTraffic& one : accesses) {
    const auto [entry, isNew] = first.try_emplace(one.metric.site, &one);
    if (!isNew && !areOfSameLanes(*entry->second, one)) mixed.insert(one.metric.site);
  }
  for (AccessTraffic& one : accesses) {
    one.metric.isExact = one.metric.isExact && !mixed.count(one.metric.site);
    one.masks.clear();
  }
}

bool isConcrete(const KernelModel& model) {
  for (int axis = 0; axis < 3; ++axis)
    for (Expr e : {model.blockDim[axis], model.gridDim[axis]})
      if (!e || !isConst(e) || e->value < 1) return false;
  return true;
}

/// Sites with accesses on both sides of a grid barrier, in a loop around it say, which one count would take
/// twice.
std::set<SiteId> sitesOfSeveral(const std::vector<Phase>& phases) {
  std::map<SiteId, const Phase*> known;
  std::set<SiteId> several;
  for (const Phase& phase : phases)
    for (const ModelAccess& access : phase.accesses)
      if (known.try_emplace(access.site, &phase).first->second != &phase) several.insert(access.site);
  return several;
}

/// Empty when the access is counted, or of no interest; else what is not known.
std::string countAccess(const KernelModel& model, const ModelAccess& access, bool isExact,
                        std::uint64_t& work, LaunchTraffic& traffic) {
  const MemoryObject& object = model.objects[access.object];
  if (object.isUnknown) return "where the pointer leads";
  if (!access.size || !isConst(access.size) || access.size->value <= 0) return "how much is copied";
  if (object.space == MemorySpace::Local) return "";
  AccessWalk walk(model, access, object.space, std::uint32_t(access.size->value));
  if (std::string why = walk.prepare(work); !why.empty()) return why;
  AccessTraffic one = walk.walk();
  one.metric.kernel = model.kernel->symbol;
  one.metric.site = access.site;
  one.metric.where = access.where;
  one.metric.access = access.kind;
  one.metric.space = object.space;
  one.metric.source = Source::Static;
  one.metric.isExact = one.isWhole && !one.mixesRounds && isExact && object.isPlaced;
  traffic.accesses.push_back(std::move(one));
  return "";
}

} // namespace

std::optional<LaunchTraffic> trafficOf(const KernelModel& model, bool lanesMayPart) {
  if (!isConcrete(model)) return std::nullopt;
  const std::set<SiteId> several = sitesOfSeveral(model.gridPhases);
  const bool isExact = !lanesMayPart && model.gridPhases.size() == 1;
  LaunchTraffic traffic;
  std::uint64_t work = kMostWorkInAll;
  for (const Phase& phase : model.gridPhases)
    for (const ModelAccess& access : phase.accesses) {
      if (access.site == kNoSite || access.object >= model.objects.size()) continue;
      std::string why = several.contains(access.site) ? "on which side of a grid barrier it is"
                                                      : countAccess(model, access, isExact, work, traffic);
      if (!why.empty()) traffic.open.try_emplace(access.site, std::move(why));
    }
  markMixedRounds(traffic.accesses);
  return traffic;
}

} // namespace kcheck::analyzer
