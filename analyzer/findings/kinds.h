// One finding of each kind of answer.
#pragma once

#include "analyzer/findings/findings.h"

namespace kcheck::analyzer {

/// Of all races of a pair of sites. The widest one tells the story.
Finding raceFinding(const std::vector<const RaceResult*>& pair, const FindingContext& context);
/// Of one statement's races the one between warps or blocks tells more than the one within a warp.
void dropCoveredWarpRaces(std::vector<Finding>& findings);

Finding divergenceFinding(const DivergenceResult& divergence, const FindingContext& context);
Finding laneCallFinding(const LaneCallResult& result, const FindingContext& context);
Finding unwrittenFinding(const UnwrittenResult& unwritten, const FindingContext& context);
Finding askewFinding(const AskewResult& askew, const FindingContext& context);
Finding boundsFinding(const BoundsResult& bounds, const FindingContext& context);

} // namespace kcheck::analyzer
