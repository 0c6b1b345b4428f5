#include "frontend/host_frees.h"

#include "frontend/host_uses.h"

#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>

namespace kcheck::frontend {
namespace {

using Frees = std::vector<const clang::CallExpr*>;

/// Whether control may leave the statement, or come into it, in other ways than by its ends.
bool jumps(const clang::Stmt* statement) {
  if (!statement || llvm::isa<clang::LambdaExpr>(statement)) return false;
  if (llvm::isa<clang::BreakStmt, clang::ContinueStmt, clang::GotoStmt, clang::IndirectGotoStmt,
                clang::LabelStmt, clang::SwitchCase>(statement))
    return true;
  return std::ranges::any_of(statement->children(), jumps);
}

bool hasLabels(const clang::Stmt* statement) {
  if (!statement) return false;
  return llvm::isa<clang::LabelStmt>(statement) || std::ranges::any_of(statement->children(), hasLabels);
}

/// Walks statements in the order in which they run.
class FreesWalk {
public:
  std::map<const clang::CallExpr*, Frees> before;

  /// `frees` are those that have surely been made; those that the statement surely makes are added.
  void walk(const clang::Stmt* statement, Frees& frees) {
    if (!statement || llvm::isa<clang::LambdaExpr>(statement)) return; // called who knows when
    if (const auto* loop = llvm::dyn_cast<clang::DoStmt>(statement)) {
      if (jumps(loop->getBody())) return maybe(statement, frees);
      walk(loop->getBody(), frees);
      return walk(loop->getCond(), frees);
    }
    if (const auto* branch = llvm::dyn_cast<clang::IfStmt>(statement)) {
      walk(branch->getInit(), frees);
      walk(branch->getConditionVariableDeclStmt(), frees);
      walk(branch->getCond(), frees);
      aside(branch->getThen(), frees);
      return aside(branch->getElse(), frees);
    }
    if (llvm::isa<clang::ForStmt, clang::WhileStmt, clang::CXXForRangeStmt, clang::SwitchStmt,
                  clang::CXXTryStmt, clang::ConditionalOperator>(statement))
      return maybe(statement, frees);
    if (const auto* op = llvm::dyn_cast<clang::BinaryOperator>(statement); op && op->isLogicalOp())
      return maybe(statement, frees);
    for (const clang::Stmt* child : statement->children()) walk(child, frees);
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(statement)) {
      before.emplace(call, frees);
      if (isNamed(*call, "cudaFree") && call->getNumArgs() == 1) frees.push_back(call);
    }
  }

private:
  /// What of the parts runs, and how often, is not asked.
  void maybe(const clang::Stmt* statement, const Frees& frees) {
    for (const clang::Stmt* child : statement->children()) aside(child, frees);
  }

  /// In a switch each case begins with what has been freed before all of them.
  void aside(const clang::Stmt* statement, Frees frees) {
    const auto* block = llvm::dyn_cast_or_null<clang::CompoundStmt>(statement);
    if (!block || !std::ranges::any_of(block->body(), [](const clang::Stmt* child) {
          return llvm::isa<clang::SwitchCase>(child);
        }))
      return walk(statement, frees);
    const Frees start = frees;
    for (const clang::Stmt* child : block->body()) {
      if (llvm::isa<clang::SwitchCase>(child)) frees = start;
      walk(child, frees);
    }
  }
};

} // namespace

std::map<const clang::CallExpr*, std::vector<const clang::CallExpr*>>
freesBeforeCalls(const clang::FunctionDecl& function) {
  FreesWalk walk;
  Frees none;
  if (function.hasBody() && !hasLabels(function.getBody())) walk.walk(function.getBody(), none);
  return std::move(walk.before);
}

} // namespace kcheck::frontend
