#include "instrument/pass/lane_notes.h"

#include "report/counted.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kcheck::instrument {
namespace {

/// Fewer warp-level requests of a kernel's place than this are not worth a note, nor is a place that makes
/// less than a tenth of its kernel's requests or that a warp comes by but a few times. One lane that acts for
/// its warp, as when it writes the result or takes the next item, is no divergence to mend.
constexpr std::uint64_t kEnoughRequests = 2048, kShareOfKernel = 10, kTimesPerWarp = 4;

bool isElected(std::uint64_t lanes, std::uint64_t requests) { return 10 * lanes < 11 * requests; }

/// Turns that updates of one address take, all together and in the average request.
constexpr std::uint64_t kEnoughTurns = 16384, kTurnsPerRequest = 16;

bool contends(std::uint64_t turns, std::uint64_t requests) {
  return turns >= kEnoughTurns && turns >= kTurnsPerRequest * requests;
}

std::string average(std::uint64_t sum, std::uint64_t count) {
  std::string text = fmt::format("{:.1f}", double(sum) / double(count));
  return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
}

} // namespace

void LaneNotes::add(const wire::Metric& record, const Metric& metric) {
  if (record.requests) kernels[metric.kernel].push_back({metric, record.lanes, record.slots, record.turns});
}

void LaneNotes::add(const wire::Launch& record, const std::string& kernel) {
  std::uint64_t blocks = std::uint64_t{record.grid[0]} * record.grid[1] * record.grid[2];
  std::uint64_t threads = std::uint64_t{record.block[0]} * record.block[1] * record.block[2];
  warps[kernel] += blocks * ((threads + 31) / 32) * record.count;
}

bool LaneNotes::diverges(const Place& place, std::uint64_t requestsOfKernel) const {
  std::uint64_t requests = place.metric.requests;
  auto started = warps.find(place.metric.kernel);
  return requests >= kEnoughRequests && requests * kShareOfKernel >= requestsOfKernel &&
         started != warps.end() && requests >= kTimesPerWarp * started->second &&
         !isElected(place.lanes, requests) && 2 * place.lanes <= place.slots;
}

Finding LaneNotes::note(const Place& place) const {
  Finding note;
  note.severity = Severity::Note;
  note.verdict = Verdict::Observed;
  note.kernel = place.metric.kernel;
  note.where = place.metric.where;
  note.count = place.metric.requests;
  Access access;
  access.kind = place.metric.access;
  access.site = place.metric.site;
  access.where = place.metric.where;
  if (access.site < facts.sites.size()) access.expr = facts.sites[access.site].expr;
  note.accesses.push_back(access);
  return note;
}

Finding LaneNotes::divergence(const Place& place) const {
  Finding finding = note(place);
  finding.rule = "warp-divergence";
  auto idle = static_cast<int>(std::lround(100 * double(place.idle()) / double(place.slots)));
  finding.message =
      fmt::format("{} % of the lanes idle here: {} of a warp's {} are at work on average", idle,
                  average(place.lanes, place.metric.requests), average(place.slots, place.metric.requests));
  finding.hint =
      "let neighbouring threads take the same branch and loops of similar length: sort or compact the "
      "work, or give a long element to a whole warp";
  return finding;
}

Finding LaneNotes::contention(const Place& place) const {
  Finding finding = note(place);
  finding.rule = "atomic-contention";
  finding.message = fmt::format("{} lanes of a warp update one address on average, one after the other: {} "
                                "turns in {}",
                                average(place.turns, place.metric.requests), place.turns,
                                counted(place.metric.requests, "request"));
  finding.hint =
      "add up within the warp (shuffles, __reduce_add_sync) or the block first, then one atomic for all";
  return finding;
}

/// Whether its threads wait there for ever: as often as the run has looked.
static bool hangsAt(const Location& place, const std::vector<Finding>& findings) {
  return std::ranges::any_of(
      findings, [&](const Finding& finding) { return finding.rule == "hang" && finding.where == place; });
}

void LaneNotes::appendTo(std::vector<Finding>& findings) const {
  for (const auto& [kernel, places] : kernels) {
    std::uint64_t requests = 0;
    const Place* worst = nullptr; // one note for a kernel: what diverges around it is the same branch
    for (const Place& place : places) requests += place.metric.requests;
    for (const Place& place : places) {
      if (contends(place.turns, place.metric.requests) && !hangsAt(place.metric.where, findings))
        findings.push_back(contention(place));
      if (!diverges(place, requests)) continue;
      if (!worst || place.idle() > worst->idle()) worst = &place;
    }
    if (worst) findings.push_back(divergence(*worst));
  }
}

} // namespace kcheck::instrument
