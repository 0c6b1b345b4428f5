// Assembles the report: normalise, join, let the run's findings speak to the static answers, filter, sort.
#include "report/merge.h"

#include "report/bit_fields.h"
#include "report/consequences.h"
#include "report/join.h"
#include "report/kernel_name.h"
#include "report/launch_rules.h"
#include "report/quieten.h"
#include "report/same_lines.h"
#include "report/verdicts.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <set>
#include <tuple>

namespace kcheck {

namespace {

std::vector<Finding> prepared(std::vector<Finding> findings, const Facts& facts, bool strict) {
  for (Finding& finding : findings) normalize(finding, facts, strict);
  return withoutDuplicates(std::move(findings));
}

/// Every kernel has an answer per property, if only "unknown".
std::vector<KernelResult> kernelResults(const Facts& facts, const std::optional<StaticPart>& staticPart) {
  std::vector<KernelResult> results;
  if (staticPart) results = staticPart->kernels;
  const char* reason = staticPart ? "the static pass gave no answer" : "the static pass was not asked";
  auto complete = [&](KernelResult& result) {
    for (Property property :
         {Property::RaceFree, Property::BarriersUniform, Property::InBounds, Property::Initialized}) {
      bool known = std::ranges::find(result.properties, property, &PropertyResult::property) !=
                   result.properties.end();
      if (!known) result.properties.push_back({property, Answer::Unknown, reason, "", {}, false});
    }
    std::ranges::sort(result.properties, {}, &PropertyResult::property);
  };
  for (const Kernel& kernel : facts.kernels)
    if (std::ranges::find(results, kernel.symbol, &KernelResult::symbol) == results.end())
      results.push_back({kernel.symbol, kernel.name, kernel.where, {}, {}});
  for (KernelResult& result : results) {
    if (result.launches.empty())
      for (const Launch& launch : facts.launches)
        if (launch.kernel == result.symbol) result.launches.push_back(launch);
    complete(result);
  }
  std::ranges::sort(results, {},
                    [](const KernelResult& kernel) { return std::tie(kernel.where, kernel.symbol); });
  return results;
}

bool sameRow(const Metric& a, const Metric& b) {
  return a.kernel == b.kernel && a.site == b.site && a.where == b.where && a.access == b.access &&
         a.space == b.space && a.source == b.source;
}

/// One row per kernel, site and source, sorted by place.
std::vector<Metric> joinedMetrics(std::vector<Metric> metrics, const Facts& facts) {
  for (Metric& metric : metrics) {
    if (const Kernel* kernel = facts.kernel(metric.kernel)) metric.kernel = kernel->name;
    if (!metric.where.known() && metric.site < facts.sites.size())
      metric.where = facts.sites[metric.site].where;
  }
  std::ranges::sort(metrics, {}, [](const Metric& metric) {
    return std::tie(metric.where, metric.site, metric.access, metric.space, metric.kernel, metric.source,
                    metric.requests, metric.sectors);
  });
  std::vector<Metric> rows;
  for (const Metric& metric : metrics) {
    if (rows.empty() || !sameRow(rows.back(), metric)) {
      rows.push_back(metric);
      continue;
    }
    Metric& row = rows.back();
    row.requests += metric.requests;
    row.sectors += metric.sectors;
    row.idealSectors += metric.idealSectors;
    row.bytesRequested += metric.bytesRequested;
    row.bankWays = std::max(row.bankWays, metric.bankWays);
    row.isExact = row.isExact && metric.isExact;
  }
  return rows;
}

/// Whether the run launched the kernel in the one way that the static pass knows, and nothing went wrong.
bool isComparable(const std::string& name, const Report& report) {
  const auto kernel = std::ranges::find(report.kernels, name, &KernelResult::name);
  if (kernel == report.kernels.end() || kernel->launches.size() != 1) return false;
  for (const Finding& finding : report.findings)
    if (finding.severity == Severity::Error && (finding.kernel.empty() || isAbout(finding, *kernel)))
      return false;
  const RunResult& run = report.run;
  if (!run.unsupported.empty() || run.timedOut || run.signal || !run.stoppedBecause.empty()) return false;
  std::size_t launched = 0;
  for (const Launch& launch : run.launches) {
    if (launch.kernel != kernel->symbol) continue;
    if (launch.grid != kernel->launches[0].grid || launch.block != kernel->launches[0].block) return false;
    ++launched;
  }
  return launched == 1;
}

/// Both passes count the same requests: figures that differ are a bug of one of them.
void compareMetrics(Report& report) {
  if (!report.run.ran) return;
  const auto differ = [](double a, double b) {
    return std::abs(a - b) > 0.02 * std::max(std::abs(a), std::abs(b));
  };
  for (const Metric& computed : report.metrics) {
    if (computed.source != Source::Static || !computed.isExact) continue;
    const auto measured = std::ranges::find_if(report.metrics, [&](const Metric& other) {
      Metric asRun = computed;
      asRun.source = Source::Run;
      return sameRow(asRun, other);
    });
    if (measured == report.metrics.end() || !isComparable(computed.kernel, report)) continue;
    const bool banks = computed.space == MemorySpace::Shared;
    const double a = banks ? computed.bankWays : computed.sectorsPerRequest();
    const double b = banks ? measured->bankWays : measured->sectorsPerRequest();
    if (!differ(a, b)) continue;
    report.disagreements.push_back(fmt::format(
        "the run measured {:.2f} {} at {}:{}:{} in `{}`, where the static pass had computed {:.2f}", b,
        banks ? "ways of bank conflict" : "sectors per request", computed.where.file, computed.where.line,
        computed.where.column, computed.kernel, a));
  }
}

/// Leaves out what was not asked for. Findings of host code belong to no kernel and stay.
void filter(Report& report, const MergeOptions& options) {
  auto wanted = [&](const std::string& symbol, const std::string& name) {
    return options.kernels.empty() || std::ranges::any_of(options.kernels, [&](const std::string& kernel) {
             return namesKernel(kernel, symbol, name);
           });
  };
  std::erase_if(report.kernels,
                [&](const KernelResult& kernel) { return !wanted(kernel.symbol, kernel.name); });
  auto wantedName = [&](const std::string& name) {
    auto kernel = std::ranges::find(report.facts.kernels, name, &Kernel::name);
    return wanted(kernel == report.facts.kernels.end() ? "" : kernel->symbol, name);
  };
  std::erase_if(report.metrics, [&](const Metric& metric) { return !wantedName(metric.kernel); });
  std::erase_if(report.findings, [&](Finding& finding) {
    if (!options.rules.has(finding.rule)) return true;
    std::erase_if(finding.alsoIn, [&](const std::string& name) { return !wantedName(name); });
    if (finding.kernel.empty() || wantedName(finding.kernel)) return false;
    if (finding.alsoIn.empty()) return true;
    finding.kernel = finding.alsoIn.front();
    finding.alsoIn.erase(finding.alsoIn.begin());
    return false;
  });
}

void sortFindings(std::vector<Finding>& findings) {
  auto key = [](const Finding& finding) {
    const Location& where = finding.where;
    Location other = finding.accesses.size() > 1 ? finding.accesses[1].where : Location();
    return std::tuple(where.file.empty(), where.file, where.line, where.column, finding.rule, other.line,
                      other.column, finding.kernel, finding.message, finding.count);
  };
  std::ranges::sort(findings, [&](const Finding& a, const Finding& b) { return key(a) < key(b); });
}

/// Debug information gives a launch the place of its `<<<`, the syntax tree that of the whole statement.
void settleLaunchPlaces(std::vector<Finding>& findings, const Facts& facts) {
  for (Finding& finding : findings) {
    const bool isUnseen = finding.rule == "race-host" && finding.accesses.empty(); // a kernel that prints
    if (finding.rule != "invalid-launch" && finding.rule != "unchecked-error" && !isUnseen) continue;
    const auto launch = std::ranges::find_if(facts.launches, [&](const Launch& one) {
      return one.where.file == finding.where.file && one.where.line == finding.where.line;
    });
    if (launch != facts.launches.end()) finding.where = launch->where;
  }
}

} // namespace

Report mergeReport(Facts facts, std::optional<StaticPart> staticPart, RunPart runPart,
                   const MergeOptions& options) {
  Report report;
  report.version = options.version;
  report.facts = std::move(facts);
  report.run = std::move(runPart.run);
  report.ranStatic = staticPart.has_value();
  report.kernels = kernelResults(report.facts, staticPart);
  std::vector<Metric> metrics = std::move(runPart.metrics);
  std::vector<Finding> fromStatic;
  std::set<std::string> brief;
  if (staticPart) {
    report.staticSeconds = staticPart->seconds;
    brief = std::move(staticPart->briefKernels);
    std::ranges::move(launchFindings(report.facts.launches, report.facts, Verdict::Proved, brief),
                      std::back_inserter(staticPart->findings));
    fromStatic = prepared(std::move(staticPart->findings), report.facts, options.strict);
    metrics.insert(metrics.end(), staticPart->metrics.begin(), staticPart->metrics.end());
  }
  std::ranges::move(launchFindings(report.run.launches, report.facts, Verdict::Observed, brief),
                    std::back_inserter(runPart.findings));
  settleLaunchPlaces(runPart.findings, report.facts);
  std::vector<Finding> fromRun = prepared(std::move(runPart.findings), report.facts, options.strict);
  report.findings = joinPasses(std::move(fromStatic), fromRun);
  dropAskewEnds(report.findings);
  foldEarlyReads(report.findings);
  dropOtherValues(report.findings, report.run, report.facts);
  dropLibraryAdvice(report.findings, report.facts);
  quietenLibraryRaces(report.findings, report.facts);
  report.metrics = joinedMetrics(std::move(metrics), report.facts);
  dropUnfollowed(report.findings, report.metrics);
  quietenUnseen(report.findings, report);
  quietenLeaks(report.findings, report.run);
  letRunSpeak(report, fromRun);
  compareMetrics(report);
  filter(report, options);
  dropSameValuesBesideRaces(report.findings);
  joinOfSameLines(report.findings);
  wordBitFields(report.findings, report.facts);
  noteOverruns(report.findings);
  noteFollowing(report.findings);
  sortFindings(report.findings);
  return report;
}

} // namespace kcheck
