// Looks for values that satisfy conditions by trying the usual suspects: the first threads and blocks, small
// counters, round sizes. Most races show there, and such witnesses read best.
#pragma once

#include "analyzer/decide/copies.h"
#include "analyzer/expr/evaluate.h"

#include <optional>

namespace kcheck::analyzer {

/// Values under which every constraint is true and defined, if some were found. `relation` is absent for
/// questions about one thread.
std::optional<Assignment> searchWitness(const std::vector<Expr>& constraints, const Copies& copies,
                                        std::optional<Relation> relation);

} // namespace kcheck::analyzer
