// One answer per property from the answers for any launch and for each known launch.
#pragma once

#include "analyzer/findings/findings.h"

namespace kcheck::analyzer {

/// What was found for one launch case.
struct CaseAnswers {
  std::string holdsFor;
  std::vector<PropertyResult> properties;
  std::vector<std::string> assumptions;
  std::set<SiteId> safeSites;
  bool isCovered = true;             ///< what holds for any launch holds for this one
  bool showsRace = false;            ///< for certain, if perhaps of the same value: then it does not
  std::vector<std::string> narrowed; ///< what is taken for granted of the launch's shape (launches.h)
};

/// Takes back what rests on something else that failed: races are decided between barriers, so a divergent
/// barrier leaves them open; and what may be ordered by flags is not refuted.
void adjustProperties(std::vector<PropertyResult>& properties, const KernelAnswers& answers,
                      const FindingContext& context);

/// Proved for any launch counts first, unless a known launch is wider than that. Else the known launches
/// decide: refuted for one is refuted. Where all of these are proved the widest condition under which that is
/// so as well is told.
std::vector<PropertyResult> mergeProperties(const CaseAnswers& any, const std::vector<CaseAnswers>& cases,
                                            const std::vector<CaseAnswers>& conditional = {});

} // namespace kcheck::analyzer
