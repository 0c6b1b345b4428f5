// Which variables of host code a launch hangs on, by Formula::number.
#pragma once

#include "report/program.h"

#include <set>

namespace kcheck::analyzer {

std::set<unsigned> variablesOf(const Formula& formula);
/// Of the numbers that the kernel is given.
std::set<unsigned> variablesOfNumbers(const Launch& launch);
/// Of the sizes of its buffers.
std::set<unsigned> variablesOfSizes(const Launch& launch, const std::vector<Allocation>& allocations);

} // namespace kcheck::analyzer
