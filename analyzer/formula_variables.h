// Which variables of host code a launch hangs on, by Formula::number.
#pragma once

#include "report/formulas.h"

#include <set>

namespace kcheck::analyzer {

/// Of the numbers that the kernel is given.
std::set<unsigned> variablesOfNumbers(const Launch& launch);
/// Of the sizes of its buffers.
std::set<unsigned> variablesOfSizes(const Launch& launch, const std::vector<Allocation>& allocations);

} // namespace kcheck::analyzer
