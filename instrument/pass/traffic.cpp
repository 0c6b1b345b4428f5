#include "instrument/pass/traffic.h"

#include <fmt/format.h>

namespace kcheck::instrument {
namespace {

/// Less than this many sectors beyond the ideal is not worth a note.
constexpr std::uint64_t kEnoughSectors = 256;
constexpr std::uint64_t kEnoughRequests = 32;

Finding noteOn(const Metric& metric, const Facts& facts, const char* rule) {
  Finding note;
  note.rule = rule;
  note.severity = Severity::Note;
  note.verdict = Verdict::Observed;
  note.kernel = metric.kernel;
  note.where = metric.where;
  note.count = metric.requests;
  Access access;
  access.kind = metric.access;
  access.site = metric.site;
  access.where = metric.where;
  if (metric.site < facts.sites.size()) access.expr = facts.sites[metric.site].expr;
  note.accesses.push_back(access);
  return note;
}

std::string oneDecimal(double value) {
  std::string text = fmt::format("{:.1f}", value);
  return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
}

const char* what(const Metric& metric) {
  return metric.access == AccessKind::Write    ? "store"
         : metric.access == AccessKind::Atomic ? "atomic"
                                               : "load";
}

} // namespace

void addTrafficNotes(Observation& observation, const Facts& facts) {
  for (const Metric& metric : observation.metrics) {
    if (metric.space == MemorySpace::Shared) {
      // Wide accesses take a turn per word anyway, and two ways cost next to nothing.
      const std::uint32_t words =
          metric.site < facts.sites.size() ? (facts.sites[metric.site].bytes + 3) / 4 : 1;
      if (metric.bankWays < 4 || metric.bankWays <= 2 * words || metric.requests < kEnoughRequests ||
          metric.access == AccessKind::Atomic)
        continue;
      Finding note = noteOn(metric, facts, "bank-conflict");
      note.message =
          fmt::format("{}-way bank conflict: lanes of a warp {} different words of one bank, one after "
                      "the other",
                      metric.bankWays, metric.access == AccessKind::Write ? "write" : "read");
      note.hint = "pad the array by one element per row, or change which lane takes which element";
      observation.findings.push_back(std::move(note));
      continue;
    }
    if (metric.space != MemorySpace::Global || metric.access == AccessKind::Atomic) continue;
    if (metric.sectors < 2 * metric.idealSectors || metric.sectors < metric.idealSectors + kEnoughSectors)
      continue;
    Finding note = noteOn(metric, facts, "uncoalesced");
    note.message = fmt::format(
        "uncoalesced {}: {} sectors per request where {} would do; {} % of the bytes moved are used",
        what(metric), oneDecimal(metric.sectorsPerRequest()),
        oneDecimal(double(metric.idealSectors) / double(metric.requests)), oneDecimal(metric.efficiency()));
    note.hint = "let neighbouring threads access neighbouring elements";
    observation.findings.push_back(std::move(note));
  }
}

} // namespace kcheck::instrument
