#include "analyzer/traffic/access_walk.h"

#include "analyzer/expr/range.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace kcheck::analyzer {
namespace {

constexpr std::uint64_t kMostRequests = 1 << 14; ///< of one access; more are sampled
constexpr std::uint64_t kMostWork = 1 << 22;     ///< evaluations of single operations, for one access
constexpr std::uint64_t kMostSteps = 1 << 20;    ///< that a counter may take

std::uint32_t axisOf(Expr e) { return std::uint32_t(e->value); }

} // namespace

AccessWalk::AccessWalk(const KernelModel& model, const ModelAccess& access, MemorySpace space,
                       std::uint32_t bytes)
    : model(model), lanes(model, {access.offset, access.condition}), bytes(bytes),
      sums(result, space, bytes) {
  result.access = &access;
}

std::string AccessWalk::prepare(std::uint64_t& work) {
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
  if (std::string why = addCounters(ranges); !why.empty()) return why;
  const Dim3 block{axisOf(model.blockDim[0]), axisOf(model.blockDim[1]), axisOf(model.blockDim[2])};
  warps = (block.volume() + LaneProgram::kLanes - 1) / LaneProgram::kLanes;
  if (!chooseSamples()) return "how many rounds a loop goes";
  if (cost > work) return "the time that it takes to look at every warp";
  work -= cost;
  return "";
}

/// Empty, or why it is not known how far one goes.
std::string AccessWalk::addCounters(Ranges& ranges) {
  for (const Symbol* counter : lanes.counters()) {
    Range range{counter->lo, counter->hi, ~0ULL};
    if (Expr node = nodeOf(counter)) range = ranges.of(node);
    if (range.hi < range.lo || range.hi - range.lo >= Int(kMostSteps))
      return "how often the loop with `" + counter->name + "` goes round";
    counters.push_back({std::int64_t(range.lo), std::uint64_t(range.hi - range.lo + 1), 1});
  }
  return "";
}

AccessTraffic AccessWalk::walk() {
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
  sums.settle();
  if (result.everyThread && !result.isLooped) lookFurther();
  return result;
}

bool AccessWalk::holdsIn(const Dim3& block, std::uint64_t arrayBytes) {
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
void AccessWalk::lookFurther() {
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
void AccessWalk::orderCounters() {
  lanes.sortCounters([](const Symbol* a, const Symbol* b) {
    return a->varies != b->varies ? a->varies > b->varies : a->id > b->id;
  });
  ownCounters = std::size_t(std::count_if(lanes.counters().begin(), lanes.counters().end(),
                                          [](const Symbol* s) { return s->varies == Varies::ByThread; }));
}

Expr AccessWalk::nodeOf(const Symbol* symbol) const {
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
bool AccessWalk::chooseSamples() {
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

/// Where the counters stand.
Request AccessWalk::requestAt(const std::vector<std::uint64_t>& position, double weight) {
  Request request;
  request.weight = weight;
  values.resize(counters.size());
  for (std::size_t i = 0; i < counters.size(); ++i) {
    values[i] = counters[i].value(position[i]);
    request.weight *= counters[i].weight(position[i]);
  }
  if (!counters.empty()) lanes.setCounters(values);
  const LaneProgram::Row& holds = lanes.values(1);
  for (unsigned lane = 0; lane < lanes.lanes(); ++lane)
    if (holds[lane]) request.mask |= 1U << lane;
  if (request.mask) request.offsets = lanes.values(0);
  return request;
}

/// Whether some lane takes part.
bool AccessWalk::walkWarp(unsigned warp, double weight) {
  lanes.setWarp(warp);
  bool any = false;
  std::uint32_t ever = 0;
  requests.clear();
  std::vector<std::uint64_t> position(counters.size(), 0);
  while (true) {
    const Request request = requestAt(position, weight);
    if (request.mask) {
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

void AccessWalk::countAll() {
  const bool sameMask = std::all_of(requests.begin(), requests.end(), [&](const Request& request) {
    return request.mask == requests.front().mask;
  });
  if (!sameMask && result.isWhole) requests = alignedOccurrences(requests, result.mixesRounds);
  for (const Request& request : requests) sums.add(request);
  requests.clear();
}

} // namespace kcheck::analyzer
