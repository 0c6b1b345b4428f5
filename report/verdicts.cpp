#include "report/verdicts.h"

#include "report/assumptions.h"
#include "report/join.h"
#include "report/rules.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace kcheck {
namespace {

/// The question that a rule's finding answers with "no".
std::optional<Property> propertyOf(const Finding& finding) {
  if (finding.rule == "race-host") return std::nullopt; // about host code, not about the kernel alone
  const Rule* rule = findRule(finding.rule);
  if (rule && rule->group == RuleGroup::Race) return Property::RaceFree;
  if (finding.rule == "barrier-divergence" || finding.rule == "warp-mask") return Property::BarriersUniform;
  if (finding.rule == "out-of-bounds") return Property::InBounds;
  if (finding.rule == "uninitialized-read") return Property::Initialized;
  return std::nullopt;
}

/// Whether the answer speaks of the launches that the run made, so that the run may contradict it.
bool covers(const KernelResult& kernel, const PropertyResult& property, const RunResult& run) {
  if (property.holdsFor.empty() || property.holdsFor == "any launch" ||
      property.holdsFor == kLaunchesOfThisRun)
    return true;
  auto isListed = [&](const Launch& launch) {
    return std::ranges::any_of(kernel.launches, [&](const Launch& known) {
      return known.grid.whole() && known.block.whole() && known.grid == launch.grid &&
             known.block == launch.block;
    });
  };
  bool launched = false;
  for (const Launch& launch : run.launches) {
    if (launch.kernel != kernel.symbol) continue;
    if (!isListed(launch)) return false;
    launched = true;
  }
  return launched;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : "; ") + part;
  return text;
}

std::string contradiction(const Finding& finding, const KernelResult& kernel,
                          const PropertyResult& property) {
  std::string reach = property.holdsFor.empty() ? "" : " for " + property.holdsFor;
  std::string assuming =
      property.assumptions.empty() ? "" : fmt::format(" ({}{})", kAssuming, joined(property.assumptions));
  return fmt::format("the run saw {} at {}:{}:{} in `{}`, which the static pass had proved {}{}{}",
                     finding.rule, finding.where.file, finding.where.line, finding.where.column, kernel.name,
                     toString(property.property), reach, assuming);
}

/// What host code leaves in global memory is an assumption of an `initialized` proof that the run is there to
/// check; that it fails is the program's fault, not kcheck's.
bool breaksAssumptionOnly(const Finding& finding, const PropertyResult& property) {
  bool ownMemory = finding.memory && (finding.memory->space == MemorySpace::Shared ||
                                      finding.memory->space == MemorySpace::Local);
  return property.property == Property::Initialized && !property.assumptions.empty() && !ownMemory;
}

/// What the proof assumes of the host's doing, which a run does not check.
std::vector<std::string> upToHost(const PropertyResult& property) {
  std::vector<std::string> result;
  std::ranges::copy_if(property.assumptions, std::back_inserter(result), isUpToHost);
  return result;
}

/// The assumptions in the kernel's text that the run saw broken, as the proof lists them.
std::vector<std::string> brokenAssumptions(const KernelResult& kernel, const PropertyResult& property,
                                           const Report& report) {
  std::vector<std::string> broken;
  for (const Finding& finding : report.findings) {
    if (finding.rule != "assert-failed" || !isAbout(finding, kernel)) continue;
    const std::string text = assumptionAt(finding.where.line), annotation = annotatedIn(finding.where.line);
    for (const std::string& assumption : property.assumptions)
      if (assumption == text || assumption.ends_with(annotation)) broken.push_back(assumption);
  }
  return broken;
}

/// A proof says nothing of a run in which what it takes from a `__builtin_assume` does not hold.
void withdrawBrokenProofs(Report& report) {
  for (KernelResult& kernel : report.kernels)
    for (PropertyResult& property : kernel.properties) {
      if (property.answer != Answer::Proved) continue;
      const auto broken = brokenAssumptions(kernel, property, report);
      if (broken.empty()) continue;
      property.answer = Answer::Unknown;
      property.reason = "the proof rests on what the run saw broken: " + joined(broken);
      property.holdsFor.clear();
      property.assumptions.clear();
    }
}

/// Accesses that the run saw leave their memory, where nothing was proved of it. Every proof takes for
/// granted that there are none: what is behind an array, they may read and write as well.
std::vector<const Finding*> wildAccesses(const Report& report) {
  std::vector<const Finding*> wild;
  for (const Finding& finding : report.findings) {
    if ((finding.rule != "out-of-bounds" && finding.rule != "use-after-free") || finding.count == 0 ||
        finding.accesses.empty())
      continue;
    const bool wasProved = std::ranges::any_of(report.kernels, [&](const KernelResult& kernel) {
      return isAbout(finding, kernel) &&
             std::ranges::any_of(kernel.properties, [](const PropertyResult& property) {
               return property.property == Property::InBounds && property.answer == Answer::Proved;
             });
    });
    if (!wasProved) wild.push_back(&finding);
  }
  return wild;
}

/// Whether it may be no more than what a wild access has led to: one of its accesses is wild, or its kernel
/// has written where no one knows.
bool followsWild(const Finding& finding, const std::vector<const Finding*>& wild) {
  return std::ranges::any_of(wild, [&](const Finding* cause) {
    if (cause == &finding || cause->kernel != finding.kernel) return false;
    const Access& access = cause->accesses[0];
    return access.kind != AccessKind::Read ||
           std::ranges::find(finding.accesses, access.where, &Access::where) != finding.accesses.end();
  });
}

/// Lets one finding of the run speak to the answer that it contradicts.
void refute(const Finding& finding, const KernelResult& kernel, PropertyResult& property,
            const std::vector<const Finding*>& wild, Report& report) {
  bool seen = finding.verdict == Verdict::Observed || finding.verdict == Verdict::Confirmed;
  if (!seen || property.answer == Answer::Refuted) return;
  if (finding.rule == "warp-mask" && property.answer == Answer::Proved) return; // not what was asked there
  bool benign = finding.severity == Severity::Note; // two writes of the same value
  if (property.answer == Answer::Unknown) {
    if (!benign) property.answer = Answer::Refuted, property.reason = "seen in the run";
    return;
  }
  if (finding.verdict == Verdict::Confirmed && benign) return; // the static pass said so itself
  property.answer = Answer::Refuted;
  if (!covers(kernel, property, report.run)) {
    property.reason = fmt::format("seen in a launch outside of what was proved ({})", property.holdsFor);
  } else if (breaksAssumptionOnly(finding, property)) {
    property.reason =
        "seen in the run, where what the proof assumes does not hold: " + joined(property.assumptions);
  } else if (const auto unchecked = upToHost(property); !unchecked.empty()) {
    property.reason = fmt::format(
        "seen in the run; it was proved assuming {}, which is for the host to see to", joined(unchecked));
  } else if (finding.throughReadOnlyCache) {
    property.reason = "seen in the run; a proof takes loads through the read-only cache for plain ones";
  } else if (followsWild(finding, wild)) {
    property.reason = "seen in the run, where an access of the kernel leaves its array";
  } else {
    property.reason = "seen in the run, though the static pass had proved it absent";
    report.disagreements.push_back(contradiction(finding, kernel, property));
  }
}

/// Whether the run saw it in that kernel, not only in another one that calls the same helper.
bool wasSeenIn(const KernelResult& kernel, const Finding& finding, const std::vector<Finding>& fromRun) {
  bool any = false;
  for (const Finding& seen : fromRun) {
    if (!sameThing(seen, finding)) continue;
    if (isAbout(seen, kernel)) return true;
    any = true;
  }
  return !any; // two places of one barrier fault
}

} // namespace

bool isAbout(const Finding& finding, const KernelResult& kernel) {
  return finding.kernel == kernel.name ||
         std::ranges::find(finding.alsoIn, kernel.name) != finding.alsoIn.end();
}

void letRunSpeak(Report& report, const std::vector<Finding>& fromRun) {
  withdrawBrokenProofs(report);
  const std::vector<const Finding*> wild = wildAccesses(report);
  for (const Finding& finding : report.findings) {
    auto question = propertyOf(finding);
    if (!question) continue;
    for (KernelResult& kernel : report.kernels) {
      if (!isAbout(finding, kernel) || !wasSeenIn(kernel, finding, fromRun)) continue;
      for (PropertyResult& property : kernel.properties)
        if (property.property == *question) refute(finding, kernel, property, wild, report);
    }
  }
}

} // namespace kcheck
