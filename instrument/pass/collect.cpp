#include "instrument/pass/collect.h"

#include "instrument/abi.h"
#include "instrument/pass/collector.h"
#include "instrument/pass/lane_notes.h"
#include "instrument/pass/source_places.h"
#include "instrument/pass/traffic.h"

#include <algorithm>
#include <sys/mman.h>
#include <sys/stat.h>

namespace kcheck::instrument {

/// Both kernels of a race between two.
static bool isOf(const wire::Finding& record, wire::TextRef kernel) {
  return kernel && (record.kernel == kernel || record.detail == kernel);
}

/// A flag that hands nothing over out of order, as far as the run has seen.
static bool isFlagAlone(const wire::Finding& record, const WireReader& reader) {
  return record.bareFlag && std::ranges::none_of(reader.findings, [&](const wire::Finding* other) {
           return isRace(other->rule) && !other->bareFlag &&
                  (isOf(*other, record.kernel) || isOf(*other, record.detail));
         });
}

static bool isOfCall(const wire::Finding& record) {
  return record.rule == wire::Rule::UncheckedError && record.flags & wire::OfCall;
}

/// A call that has failed and whose result the program throws away, if nothing else says what is wrong there.
static void addIgnored(Finding failed, const Facts& facts, std::vector<Finding>& findings) {
  const auto call = std::ranges::find_if(facts.ignoredCalls, [&](const IgnoredCall& one) {
    return one.where.file == failed.where.file && one.where.line == failed.where.line &&
           one.where.column == failed.where.column;
  });
  const bool isExplained = std::ranges::any_of(findings, [&](const Finding& other) {
    return other.where.file == failed.where.file && other.where.line == failed.where.line;
  });
  if (call == facts.ignoredCalls.end() || isExplained) return;
  failed.message = call->function + " " + failed.message;
  findings.push_back(std::move(failed));
}

Observation collect(std::span<const std::byte> log, const Facts& facts, const Symbolise& symbolise) {
  WireReader reader(log);
  Collector collector(reader, facts, symbolise);
  Observation observation;
  for (const wire::Finding* record : reader.findings)
    if (!isFlagAlone(*record, reader) && !isOfCall(*record))
      observation.findings.push_back(collector.finding(*record));
  for (const wire::Finding* record : reader.findings)
    if (isOfCall(*record)) addIgnored(collector.finding(*record), facts, observation.findings);
  std::vector<Metric> telling; // whose cost does not come from the order in which threads ran
  LaneNotes laneNotes(facts);
  for (const wire::Metric* record : reader.metrics) {
    observation.metrics.push_back(collector.metric(*record));
    const wire::Site* site = reader.site(record->site);
    if (!site || !(site->flags & abi::SiteDrawn)) telling.push_back(observation.metrics.back());
    laneNotes.add(*record, observation.metrics.back());
  }
  for (const wire::Launch* record : reader.launches) {
    observation.run.launches.push_back(collector.launch(*record));
    laneNotes.add(*record, reader.text(record->kernel));
  }
  observation.run.seen = collector.seen();
  observation.run.kernelsLaunched = reader.kernelsLaunched;
  observation.sharedLaunches = reader.sharedLaunches;
  if (!reader.runningKernel.empty())
    observation.ranLast = {reader.runningKernel, reader.runningSite == wire::kNoSite
                                                     ? Location{}
                                                     : collector.sitePlace(reader.runningSite)};
  for (const wire::CutShort* record : reader.cutShort) {
    std::vector<std::string>& names = observation.run.cutShort;
    const std::string name = reader.text(record->kernel);
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  addTrafficNotes(observation, telling, facts);
  laneNotes.appendTo(observation.findings);
  return observation;
}

Observation collect(int descriptor, const Facts& facts) {
  struct stat status;
  if (fstat(descriptor, &status) != 0 || status.st_size == 0) return {};
  auto size = static_cast<std::size_t>(status.st_size);
  void* mapped = mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
  if (mapped == MAP_FAILED) return {};
  SourcePlaces places(facts);
  Symbolise symbolise = [&](const std::string& program, std::uint64_t offset) {
    return places.of(program, offset);
  };
  Observation observation = collect(std::span(static_cast<const std::byte*>(mapped), size), facts, symbolise);
  munmap(mapped, size);
  return observation;
}

} // namespace kcheck::instrument
