// What of the answers is told: not what something that the model does not follow may keep from happening.
#pragma once

#include "analyzer/findings/findings.h"

namespace kcheck::analyzer {

/// Whether all that the kernel has to order threads by is in the memory of a block, and the blocks come to
/// the same place whatever that says: who takes a lock of the block's own keeps no other block out.
bool isOrderedWithinBlocksOnly(const RaceResult& race, const KernelModel& model);

/// Whether the race may be ordered by the outcome of an atomic operation, a flag or a lock, which the model
/// does not follow: then it is no finding, but a reason not to know.
bool mayBeOrdered(const RaceResult& race, const FindingContext& context);

/// Whether where the access goes depends on what memory holds: the arrays that the kernel is given, or what
/// it has computed itself. The model takes any content for possible, and a program has one.
bool followsContent(const ModelAccess& access);

/// By pair of sites.
using RacePairs = std::vector<std::vector<const RaceResult*>>;
RacePairs racesToTell(const KernelAnswers& answers, const FindingContext& context);

/// One for each barrier.
std::vector<const DivergenceResult*> divergencesToTell(const KernelAnswers& answers, const RacePairs& races,
                                                       const FindingContext& context);

bool isWorthTelling(const BoundsResult& bounds);

bool samePlace(const Location& a, const Location& b);

} // namespace kcheck::analyzer
