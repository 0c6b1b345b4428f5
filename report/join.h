// When two findings are the same thing, and what becomes of them. Used by merge.cpp only.
#pragma once

#include "report/report.h"

namespace kcheck {

/// Fills in what sites and kernels know (places, expressions, names) and puts a race's primary access first:
/// the write, or the first in the source when both write. Severity is at most the rule's.
void normalize(Finding& finding, const Facts& facts, bool strict);

/// Races: the same two places. Else the same rule at the same place.
bool sameThing(const Finding& a, const Finding& b);

/// Findings of one pass, each thing once: counts added up, further kernels listed.
std::vector<Finding> withoutDuplicates(std::vector<Finding> findings);

/// Findings of both passes; what both have becomes `Confirmed`, with the run's threads and values and the
/// static pass's reach.
std::vector<Finding> joinPasses(std::vector<Finding> fromStatic, std::vector<Finding> fromRun);

} // namespace kcheck
