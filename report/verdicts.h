// What the run has seen, against what the static pass has answered. Used by merge.cpp only.
#pragma once

#include "report/report.h"

namespace kcheck {

bool isAbout(const Finding& finding, const KernelResult& kernel);

/// Findings of the run settle what is unknown and refute what was proved: an internal error, where nothing
/// else explains it. `fromRun`: what the run alone says.
void letRunSpeak(Report& report, const std::vector<Finding>& fromRun);

} // namespace kcheck
