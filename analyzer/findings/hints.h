// What would order the two accesses of a race, said so that it can be done: a barrier belongs where all
// threads come.
#pragma once

#include "analyzer/decide/races.h"

#include <string>

namespace kcheck::analyzer {

/// `expr` and `updates`: of the first access, as Site has them. `locksWithinBlocks`: what might order threads
/// orders those of one block alone, and these are of two. Empty where there is no short way.
std::string raceHint(const RaceResult& race, const KernelModel& model, const std::string& rule,
                     const std::string& expr, const std::string& updates, bool locksWithinBlocks);

} // namespace kcheck::analyzer
