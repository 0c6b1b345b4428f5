// The whole text report: findings, tables, how the program ended, and the closing line.
#include "report/text_writer.h"

#include "report/text_parts.h"

#include <algorithm>
#include <fmt/format.h>
#include <ostream>
#include <vector>

namespace kcheck {

namespace {

using namespace text;

std::string joined(const std::vector<std::string>& parts, const char* between) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : between) + part;
  return text;
}

/// "1 error and 2 warnings", or "no findings".
std::string findingsCounted(const Summary& summary) {
  std::vector<std::string> parts;
  if (summary.errors) parts.push_back(counted(summary.errors, "error"));
  if (summary.warnings) parts.push_back(counted(summary.warnings, "warning"));
  if (summary.notes) parts.push_back(counted(summary.notes, "note"));
  return parts.empty() ? "no findings" : listed(parts);
}

std::string timesTaken(const Report& report) {
  std::vector<std::string> parts;
  if (report.ranStatic) parts.push_back(fmt::format("static {:.2f} s", report.staticSeconds));
  if (report.run.ran)
    parts.push_back(fmt::format("run {:.2f} s", report.run.seconds));
  else if (!report.run.notRunBecause.empty())
    parts.push_back("not run: " + report.run.notRunBecause);
  return joined(parts, ", ");
}

/// Proofs that hold for the launches of this run only: the tables say which.
bool restsOnThisRun(const Report& report) {
  return std::ranges::any_of(report.kernels, [](const KernelResult& kernel) {
    return std::ranges::find(kernel.properties, kLaunchesOfThisRun, &PropertyResult::holdsFor) !=
           kernel.properties.end();
  });
}

/// `told`: findings without a header of their own.
std::string closingLine(const Report& report, std::size_t told, const std::vector<std::string>& assumptions) {
  Summary summary = summarize(report);
  std::string answers = report.ranStatic ? fmt::format("proved {}, refuted {}, unknown {}", summary.proved,
                                                       summary.refuted, summary.unknown)
                                         : "run only, nothing proved";
  if (!assumptions.empty()) answers += "; assuming " + joined(assumptions, "; ");
  std::string suppressed = summary.suppressed ? fmt::format(", {} suppressed", summary.suppressed) : "";
  std::string only = told ? fmt::format(" ({} of them told with others)", told) : "";
  std::string times = timesTaken(report);
  std::string kernels = summary.kernels == 0 ? "no kernels" : counted(summary.kernels, "kernel");
  return fmt::format("{}{}{} in {} ({}){}", findingsCounted(summary), only, suppressed, kernels, answers,
                     times.empty() ? "" : "; " + times);
}

/// What the run left out, when it left something out.
std::string leftOut(const RunResult& run) {
  if (run.cutShort.empty()) return "";
  return fmt::format("{} ran again in other orders of {} threads, not to the end of each: a race that only "
                     "the rest would have shown is not found",
                     listed(run.cutShort), run.cutShort.size() == 1 ? "its" : "their");
}

/// How the checked program ended, when that was not well.
std::string badEnd(const RunResult& run) {
  if (!run.ran) return "";
  if (!run.unsupported.empty())
    return "the run is not complete, and its results are not to be trusted: " + run.unsupported;
  if (!run.stoppedBecause.empty()) return "the program was stopped: " + run.stoppedBecause;
  if (run.timedOut)
    return fmt::format("the program was stopped after {:.2f} s: it had not ended", run.seconds);
  if (run.signal) return fmt::format("the program was ended by signal {}", run.signal);
  if (run.exitStatus) return fmt::format("the program ended with exit status {}", run.exitStatus);
  return "";
}

} // namespace

void writeText(const Report& report, const TextOptions& options, std::ostream& out) {
  Paint paint(options.colour);
  const Finding* last = nullptr;       // that was written in full, or of which more has been said
  std::vector<const Finding*> written; // in full
  std::size_t alike = 0;               // that say the same with other partners
  std::size_t toldWithOthers = 0;
  auto countAlike = [&] {
    if (alike > kShownAlike) writeFurtherPartners(alike - kShownAlike, out);
    toldWithOthers += alike;
    alike = 0;
  };
  for (const Finding& finding : report.findings) {
    if (finding.suppressed) continue;
    if (last && saysTheSame(*last, finding)) {
      if (++alike <= kShownAlike) writeAlsoWith(finding, options, out);
      continue;
    }
    const auto same = std::ranges::find_if(
        written, [&](const Finding* earlier) { return advisesTheSame(*earlier, finding); });
    countAlike();
    if (same != written.end()) {
      if (*same != last) out << '\n';
      writeAlsoAt(finding, **same, *same == last, options, out);
      last = *same;
      continue;
    }
    if (last) out << '\n';
    writeFinding(finding, options, out);
    last = &finding;
    written.push_back(last);
  }
  countAlike();
  const bool anyFinding = last != nullptr;
  bool quiet =
      !anyFinding && !tablesMatter(report) && !restsOnThisRun(report) && report.disagreements.empty();
  std::string end = badEnd(report.run);
  if (!quiet && !report.kernels.empty()) {
    if (anyFinding) out << '\n';
    writeTables(report, paint, out);
  }
  if (!end.empty()) out << paint(Style::Bold, end) << '\n';
  if (const std::string left = leftOut(report.run); !left.empty()) out << left << '\n';
  out << closingLine(report, toldWithOthers, quiet ? assumptionsOf(report) : std::vector<std::string>())
      << '\n';
  for (const std::string& disagreement : report.disagreements)
    out << paint(Style::Red, "internal error:") << " the two passes disagree: " << disagreement
        << (disagreement.find(kAssuming) != std::string::npos ? "; where that holds, " : "; ")
        << "one of them is wrong, please report this\n";
}

} // namespace kcheck
