// Races that a reader sees as one: several statements of one line, or what a macro or template makes of it.
#pragma once

#include "report/finding.h"

#include <vector>

namespace kcheck {

/// Of the races of one kernel for one array that is written in one line and accessed in another one, or the
/// same, the surest one is kept, and the one that comes first in the source; a note says how many more there
/// are.
void joinOfSameLines(std::vector<Finding>& findings);

} // namespace kcheck
