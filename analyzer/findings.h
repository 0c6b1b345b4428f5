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

/// Whether the race may be ordered by the outcome of an atomic operation, a flag or a lock, which the model
/// does not follow: then it is no finding, but a reason not to know.
bool mayBeOrdered(const RaceResult& race, const FindingContext& context);

/// Whether where the access goes depends on what memory holds: the arrays that the kernel is given, or what
/// it has computed itself. The model takes any content for possible, and a program has one.
bool followsContent(const ModelAccess& access);

std::vector<Finding> findingsOf(const KernelAnswers& answers, const FindingContext& context);

} // namespace kcheck::analyzer
