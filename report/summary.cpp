// The counts of a report, made in one place so that text, JSON and exit status agree.
#include "report/report.h"

namespace kcheck {

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
      else
        ++summary.unknown;
    }
  return summary;
}

} // namespace kcheck
