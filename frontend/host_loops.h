// The parts of a loop that counts: `for (int i = 0; i < n; i++)`.
#pragma once

#include <clang/AST/Expr.h>

#include <optional>
#include <utility>

namespace clang {
class ForStmt;
class VarDecl;
} // namespace clang

namespace kcheck::frontend {

/// `i < n`: the operator with the counter on its left, and the bound.
std::optional<std::pair<clang::BinaryOperatorKind, const clang::Expr*>>
limitOf(const clang::ForStmt& loop, const clang::VarDecl& counter);
/// The counter of `for (int i = ...)`; null where there is none.
const clang::VarDecl* counterOf(const clang::ForStmt& loop);

} // namespace kcheck::frontend
