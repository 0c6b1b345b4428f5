// What a launch's shape alone says: it cannot start, or it leaves most of the device idle. Asked of the
// launches in host code and of those that the run made.
#pragma once

#include "report/report.h"

namespace kcheck {

/// Why the launch cannot start on any device; empty when it can, as far as its shape is known.
std::string whyInvalid(const Launch& launch);

/// Findings about the shapes of launches: `invalid-launch` and `launch-shape`. One thread is enough for the
/// kernels of `brief` (symbols): they have no work that others could share.
std::vector<Finding> launchFindings(const std::vector<Launch>& launches, const Facts& facts, Verdict verdict,
                                    const std::set<std::string>& brief = {});

} // namespace kcheck
