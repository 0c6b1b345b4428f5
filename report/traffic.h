// Notes on memory traffic from metrics of either pass: uncoalesced global accesses and bank conflicts. One
// definition of what is worth a note, so that both passes agree.
#pragma once

#include "report/report.h"

namespace kcheck {

/// Whether a global access moves so many more sectors than its bytes need that it is worth a note.
bool isUncoalesced(const Metric& metric);
/// Whether a shared access waits for banks often enough; `bytes` is what one lane accesses.
bool hasBankConflict(const Metric& metric, std::uint32_t bytes);

/// The note that the metric deserves, if any. Metric::kernel becomes the finding's.
std::optional<Finding> trafficNote(const Metric& metric, const Facts& facts);

} // namespace kcheck
