// Words for what the deciders found: one finding per pair of sites, per divergent barrier and per access that
// leaves its object.
#pragma once

#include "analyzer/decide/races.h"

namespace kcheck::analyzer {

/// What the words need besides the answers.
struct FindingContext {
  const Facts& facts;
  const KernelModel& model;
  std::string holdsFor; ///< the launch that the answers are about
};

std::vector<Finding> findingsOf(const KernelAnswers& answers, const FindingContext& context);

} // namespace kcheck::analyzer
