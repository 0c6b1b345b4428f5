// unchecked-error: calls of the CUDA runtime whose result nobody looks at. Whether they fail, the run sees.
#include "frontend/host_rules.h"

#include "frontend/pretty.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>

namespace kcheck::frontend {
namespace {

bool returnsError(const clang::CallExpr& call) {
  const clang::FunctionDecl* callee = call.getDirectCallee();
  if (!callee || !callee->getIdentifier() || !callee->getName().starts_with("cuda")) return false;
  const auto* type = callee->getReturnType()->getAs<clang::EnumType>();
  return type && type->getDecl()->getName() == "cudaError";
}

class IgnoredCalls : public clang::RecursiveASTVisitor<IgnoredCalls> {
public:
  IgnoredCalls(const clang::ASTContext& ast, std::vector<IgnoredCall>& found) : ast(ast), found(found) {}

  bool shouldVisitTemplateInstantiations() const { return true; }

  bool VisitCompoundStmt(clang::CompoundStmt* block) {
    for (const clang::Stmt* statement : block->body()) look(statement);
    return true;
  }
  bool VisitIfStmt(clang::IfStmt* branch) { return look(branch->getThen()) && look(branch->getElse()); }
  bool VisitForStmt(clang::ForStmt* loop) { return look(loop->getBody()) && look(loop->getInc()); }
  bool VisitWhileStmt(clang::WhileStmt* loop) { return look(loop->getBody()); }
  bool VisitDoStmt(clang::DoStmt* loop) { return look(loop->getBody()); }
  bool VisitCXXForRangeStmt(clang::CXXForRangeStmt* loop) { return look(loop->getBody()); }
  bool VisitSwitchCase(clang::SwitchCase* option) { return look(option->getSubStmt()); }

private:
  /// A statement by itself; what is cast to void is meant so.
  bool look(const clang::Stmt* statement) {
    const auto* whole = llvm::dyn_cast_or_null<clang::Expr>(statement);
    const auto* call =
        whole ? llvm::dyn_cast<clang::CallExpr>(whole->IgnoreImplicit()->IgnoreParens()) : nullptr;
    if (!call || !returnsError(*call)) return true;
    const Location where = locate(ast.getSourceManager().getExpansionLoc(call->getBeginLoc()), ast);
    const bool isKnown =
        std::ranges::any_of(found, [&](const IgnoredCall& one) { return one.where == where; });
    if (where.known() && !isKnown) found.push_back({where, call->getDirectCallee()->getName().str()});
    return true;
  }

  const clang::ASTContext& ast;
  std::vector<IgnoredCall>& found;
};

} // namespace

std::vector<IgnoredCall> ignoredCalls(clang::ASTContext& ast) {
  std::vector<IgnoredCall> found;
  IgnoredCalls(ast, found).TraverseAST(ast);
  return found;
}

} // namespace kcheck::frontend
