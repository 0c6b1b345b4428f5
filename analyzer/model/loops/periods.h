// What comes again after some rounds of a loop, because it follows the low bits or the rest of the round's
// number.
#pragma once

#include "analyzer/expr/expr.h"

namespace kcheck::analyzer {

/// Whether the values of `e` come again after `period` rounds.
bool comesAgain(Expr e, Expr round, std::int64_t period);
/// The values of `e` in the first rounds, after which they come again: as few as there are, each a constant.
/// Empty where that is not so.
std::vector<Expr> valuesInTurn(ExprContext& exprs, Expr e, Expr round);

} // namespace kcheck::analyzer
