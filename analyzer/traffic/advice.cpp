#include "analyzer/traffic/advice.h"

#include "analyzer/traffic/stride.h"
#include "report/counted.h"
#include "report/traffic.h"

#include <algorithm>
#include <fmt/format.h>

namespace kcheck::analyzer {
namespace {

struct SiteSums {
  Metric metric;
  std::optional<std::int64_t> stride;
  bool strideIsMixed = false;
};

const ModelAccess* accessAt(const KernelModel& model, SiteId site) {
  for (const Phase& phase : model.gridPhases)
    for (const ModelAccess& access : phase.accesses)
      if (access.site == site) return &access;
  return nullptr;
}

/// Whether the text reads a member of an array's element: `points[i].x`.
bool isMember(const std::string& expr) {
  const std::size_t bracket = expr.rfind(']');
  return bracket != std::string::npos && expr.find('.', bracket) != std::string::npos;
}

/// Why the warp's accesses are far apart, and what to do.
void explain(Finding& note, const SiteSums& sums, const std::string& symbolic, bool hasRows,
             const Facts& facts) {
  std::string apart = symbolic;
  const bool isNumber = apart.find_first_not_of("-0123456789") == std::string::npos;
  if (isNumber) apart = sums.stride ? std::to_string(*sums.stride) : "";
  if (apart.empty() || apart == "0") return;
  const std::string expr = sums.metric.site < facts.sites.size() ? facts.sites[sums.metric.site].expr : "";
  std::string reason = fmt::format("consecutive threads are {} bytes apart", apart);
  const bool inRow = !isNumber || (sums.stride && std::abs(*sums.stride) >= 128);
  if (note.rule == "bank-conflict") {
    note.hint = "pad the rows of the array by one element, so that a column lies in different banks";
    note.notes.push_back({note.where, std::move(reason)});
    return;
  }
  if (isMember(expr)) {
    reason += ": each reads one member of a structure";
    note.hint = "keep the members in arrays of their own, or read the structure as a whole";
  } else if (inRow && !hasRows) {
    reason += ": the index takes a multiple of threadIdx.x";
    note.hint = "let consecutive threads access consecutive elements";
  } else if (inRow) {
    reason += ": threadIdx.x is in the row index";
    note.hint =
        "let threadIdx.x count along the row (exchange the indices), or move a tile through shared memory";
  } else {
    note.hint = "let consecutive threads access consecutive elements";
  }
  note.notes.push_back({note.where, std::move(reason)});
}

std::string axesText(unsigned axes) {
  std::string text;
  for (unsigned axis = 0; axis < 3; ++axis)
    if (axes >> axis & 1) text += (text.empty() ? "" : " and ") + std::string(1, "xyz"[axis]);
  return text;
}

std::string blocksText(std::uint64_t count) { return kcheck::counted(count, "block"); }

/// A loop in which a few blocks go round and round what more blocks would share.
void addNarrowGrids(const std::vector<CountedLaunch>& launches, const KernelModel& any, ExprContext& anyExprs,
                    Analysis& analysis) {
  constexpr std::uint64_t kFewBlocks = 16, kManyRounds = 64; // no device for which this is written has so few
  std::map<SiteId, LoopStride> strides;
  for (const CountedLaunch& counted : launches) {
    if (!counted.launch || !counted.traffic) continue;
    const auto grid = counted.launch->grid.whole(), block = counted.launch->block.whole();
    if (!grid || !block || grid->volume() >= kFewBlocks || grid->volume() * block->volume() == 1) continue;
    const std::uint64_t warps = grid->volume() * ((block->volume() + 31) / 32);
    const AccessTraffic* most = nullptr;
    for (const AccessTraffic& one : counted.traffic->accesses) {
      if (!one.isLooped || one.metric.space != MemorySpace::Global) continue;
      if (one.metric.requests < kManyRounds * warps) continue;
      const ModelAccess* access = accessAt(any, one.metric.site);
      if (!access) continue;
      const auto [stride, isNew] = strides.try_emplace(one.metric.site, LoopStride::Other);
      if (isNew) stride->second = loopStride(any, anyExprs, *access);
      const bool spreads =
          stride->second == LoopStride::Grid || (stride->second == LoopStride::Block && grid->volume() == 1);
      if (spreads && (!most || one.metric.requests > most->metric.requests)) most = &one;
    }
    if (!most) continue;
    Finding note;
    note.rule = "launch-shape";
    note.severity = Severity::Note;
    note.verdict = Verdict::Proved;
    note.kernel = any.kernel->name;
    note.where = counted.launch->where;
    note.message = fmt::format("{} of the device work, while each thread goes round a loop {} times",
                               grid->volume() == 1 ? std::string("one block: no more than one multiprocessor")
                                                   : fmt::format("{}: no more than {} multiprocessors",
                                                                 blocksText(grid->volume()), grid->volume()),
                               most->metric.requests / warps);
    note.notes.push_back({most->metric.where, "this loop's work could be that of more blocks"});
    note.hint =
        strides[most->metric.site] == LoopStride::Grid
            ? "the loop strides by the grid, so a larger grid shares its work; several blocks for each "
              "multiprocessor are usual"
            : "let the loop stride by blockDim.x * gridDim.x from the thread's place in the grid, and "
              "launch more blocks";
    analysis.findings.push_back(std::move(note));
  }
}

} // namespace

void addTraffic(const std::vector<CountedLaunch>& launches, const KernelModel& any, ExprContext& anyExprs,
                const Facts& facts, Analysis& analysis) {
  addNarrowGrids(launches, any, anyExprs, analysis);
  std::map<std::pair<SiteId, MemorySpace>, SiteSums> sites;
  std::set<SiteId> open;
  for (const CountedLaunch& counted : launches) {
    if (!counted.traffic) return; // sums over some of the launches say nothing
    for (const auto& [site, why] : counted.traffic->open) open.insert(site);
    for (const AccessTraffic& one : counted.traffic->accesses) {
      SiteSums& sums = sites[{one.metric.site, one.metric.space}];
      const Metric before = sums.metric;
      sums.metric = one.metric;
      sums.metric.requests += before.requests;
      sums.metric.sectors += before.sectors;
      sums.metric.idealSectors += before.idealSectors;
      sums.metric.bytesRequested += before.bytesRequested;
      sums.metric.isExact = sums.metric.isExact && (before.requests == 0 || before.isExact);
      sums.metric.bankWays = std::max(sums.metric.bankWays, before.bankWays);
      if (!one.metric.requests) continue;
      sums.strideIsMixed |= !one.stride || (before.requests && sums.stride != one.stride);
      sums.stride = sums.strideIsMixed ? std::nullopt : one.stride;
    }
  }
  for (auto& [key, sums] : sites) {
    if (open.count(key.first) || !sums.metric.requests) continue;
    if (key.first < facts.sites.size()) sums.metric.where = facts.sites[key.first].where;
    if (key.second == MemorySpace::Shared) sums.metric.sectors = sums.metric.idealSectors = 0;
    analysis.metrics.push_back(sums.metric);
    auto note = trafficNote(sums.metric, facts);
    if (!note) continue;
    note->kernel = any.kernel->name;
    const ModelAccess* access = accessAt(any, key.first);
    explain(*note, sums, access ? strideText(any, anyExprs, *access) : "",
            !access || countsWithinRow(any, anyExprs, *access), facts);
    analysis.findings.push_back(std::move(*note));
  }
}

Coverage::Coverage(const Facts& facts) : facts(facts), touched(facts.allocations.size()) {
  // Memory that some launch gets in a way that is not known may be any.
  for (const Launch& launch : facts.launches) {
    const Kernel* kernel = facts.kernel(launch.kernel);
    bool known = kernel && launch.arguments.size() >= kernel->parameters.size();
    for (std::size_t i = 0; known && i < kernel->parameters.size(); ++i)
      if (kernel->parameters[i].isPointer) known = launch.arguments[i].allocation.has_value();
    if (known) continue;
    for (Touched& one : touched) one.open = true;
  }
}

std::optional<std::size_t> Coverage::allocationOf(const MemoryObject& object) const {
  for (std::size_t i = 0; i < facts.allocations.size(); ++i)
    if (facts.allocations[i].where == object.where && facts.allocations[i].bytes == object.bytes) return i;
  return std::nullopt;
}

void Coverage::add(const CountedLaunch& counted) {
  if (!counted.launch) return;
  if (!counted.traffic || !counted.model->gaps.empty() || counted.model->gridPhases.size() != 1) {
    for (Touched& one : touched) one.open = true;
    return;
  }
  for (const Phase& phase : counted.model->gridPhases)
    for (const ModelAccess& access : phase.accesses) {
      const MemoryObject& object = counted.model->objects[access.object];
      if (object.isUnknown)
        for (Touched& one : touched) one.open = true;
      else if (counted.traffic->open.count(access.site))
        if (const auto allocation = allocationOf(object)) touched[*allocation].open = true;
    }
  for (const AccessTraffic& access : counted.traffic->accesses) addAccess(counted, access);
  addIdle(counted);
}

void Coverage::addAccess(const CountedLaunch& counted, const AccessTraffic& access) {
  const MemoryObject& object = counted.model->objects[access.access->object];
  const auto allocation = allocationOf(object);
  if (!allocation || !object.bytes || !access.metric.requests) return;
  Touched& one = touched[*allocation];
  one.lowest = one.any ? std::min(one.lowest, access.lowest) : access.lowest;
  one.beyond = one.any ? std::max(one.beyond, access.beyond) : access.beyond;
  one.any = true;
  const auto grid = counted.launch->grid.whole(), block = counted.launch->block.whole();
  const std::uint64_t size = std::uint64_t(access.access->size->value);
  const bool writes = access.metric.access != AccessKind::Read;
  if (writes) one.written += access.lanes * size;
  const bool oneEach = writes && access.everyThread && !access.isLooped && grid && block &&
                       access.lowest == 0 && access.lanes == grid->volume() * block->volume();
  const std::uint64_t reached = std::uint64_t(access.beyond), filled = access.lanes * size;
  // Rows that end too early leave holes; a guard that would let further blocks through says they are none of
  // the program's own.
  const bool isDense = oneEach && (reached == filled || (reached > filled && access.furtherAxes));
  // Buffers that are far larger than a launch hold more than its output.
  constexpr std::uint64_t kFarLarger = 64;
  if (!isDense || one.dense || *object.bytes > kFarLarger * std::uint64_t(access.beyond)) return;
  Finding finding;
  finding.rule = "launch-coverage";
  finding.severity = Severity::Warning;
  finding.verdict = Verdict::Proved;
  finding.kernel = counted.model->kernel->name;
  finding.where = counted.launch->where;
  const std::uint64_t elements = *object.bytes / size;
  const std::string name = facts.allocations[*allocation].name;
  finding.message = fmt::format("{} of {} write{} {} of the {} elements of `{}`, and no launch the rest",
                                blocksText(grid->volume()), kcheck::counted(block->volume(), "thread"),
                                grid->volume() == 1 ? "s" : "", access.lanes, elements, name);
  if (reached == filled)
    finding.hint = fmt::format("{}, with a guard for the last one, or a grid-stride loop",
                               blocksText((elements + block->volume() - 1) / block->volume()));
  else
    finding.hint = fmt::format("one block more along {}: round the quotient up, `(n + block - 1) / block`",
                               axesText(access.furtherAxes));
  finding.notes.push_back({access.metric.where, "each thread writes one element here"});
  one.dense = std::move(finding);
  one.denseBeyond = access.beyond;
  one.hasHoles = reached > filled;
}

/// Most blocks of the launch start only to return.
void Coverage::addIdle(const CountedLaunch& counted) {
  constexpr std::uint64_t kManyBlocks = 16;
  std::uint64_t busy = 0, idleBlocks = 0;
  if (!counted.traffic->open.empty() || counted.traffic->accesses.empty()) return;
  for (const AccessTraffic& access : counted.traffic->accesses) {
    if (!access.isWhole) return; // a block between those looked at may have work
    busy = std::max(busy, access.blocks);
    idleBlocks = access.blocks + access.idleBlocks - busy;
  }
  if (busy == 0 || busy + idleBlocks < kManyBlocks || busy * 4 > busy + idleBlocks) return;
  Finding finding;
  finding.rule = "launch-coverage";
  finding.severity = Severity::Warning;
  finding.verdict = Verdict::Proved;
  finding.kernel = counted.model->kernel->name;
  finding.where = counted.launch->where;
  finding.message = fmt::format("only {} of {} blocks {} anything to do", busy, busy + idleBlocks,
                                busy == 1 ? "has" : "have");
  finding.hint = blocksText(busy) + " would do";
  idle.push_back(std::move(finding));
}

std::vector<Finding> Coverage::findings() const {
  std::vector<Finding> all = idle;
  for (std::size_t i = 0; i < touched.size(); ++i) {
    const Touched& one = touched[i];
    if (one.open || !one.dense || !facts.allocations[i].bytes) continue;
    const bool isTheLast = one.lowest == 0 && one.beyond == one.denseBeyond;
    const std::uint64_t bytes = *facts.allocations[i].bytes;
    if (isTheLast && std::uint64_t(one.beyond) < bytes && (!one.hasHoles || one.written < bytes))
      all.push_back(*one.dense);
  }
  return all;
}

} // namespace kcheck::analyzer
