// Races that are no findings only because atomic operations, flags or locks may order the two threads, which
// the model does not follow.
#pragma once

#include "analyzer/analyzer.h"
#include "analyzer/findings.h"

namespace kcheck::analyzer {

/// Those of places that a run with any arrays comes to. Where the host's arrays say which places those are
/// (the rows of a matrix, room that was counted before), threads are kept apart by what is in them, and a run
/// with other arrays would show races that no program has. Not so where atomic operations choose by the same
/// elements: those are there because threads meet.
std::vector<OpenRace> openRacesOf(const KernelAnswers& answers, const FindingContext& context);

} // namespace kcheck::analyzer
