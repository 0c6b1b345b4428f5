// What to do about two accesses that hold locks, but not the same one.
#pragma once

#include "analyzer/findings/findings.h"

#include <string>

namespace kcheck::analyzer {

/// Names the locks; empty where neither holds one, or both hold one that may be the same.
std::string lockHint(const RaceResult& race, const FindingContext& context);

} // namespace kcheck::analyzer
