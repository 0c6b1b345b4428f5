#include "report/traffic.h"

#include <fmt/format.h>

namespace kcheck {

namespace {

/// Less than this many sectors beyond the ideal is not worth a note.
constexpr std::uint64_t kEnoughSectors = 256;
constexpr std::uint64_t kEnoughRequests = 32;

const char* what(AccessKind kind) {
  return kind == AccessKind::Write ? "store" : kind == AccessKind::Atomic ? "atomic" : "load";
}

std::string oneDecimal(double value) {
  std::string text = fmt::format("{:.1f}", value);
  return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
}

} // namespace

bool isUncoalesced(const Metric& metric) {
  const bool movesMoreThanIsUsed = 32 * metric.sectors > metric.bytesRequested; // a word for many lanes
  return metric.space == MemorySpace::Global && metric.access != AccessKind::Atomic && movesMoreThanIsUsed &&
         metric.sectors >= 2 * metric.idealSectors && metric.sectors >= metric.idealSectors + kEnoughSectors;
}

bool hasBankConflict(const Metric& metric, std::uint32_t bytes) {
  // Wide accesses take a turn per word anyway, and two ways cost next to nothing.
  const std::uint32_t words = (bytes + 3) / 4;
  return metric.space == MemorySpace::Shared && metric.access != AccessKind::Atomic && metric.bankWays >= 4 &&
         metric.bankWays > 2 * words && metric.requests >= kEnoughRequests;
}

std::optional<Finding> trafficNote(const Metric& metric, const Facts& facts) {
  const Site* site = metric.site < facts.sites.size() ? &facts.sites[metric.site] : nullptr;
  Finding note;
  if (isUncoalesced(metric)) {
    note.rule = "uncoalesced";
    note.message = fmt::format(
        "uncoalesced {}: {} sectors per request where {} would do; {} % of the bytes moved are used",
        what(metric.access), oneDecimal(metric.sectorsPerRequest()),
        oneDecimal(double(metric.idealSectors) / double(metric.requests)), oneDecimal(metric.efficiency()));
    // Few bytes for each thread: even neighbours cannot fill what is moved for them.
    note.hint =
        site && site->bytes && site->bytes < 4
            ? "let a thread take several neighbouring elements at once, as uchar4 or int do"
            : "let the threads of a warp access neighbouring elements, or bring them into shared memory "
              "in an order in which they do";
  } else if (hasBankConflict(metric, site ? site->bytes : 4)) {
    note.rule = "bank-conflict";
    note.message =
        fmt::format("{}-way bank conflict: lanes of a warp {} different words of one bank, one after "
                    "the other",
                    metric.bankWays, metric.access == AccessKind::Write ? "write" : "read");
    note.hint = "pad the array by one element per row, or change which lane takes which element";
  } else {
    return std::nullopt;
  }
  note.severity = Severity::Note;
  note.verdict = metric.source == Source::Run ? Verdict::Observed : Verdict::Proved;
  note.kernel = metric.kernel;
  note.where = metric.where;
  note.count = metric.source == Source::Run ? metric.requests : 0;
  Access access;
  access.kind = metric.access;
  access.site = metric.site;
  access.where = metric.where;
  if (site) access.expr = site->expr;
  note.accesses.push_back(access);
  return note;
}

} // namespace kcheck
