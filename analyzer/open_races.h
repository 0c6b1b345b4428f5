// Races that are possible only, or no findings at all, because atomic operations, flags or locks may order
// the two threads or because the witness leans on what the model does not follow: a run may show them.
#pragma once

#include "analyzer/analyzer.h"
#include "analyzer/findings/findings.h"

namespace kcheck::analyzer {

/// Those of places that a run with any arrays comes to. Where the host's arrays say which places those are
/// (the rows of a matrix, room that was counted before), threads are kept apart by what is in them, and a run
/// with other arrays would show races that no program has. Not so where atomic operations choose by the same
/// elements: those are there because threads meet.
std::vector<OpenRace> openRacesOf(const KernelAnswers& answers, const FindingContext& context);

/// Adds the arrays on which atomic or volatile operations work, and those in which it looks for a number.
void noteWanted(const KernelModel& model, WantedContents& wanted);

} // namespace kcheck::analyzer
