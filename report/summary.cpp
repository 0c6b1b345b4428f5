// The counts of a report, made in one place so that text, JSON and exit status agree.
#include "report/report.h"

#include <algorithm>

namespace kcheck {

bool isSilentLibraryKernel(const Report& report, const KernelResult& kernel) {
  const Kernel* known = report.facts.kernel(kernel.symbol);
  return known && known->inSystemHeader &&
         std::ranges::all_of(kernel.properties, [](const PropertyResult& property) {
           return property.answer == Answer::Unknown;
         });
}

Summary summarize(const Report& report) {
  Summary summary;
  for (const Finding& finding : report.findings) {
    if (finding.suppressed)
      ++summary.suppressed;
    else if (finding.severity == Severity::Error)
      ++summary.errors;
    else if (finding.severity == Severity::Warning)
      ++summary.warnings;
    else
      ++summary.notes;
  }
  summary.kernels = report.kernels.size();
  for (const KernelResult& kernel : report.kernels)
    for (const PropertyResult& property : kernel.properties) {
      if (property.answer == Answer::Proved)
        ++summary.proved;
      else if (property.answer == Answer::Refuted)
        ++summary.refuted;
      else if (!property.runAlone && !isSilentLibraryKernel(report, kernel))
        ++summary.unknown;
    }
  return summary;
}

} // namespace kcheck
