// Numbers of launches that host code computes and that do not fold (Formula), held against each other.
#pragma once

#include "report/program.h"

namespace kcheck {

/// Whether two launches of one kernel compute theirs in the same way, whatever the variables are: `k<<<1,
/// n>>>(n)` and `k<<<1, m>>>(m)` do, `k<<<1, n>>>(m)` does not. Of launches that are given buffers whose
/// sizes are computed as well, the variables must be the same.
bool sameFormulas(const Launch& a, const Launch& b);

/// The variables that it is computed from, by Formula::number.
std::set<unsigned> variablesOf(const Formula& formula);

} // namespace kcheck
