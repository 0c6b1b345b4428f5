// What the walk over host code notes of the expressions that it meets: each reference to a variable or field
// is settled, or counts against it.
#pragma once

#include "frontend/host_uses.h"

namespace clang {
class BinaryOperator;
class CXXConstructorDecl;
class CXXMemberCallExpr;
class DeclRefExpr;
class ForStmt;
class SourceManager;
} // namespace clang

namespace kcheck::frontend {

/// The variable or field at the root of `a.b.c`: the expression whose use must be settled.
const clang::Expr* rootOf(const clang::Expr* expr);

class UsesRecord {
protected:
  UsesRecord(const clang::SourceManager& sources, HostUses& uses) : sources(sources), uses(uses) {}

  void settle(const clang::Expr* lvalue);
  const clang::CompoundStmt* blockOf(const clang::Stmt* statement) const;
  /// Whether the lvalue names something whose changes are followed; then it is settled.
  bool noteEvent(const clang::Expr& lvalue, Event event);
  /// Of a container: its elements are not followed, their number is.
  void noteMethod(const clang::CXXMemberCallExpr& call);
  void noteInitializers(const clang::CXXConstructorDecl& made);
  void noteAllocation(const clang::CallExpr& call, const AllocationCall& allocation);
  /// A number that gets a new one, which is not followed: `n *= 2`.
  void noteChange(const clang::Expr& lvalue, const clang::Expr& change);
  /// `scanf("%d", &n)`, `cudaGetDevice(&d)`, `std::cin >> n`: functions that write a number and forget where.
  void noteInputs(const clang::CallExpr& call);
  /// What a function does to its parameter, it does to the variable.
  void noteReferences(const clang::CallExpr& call);
  /// `for (int i = 1; i < 8; i *= 2)`: the update is the loop's own.
  void noteLoop(const clang::ForStmt& loop);
  /// `void* args[] = {&n, &d}` of a launch call: the launch only reads them.
  void settleArguments(const clang::Expr& expr);
  /// cudaLaunchKernelEx(&config, kernel, ...) reads its configuration.
  void settleConfiguration(const clang::CallExpr& call);
  /// The exchanges in the body of the innermost loop.
  void noteSwaps(const clang::CompoundStmt& block);
  void noteExchanges(const clang::CompoundStmt& body);

  const clang::SourceManager& sources;
  HostUses& uses;
  Around around;
  std::map<const clang::Stmt*, const clang::CompoundStmt*> statementOf;
  std::set<const clang::Expr*> settled;
  std::set<const clang::BinaryOperator*> exchanging; ///< assignments that are parts of an exchange
  std::set<const clang::DeclRefExpr*> called;

private:
  bool enter(const Exchange& exchange);
};

} // namespace kcheck::frontend
