// What global memory accesses cost: the column of the table, and the lines that move more bytes than they
// use.
#include "report/text_parts.h"

#include <algorithm>
#include <fmt/format.h>
#include <ostream>
#include <tuple>

namespace kcheck::text {

namespace {

constexpr double kFull = 99.95; // what prints as 100 %

/// Bytes used and moved by accesses of one kind. Each site counts as at most full, so that a broadcast does
/// not make up for a scattered access.
struct Traffic {
  std::uint64_t used = 0, moved = 0;
  void add(const Metric& metric) {
    used += std::min(metric.bytesRequested, 32 * metric.sectors);
    moved += 32 * metric.sectors;
  }
  std::string text() const { return moved == 0 ? "-" : percent(100.0 * double(used) / double(moved)); }
};

/// What to show of global memory: the run's figures, and the static pass's where the run has none of the
/// site.
std::vector<const Metric*> shownMetrics(const Report& report) {
  std::vector<const Metric*> shown;
  auto measured = [&](const Metric& metric) {
    return std::ranges::any_of(report.metrics, [&](const Metric& other) {
      return other.source == Source::Run && other.site == metric.site && other.where == metric.where &&
             other.kernel == metric.kernel && other.access == metric.access;
    });
  };
  for (const Metric& metric : report.metrics)
    if (metric.space == MemorySpace::Global && metric.sectors > 0)
      if (metric.source == Source::Run || !measured(metric)) shown.push_back(&metric);
  return shown;
}

struct WastefulLine {
  Location where;
  AccessKind access;
  std::string expr;
  Metric sum;
  double efficiency() const { return sum.efficiency(); }
};

/// A finding says so already, or it is the library's line.
bool isTold(const Metric& metric, const Report& report) {
  const auto& sites = report.facts.sites;
  if (metric.site < sites.size() && sites[metric.site].inSystemHeader) return true;
  return std::ranges::any_of(report.findings, [&](const Finding& finding) {
    return finding.rule == "uncoalesced" && finding.where == metric.where && !finding.accesses.empty() &&
           finding.accesses.front().kind == metric.access;
  });
}

/// Global accesses that move more sectors than their bytes need, each place once, over all kernels that share
/// it.
std::vector<WastefulLine> wastefulLines(const Report& report) {
  std::vector<WastefulLine> lines;
  for (const Metric* metric : shownMetrics(report)) {
    if (isTold(*metric, report)) continue;
    auto same = std::ranges::find_if(lines, [&](const WastefulLine& line) {
      return line.where == metric->where && line.access == metric->access &&
             line.sum.source == metric->source;
    });
    if (same == lines.end()) {
      bool known = metric->site < report.facts.sites.size();
      lines.push_back(
          {metric->where, metric->access, known ? report.facts.sites[metric->site].expr : "", *metric});
      continue;
    }
    same->sum.requests += metric->requests;
    same->sum.sectors += metric->sectors;
    same->sum.idealSectors += metric->idealSectors;
    same->sum.bytesRequested += metric->bytesRequested;
  }
  std::erase_if(lines, [](const WastefulLine& line) {
    return line.efficiency() >= kFull || line.sum.sectors <= line.sum.idealSectors;
  });
  std::ranges::sort(lines, {}, [](const WastefulLine& line) {
    return std::tie(line.where, line.access, line.sum.source); // unique, see above
  });
  return lines;
}

std::string perRequest(std::uint64_t sectors, std::uint64_t requests) {
  std::string text = fmt::format("{:.1f}", requests ? double(sectors) / double(requests) : 0.0);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

void writeWasteful(const WastefulLine& line, bool ran, const Paint& paint, std::ostream& out) {
  const Metric& sum = line.sum;
  const char* what = line.access == AccessKind::Read    ? "loads of"
                     : line.access == AccessKind::Write ? "stores to"
                                                        : "atomics on";
  std::string moved = perRequest(sum.sectors, sum.requests),
              ideal = perRequest(sum.idealSectors, sum.requests);
  std::string expr = line.expr.empty() ? "memory" : "`" + line.expr + "`";
  std::string from = ran && sum.source == Source::Static ? " (from the static pass)" : "";
  out << paint(Style::Bold, place(line.where) + ":")
      << fmt::format(" {} {}: {}, {} sectors per request, where {} would do{}\n", what, expr,
                     percent(line.efficiency()), moved, ideal, from);
}

} // namespace

std::string globalTraffic(const KernelResult& kernel, const Report& report) {
  const std::vector<const Metric*> metrics = shownMetrics(report);
  Traffic loads, stores;
  bool anyRun = std::ranges::any_of(metrics, [&](const Metric* metric) {
    return metric->kernel == kernel.name && metric->source == Source::Run;
  });
  for (const Metric* metric : metrics) {
    if (metric->kernel != kernel.name || (anyRun && metric->source != Source::Run)) continue;
    if (metric->access == AccessKind::Read) loads.add(*metric);
    if (metric->access == AccessKind::Write) stores.add(*metric);
  }
  return loads.text() + " / " + stores.text();
}

bool anyWasteful(const Report& report) { return !wastefulLines(report).empty(); }

void writeWasteful(const Report& report, const Paint& paint, std::ostream& out) {
  for (const WastefulLine& line : wastefulLines(report)) writeWasteful(line, report.run.ran, paint, out);
}

} // namespace kcheck::text
