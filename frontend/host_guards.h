// What is known behind statements that not everybody comes through: `if (n > 256) return;`, `assert(n > 0);`.
#pragma once

#include "frontend/host_uses.h"

namespace clang {
class DoStmt;
class SwitchStmt;
} // namespace clang

namespace kcheck::frontend {

/// `do { } while (0)`, of macros.
bool isOnce(const clang::DoStmt& loop, const clang::ASTContext& ast);
/// `break` or `continue`, of an inner loop perhaps.
bool hasBreak(const clang::Stmt& statement);
/// Whether a `break` or `continue` in there leads out of the loop's round.
bool mayBreak(const clang::DoStmt& loop);
/// Whether control never goes on behind the statement.
bool leaves(const clang::Stmt& statement);
/// A condition without what only makes a truth value of it.
const clang::Expr& plainCondition(const clang::Expr& condition);
/// What holds for whoever comes to the statements behind this one, in the same block.
std::vector<Guard> guardsBehind(const clang::Stmt& statement, const clang::ASTContext& ast);
/// Whether labels of the switch stand further in than its own statements.
bool hasInnerLabels(const clang::SwitchStmt& choice);
/// The labels of a switch; none where one of them is a range of values.
std::vector<const clang::Expr*> casesOf(const clang::CompoundStmt& body);

} // namespace kcheck::frontend
