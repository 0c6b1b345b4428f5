// Floating-point values that are exact: integers of few bits, taken by powers of two, added and multiplied.
#pragma once

#include "analyzer/expr/expr.h"

#include <functional>

namespace llvm {
class CastInst;
class Value;
} // namespace llvm

namespace kcheck::analyzer {

/// What the conversion to an integer gives. `valueOf` gives the expressions of integers. Null where the value
/// may have been rounded on the way, or is not followed.
Expr exactInteger(ExprContext& exprs, const llvm::CastInst& conversion,
                  const std::function<Expr(const llvm::Value*)>& valueOf);

} // namespace kcheck::analyzer
