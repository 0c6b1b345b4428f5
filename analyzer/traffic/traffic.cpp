#include "analyzer/traffic/traffic.h"

#include "analyzer/expr/range.h"
#include "analyzer/traffic/cost.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace kcheck::analyzer {
namespace {

constexpr std::uint64_t kMostRequests = 1 << 14; ///< of one access; more are sampled
constexpr std::uint64_t kMostWork = 1 << 22;     ///< evaluations of single operations, for one access
constexpr std::uint64_t kMostWorkInAll = 1 << 25;
constexpr std::uint64_t kMostSteps = 1 << 20; ///< that a counter may take

/// Values of one axis (blocks along x, a counter) with how many each stands for.
struct Axis {
  std::int64_t first = 0;
  std::uint64_t count = 1, taken = 1;
  std::int64_t value(std::uint64_t i) const {
    if (taken == count || i == 0) return first + std::int64_t(i);
    if (i + 1 == taken) return first + std::int64_t(count) - 1;
    // One value of each stretch, at changing distances from its start: strides in the data have no beat.
    const std::uint64_t inner = count - 2, from = (i - 1) * inner / (taken - 2), to = i * inner / (taken - 2);
    return first + 1 + std::int64_t(from + (i * 5 + 3) % std::max<std::uint64_t>(1, to - from));
  }
  double weight(std::uint64_t i) const {
    if (taken == count || i == 0 || i + 1 == taken) return 1;
    const std::uint64_t inner = count - 2, from = (i - 1) * inner / (taken - 2), to = i * inner / (taken - 2);
    return double(to - from);
  }
  bool isSampled() const { return taken != count; }
};

/// One warp's request: who takes part, and where.
struct Request {
  std::uint32_t mask = 0;
  LaneProgram::Row offsets;
  double weight = 1;
};

class AccessWalk {
public:
  AccessWalk(const KernelModel& model, const ModelAccess& access, MemorySpace space, std::uint32_t bytes)
      : model(model), lanes(model, {access.offset, access.condition}), space(space), bytes(bytes) {
    result.access = &access;
  }

  /// Empty, or why the traffic is not known. Takes what it needs from `work`.
  std::string prepare(std::uint64_t& work) {
    if (!lanes.unknown().empty()) return lanes.unknown();
    mostRequests = std::min(kMostRequests, std::max<std::uint64_t>(64, kMostWork / lanes.size()));
    Ranges ranges;
    bool possible = ranges.assume(result.access->condition);
    for (Expr fact : model.facts) possible = possible && ranges.assume(fact);
    for (int axis = 0; axis < 3; ++axis) blocks[axis].count = std::uint64_t(model.gridDim[axis]->value);
    if (!possible) { // nobody gets here
      isNever = true;
      return "";
    }
    orderCounters();
    for (const Symbol* counter : lanes.counters()) {
      Range range{counter->lo, counter->hi, ~0ULL};
      if (Expr node = nodeOf(counter)) range = ranges.of(node);
      if (range.hi < range.lo || range.hi - range.lo >= Int(kMostSteps))
        return "how often the loop with `" + counter->name + "` goes round";
      counters.push_back({std::int64_t(range.lo), std::uint64_t(range.hi - range.lo + 1), 1});
    }
    const Dim3 block{axisOf(model.blockDim[0]), axisOf(model.blockDim[1]), axisOf(model.blockDim[2])};
    warps = (block.volume() + LaneProgram::kLanes - 1) / LaneProgram::kLanes;
    if (!chooseSamples()) return "how many rounds a loop goes";
    if (cost > work) return "the time that it takes to look at every warp";
    work -= cost;
    return "";
  }

  AccessTraffic walk() {
    if (isNever) {
      result.everyThread = false;
      result.idleBlocks = blocks[0].count * blocks[1].count * blocks[2].count;
      return result;
    }
    result.isLooped = !counters.empty();
    for (std::uint64_t z = 0; z < blocks[2].taken; ++z)
      for (std::uint64_t y = 0; y < blocks[1].taken; ++y)
        for (std::uint64_t x = 0; x < blocks[0].taken; ++x) {
          lanes.setBlock({std::uint32_t(blocks[0].value(x)), std::uint32_t(blocks[1].value(y)),
                          std::uint32_t(blocks[2].value(z))});
          const double weight = blocks[0].weight(x) * blocks[1].weight(y) * blocks[2].weight(z);
          bool active = false;
          for (unsigned warp = 0; warp < warps; ++warp) active |= walkWarp(warp, weight);
          (active ? result.blocks : result.idleBlocks) += std::uint64_t(std::llround(weight));
        }
    settle();
    if (result.everyThread && !result.isLooped) lookFurther();
    return result;
  }

private:
  bool holdsIn(const Dim3& block, std::uint64_t arrayBytes) {
    lanes.setBlock(block);
    for (unsigned warp = 0; warp < warps; ++warp) {
      lanes.setWarp(warp);
      const LaneProgram::Row holds = lanes.values(1), offsets = lanes.values(0);
      for (unsigned lane = 0; lane < lanes.lanes(); ++lane)
        if (holds[lane] && offsets[lane] >= 0 && std::uint64_t(offsets[lane]) + bytes <= arrayBytes)
          return true;
    }
    return false;
  }

  /// A guard that lets blocks through which the launch does not have: it ends too early.
  void lookFurther() {
    const std::optional<std::uint64_t> arrayBytes = model.objects[result.access->object].bytes;
    if (!arrayBytes) return;
    constexpr std::uint64_t kBeyondAnyGuard = 1 << 30; // threads; products stay within 31 bits
    for (unsigned axis = 0; axis < 3; ++axis) {
      Dim3 next{0, 0, 0}, last{0, 0, 0};
      std::uint32_t* const indices[] = {&next.x, &next.y, &next.z, &last.x, &last.y, &last.z};
      *indices[axis] = std::uint32_t(blocks[axis].count);
      *indices[axis + 3] = std::uint32_t(kBeyondAnyGuard / std::uint64_t(model.blockDim[axis]->value));
      if (holdsIn(next, *arrayBytes) && !holdsIn(last, *arrayBytes)) result.furtherAxes |= 1U << axis;
    }
  }

  /// Counters that threads go through on their own come first, the inner ones of them before those around
  /// them (which are made first): what comes first changes fastest.
  void orderCounters() {
    lanes.sortCounters([](const Symbol* a, const Symbol* b) {
      return a->varies != b->varies ? a->varies > b->varies : a->id > b->id;
    });
    ownCounters = std::size_t(std::count_if(lanes.counters().begin(), lanes.counters().end(),
                                            [](const Symbol* s) { return s->varies == Varies::ByThread; }));
  }

  static std::uint32_t axisOf(Expr e) { return std::uint32_t(e->value); }

  Expr nodeOf(const Symbol* symbol) const {
    Expr found = nullptr;
    for (Expr root : {result.access->condition, result.access->offset})
      if (!found)
        anyNode(root, [&](Expr n) {
          if (n->op == Op::Symbol && n->symbol == symbol) found = n;
          return found != nullptr;
        });
    return found;
  }

  /// False when there is too much to look at.
  bool chooseSamples() {
    std::vector<Axis*> axes{&blocks[0], &blocks[1], &blocks[2]};
    double total = double(warps);
    for (std::size_t i = 0; i < counters.size(); ++i) {
      if (!lanes.counters()[i]->isOutcome) axes.push_back(&counters[i]);
      counters[i].taken = counters[i].count;
      total *= double(counters[i].count);
    }
    for (Axis& axis : blocks) axis.taken = axis.count, total *= double(axis.count);
    while (total > double(mostRequests)) {
      Axis* largest = *std::max_element(axes.begin(), axes.end(),
                                        [](const Axis* a, const Axis* b) { return a->taken < b->taken; });
      if (largest->taken <= 4) break;
      total /= double(largest->taken);
      largest->taken = std::max<std::uint64_t>(4, largest->taken / 2);
      total *= double(largest->taken);
    }
    for (const Axis* axis : axes) result.isWhole = result.isWhole && !axis->isSampled();
    cost = std::uint64_t(total) * lanes.size();
    return total <= 16.0 * double(mostRequests);
  }

  /// Whether some lane takes part.
  bool walkWarp(unsigned warp, double weight) {
    lanes.setWarp(warp);
    bool any = false;
    std::uint32_t ever = 0;
    requests.clear();
    std::vector<std::uint64_t> position(counters.size(), 0);
    std::vector<std::int64_t> values(counters.size());
    while (true) {
      Request request;
      request.weight = weight;
      for (std::size_t i = 0; i < counters.size(); ++i) {
        values[i] = counters[i].value(position[i]);
        request.weight *= counters[i].weight(position[i]);
      }
      if (!counters.empty()) lanes.setCounters(values);
      const LaneProgram::Row& holds = lanes.values(1);
      for (unsigned lane = 0; lane < lanes.lanes(); ++lane)
        if (holds[lane]) request.mask |= 1U << lane;
      if (request.mask) {
        request.offsets = lanes.values(0);
        requests.push_back(request);
        any = true;
        result.lanesDiffer |= ever && ever != request.mask;
        ever |= request.mask;
      }
      result.everyThread &= unsigned(std::popcount(request.mask)) == lanes.lanes();
      std::size_t i = 0;
      while (i < counters.size() && ++position[i] == counters[i].taken) position[i++] = 0;
      if (i >= ownCounters) countAll(); // a barrier parts the rounds of the others
      if (i == counters.size()) break;
    }
    result.masks.push_back(ever);
    return any;
  }

  void countAll() {
    const bool sameMask = std::all_of(requests.begin(), requests.end(), [&](const Request& request) {
      return request.mask == requests.front().mask;
    });
    if (!sameMask && result.isWhole) alignOccurrences();
    for (const Request& request : requests) count(request);
    requests.clear();
  }

  /// Lanes that went different ways: the n-th accesses of all lanes are one request. Where that mixes rounds,
  /// lanes that meet again in each round give other figures, and it is not known which come about.
  void alignOccurrences() {
    std::vector<Request> aligned;
    std::array<std::size_t, LaneProgram::kLanes> used{};
    for (const Request& request : requests)
      for (unsigned lane = 0; lane < LaneProgram::kLanes; ++lane) {
        if (!(request.mask >> lane & 1)) continue;
        if (used[lane] == aligned.size()) aligned.emplace_back();
        Request& to = aligned[used[lane]++];
        to.mask |= 1U << lane;
        to.weight = request.weight;
        to.offsets[lane] = request.offsets[lane];
      }
    result.mixesRounds |= !std::ranges::equal(aligned, requests, [](const Request& a, const Request& b) {
      if (a.mask != b.mask) return false;
      for (unsigned lane = 0; lane < LaneProgram::kLanes; ++lane)
        if ((a.mask >> lane & 1) && a.offsets[lane] != b.offsets[lane]) return false;
      return true;
    });
    requests = std::move(aligned);
  }

  void count(const Request& request) {
    noteStride(request);
    for (unsigned lane = 0; lane < LaneProgram::kLanes; ++lane) {
      if (!(request.mask >> lane & 1)) continue;
      const std::int64_t offset = request.offsets[lane];
      result.lowest = started ? std::min(result.lowest, offset) : offset;
      result.beyond = started ? std::max(result.beyond, offset + bytes) : offset + bytes;
      started = true;
    }
    laneCount += request.weight * std::popcount(request.mask);
    LaneProgram::Row offsets = request.offsets;
    for (std::uint32_t left = bytes; left > 0;) { // copies of objects go in pieces
      const std::uint32_t piece = std::min<std::uint32_t>(left, 16);
      const RequestCost cost = space == MemorySpace::Shared ? costOfShared(offsets, request.mask, piece)
                                                            : costOfGlobal(offsets, request.mask, piece);
      sums[0] += request.weight;
      sums[1] += request.weight * double(cost.sectors);
      sums[2] += request.weight * double(cost.idealSectors);
      sums[3] += request.weight * double(cost.bytes);
      result.metric.bankWays = std::max(result.metric.bankWays, cost.bankWays);
      left -= piece;
      for (std::int64_t& offset : offsets) offset += piece;
    }
  }

  void noteStride(const Request& request) {
    if (strideIsMixed) return;
    for (unsigned lane = 0; lane + 1 < LaneProgram::kLanes; ++lane) {
      if ((request.mask >> lane & 3) != 3) continue;
      const std::int64_t apart = request.offsets[lane + 1] - request.offsets[lane];
      if (result.stride && *result.stride != apart) {
        strideIsMixed = true;
        result.stride.reset();
        return;
      }
      result.stride = apart;
    }
  }

  void settle() {
    Metric& metric = result.metric;
    metric.requests = std::uint64_t(std::llround(sums[0]));
    metric.sectors = std::uint64_t(std::llround(sums[1]));
    metric.idealSectors = std::uint64_t(std::llround(sums[2]));
    metric.bytesRequested = std::uint64_t(std::llround(sums[3]));
    result.lanes = std::uint64_t(std::llround(laneCount));
  }

  const KernelModel& model;
  LaneProgram lanes;
  MemorySpace space;
  std::uint32_t bytes;
  AccessTraffic result;
  Axis blocks[3];
  std::vector<Axis> counters;
  std::vector<Request> requests;
  std::uint64_t warps = 1, mostRequests = kMostRequests, cost = 0;
  std::size_t ownCounters = 0;
  double sums[4] = {}, laneCount = 0;
  bool isNever = false, started = false, strideIsMixed = false;
};

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
  one.metric.isExact = one.isWhole && !one.mixesRounds && isExact;
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
