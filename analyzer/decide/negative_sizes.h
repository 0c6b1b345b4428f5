// A witness with a negative size or place mostly shows a launch that nobody means. What counts is whether
// there is another one; where there is none, that is an assumption.
#pragma once

#include "analyzer/decide/checks.h"

#include <functional>
#include <initializer_list>

namespace kcheck::analyzer {

/// Asks again where numbers are not negative that are so in the witness, unless the kernel does this for
/// negative ones. `again` asks the question of `verdict` where a condition (width 1) holds as well.
void preferNotNegative(const Check& check, PropertyAnswer& answer,
                       std::initializer_list<const ModelAccess*> accesses, Verdict& verdict,
                       const std::function<Verdict(Expr wanted)>& again);

} // namespace kcheck::analyzer
