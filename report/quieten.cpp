#include "report/quieten.h"

#include "report/kernel_name.h"
#include "report/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace kcheck {
namespace {

bool wasLaunched(const std::string& name, const RunResult& run, const Facts& facts) {
  return std::ranges::any_of(run.launches, [&](const Launch& launch) {
    const Kernel* kernel = facts.kernel(launch.kernel);
    return kernel && kernel->name == name;
  });
}

/// Kernels with a race that is an error.
std::set<std::string> racyKernels(const std::vector<Finding>& findings) {
  std::set<std::string> racy;
  for (const Finding& finding : findings)
    if (finding.rule.starts_with("race-") && finding.severity == Severity::Error) racy.insert(finding.kernel);
  return racy;
}

bool isLibraryKernel(const std::string& name, const Facts& facts) {
  const auto kernel = std::ranges::find(facts.kernels, name, &Kernel::name);
  return kernel != facts.kernels.end() && kernel->inSystemHeader;
}

bool isAboutLaunch(const Finding& finding) {
  return finding.rule == "launch-shape" || finding.rule == "launch-coverage";
}

bool hasBeenAt(const Access& access, const std::string& kernel, const std::vector<Metric>& seen) {
  return std::ranges::any_of(seen, [&](const Metric& metric) {
    return metric.source == Source::Run && metric.kernel == kernel && metric.where == access.where &&
           metric.requests > 0;
  });
}

} // namespace

void dropLibraryAdvice(std::vector<Finding>& findings, const Facts& facts) {
  std::erase_if(findings, [&](const Finding& finding) {
    const Rule* rule = findRule(finding.rule);
    if (!rule || rule->group != RuleGroup::Perf) return false;
    if (isAboutLaunch(finding)) return isLibraryKernel(finding.kernel, facts);
    if (finding.accesses.empty()) return false;
    const SiteId site = finding.accesses.front().site;
    return site < facts.sites.size() && facts.sites[site].inSystemHeader;
  });
}

void quietenLibraryRaces(std::vector<Finding>& findings, const Facts& facts) {
  auto isLibraryPlace = [&](const Access& access) {
    return access.site < facts.sites.size() && facts.sites[access.site].inSystemHeader;
  };
  for (Finding& finding : findings) {
    const Rule* rule = findRule(finding.rule);
    if (!rule || rule->group != RuleGroup::Race || finding.scope == RaceScope::Host ||
        !isLibraryKernel(finding.kernel, facts) || finding.accesses.empty() ||
        !std::ranges::all_of(finding.accesses, isLibraryPlace))
      continue;
    finding.severity = Severity::Note;
    finding.hint = "a kernel of a library: look whether the ranges that it was given overlap";
  }
}

void dropOtherValues(std::vector<Finding>& findings, const RunResult& run, const Facts& facts) {
  const std::set<std::string> racy = racyKernels(findings);
  auto isOther = [&](const Finding& finding) {
    return finding.verdict == Verdict::Possible && finding.leansOnHost &&
           wasLaunched(finding.kernel, run, facts) &&
           !(finding.rule == "barrier-divergence" && racy.contains(finding.kernel));
  };
  for (Finding& finding : findings)
    if (isOther(finding) && finding.largerInput) {
      finding.severity = Severity::Note;
      finding.reason = "a larger input: " + finding.reason;
    }
  std::erase_if(findings, [&](const Finding& finding) { return isOther(finding) && !finding.largerInput; });
}

void quietenUnseen(std::vector<Finding>& findings, const Report& report) {
  const RunResult& run = report.run;
  if (!run.ran || run.timedOut || run.signal || !run.stoppedBecause.empty()) return;
  const std::set<std::string> racy = racyKernels(findings);
  auto isUnseen = [&](const Finding& finding) {
    if (finding.verdict != Verdict::Possible || !wasLaunched(finding.kernel, run, report.facts)) return false;
    if (finding.rule == "barrier-divergence" || finding.rule == "warp-mask")
      return !racy.contains(finding.kernel);
    return (finding.rule == "out-of-bounds" || finding.leansOnInput) && !finding.accesses.empty() &&
           std::ranges::all_of(finding.accesses, [&](const Access& access) {
             return hasBeenAt(access, finding.kernel, report.metrics);
           });
  };
  for (Finding& finding : findings) {
    if (!isUnseen(finding)) continue;
    finding.severity = std::min(finding.severity, Severity::Note);
    finding.reason += "; the run saw nothing of it";
  }
}

void dropUnfollowed(std::vector<Finding>& findings, const std::vector<Metric>& seen) {
  std::erase_if(findings, [&](const Finding& finding) {
    return finding.verdict == Verdict::Possible && finding.goesUnfollowed && finding.accesses.size() == 2 &&
           std::ranges::all_of(finding.accesses,
                               [&](const Access& access) { return hasBeenAt(access, finding.kernel, seen); });
  });
}

void quietenLeaks(std::vector<Finding>& findings, const RunResult& run) {
  const bool hasFailed = std::ranges::any_of(findings, [](const Finding& finding) {
    return finding.severity == Severity::Error && finding.count > 0;
  });
  if (run.exitStatus == 0 || !hasFailed) return;
  for (Finding& finding : findings) {
    if (finding.rule != "leak") continue;
    finding.severity = std::min(finding.severity, Severity::Note);
    finding.hint =
        fmt::format("the program ended with status {}, perhaps before it came to its cudaFree: mend "
                    "the errors first",
                    run.exitStatus);
  }
}

} // namespace kcheck
