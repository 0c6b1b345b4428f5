// Findings of which a user can or need do little: dropped, or told as notes. Used by merge.cpp only.
#pragma once

#include "report/report.h"

namespace kcheck {

/// How a library lays out its memory traffic, and how it launches its own kernels, is nothing that its user
/// could change. What the user's function does in such a kernel is.
void dropLibraryAdvice(std::vector<Finding>& findings, const Facts& facts);

/// What orders the threads of a library's own kernel is the library's business, down to orders that only its
/// authors rely on: a race between two of its places is told as a note, since the user's part in it can only
/// be what the library was given.
void quietenLibraryRaces(std::vector<Finding>& findings, const Facts& facts);

/// The run used the values that the launches do not show the static pass. A finding that leans on other
/// values, at places where the run saw nothing, is no finding of this program: the answer stays unknown, with
/// that reason. Of one that takes no more than a larger input a note stays. Whether barriers part threads is
/// told all the same where the kernel races: what its threads are to agree on may be raced for, too.
void dropOtherValues(std::vector<Finding>& findings, const RunResult& run, const Facts& facts);

/// A race whose places are where a loop leads the access, or something else that the static pass could not
/// follow: where the run has been at both and saw nothing, the answer stays unknown, with that reason.
void dropUnfollowed(std::vector<Finding>& findings, const std::vector<Metric>& seen);

/// An access outside, or a barrier that threads may miss, by values that the static pass could not follow:
/// where the run has been at the access, or has launched the kernel, and saw nothing, that is a note. Not of
/// a barrier where the kernel races: what its threads are to agree on may be raced for.
void quietenUnseen(std::vector<Finding>& findings, const Report& report);

/// A program that ends early because of what the run told as an error does not come to its cudaFree.
void quietenLeaks(std::vector<Finding>& findings, const RunResult& run);

} // namespace kcheck
