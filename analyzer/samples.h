// Grids that the host computes from numbers which it does not fix, tried with a number that no block divides:
// does the launch reach all of the array?
#pragma once

#include "report/report.h"

#include <map>
#include <optional>

namespace kcheck::analyzer {

/// The program's facts with values for the variables of its formulas; what then folds is known.
struct SampledFacts {
  Facts facts;
  std::map<unsigned, std::int64_t> values; ///< by Formula::number
};

/// Nothing where no grid depends on such a variable, or where the host may have seen to it that the number
/// fits.
std::optional<SampledFacts> sampled(const Facts& facts);

/// The finding as one that some input shows: for which sizes of the launch that it is about.
void wordAsSample(Finding& finding, const SampledFacts& sample, const Launch& launch);

} // namespace kcheck::analyzer
