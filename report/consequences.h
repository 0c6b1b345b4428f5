// Findings that another finding explains: dropped, folded into it, or marked as what it led to. Used by
// merge.cpp only.
#pragma once

#include "report/report.h"

namespace kcheck {

/// An access that leaves its array only because it is misaligned is one mistake: what the static pass says of
/// its end goes, where the run has told that it is askew.
void dropAskewEnds(std::vector<Finding>& findings);

/// A read that did not wait for the launch or copy that writes the memory also finds, in some orders, that
/// nobody has written it yet. That is the race once more, not a second fault: it becomes a note of the race.
/// Within a launch the run itself tells the one from the other, word by word.
void foldEarlyReads(std::vector<Finding>& findings);

/// That several threads write the same value at one place is nothing beside the race of that place with
/// another, or where the place lies outside of its array: what mends that comes first, and the note comes
/// back if it is still true then.
void dropSameValuesBesideRaces(std::vector<Finding>& findings);

/// A race in an array that one of its accesses reaches past the end of another one: says which.
void noteOverruns(std::vector<Finding>& findings);

/// What the run saw go wrong where the index or condition comes from memory that is raced for, where a thread
/// has written past its own array, behind a barrier that threads miss, and reads and copies of what was
/// written elsewhere or not at all: says what to mend first.
void noteFollowing(std::vector<Finding>& findings);

} // namespace kcheck
