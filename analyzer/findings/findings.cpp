#include "analyzer/findings/findings.h"

#include "analyzer/findings/kinds.h"
#include "analyzer/findings/worth_telling.h"

namespace kcheck::analyzer {

std::vector<Finding> findingsOf(const KernelAnswers& answers, const FindingContext& context) {
  std::vector<Finding> findings;
  const auto races = racesToTell(answers, context);
  for (auto& pair : races) findings.push_back(raceFinding(pair, context));
  dropCoveredWarpRaces(findings);
  for (const DivergenceResult* divergence : divergencesToTell(answers, races, context))
    findings.push_back(divergenceFinding(*divergence, context));
  for (const LaneCallResult& call : answers.laneCalls) findings.push_back(laneCallFinding(call, context));
  for (const BoundsResult& bounds : answers.bounds)
    if (isWorthTelling(bounds)) findings.push_back(boundsFinding(bounds, context));
  for (const AskewResult& askew : answers.askew) findings.push_back(askewFinding(askew, context));
  for (const UnwrittenResult& unwritten : answers.unwritten)
    findings.push_back(unwrittenFinding(unwritten, context));
  return findings;
}

} // namespace kcheck::analyzer
