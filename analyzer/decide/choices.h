// Choices and alternatives that are no choice where a condition holds.
#pragma once

#include "analyzer/expr/range.h"

namespace kcheck::analyzer {

/// The condition without the alternatives that the rest of it excludes: `p && (!p || q)` is `p && q`, also
/// among many others, as in a flag put together by `&&`.
Expr withoutExcluded(ExprContext& c, Expr condition);
/// `e` with the choices made that the condition settles.
Expr chosen(ExprContext& c, Expr condition, Expr e);
/// `e` with the choices made that the ranges settle.
Expr settled(ExprContext& c, Ranges& ranges, Expr e);

} // namespace kcheck::analyzer
