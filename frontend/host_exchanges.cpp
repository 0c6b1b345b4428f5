#include "frontend/host_exchanges.h"

#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>

namespace kcheck::frontend {
namespace {

/// The local pointer that an expression names.
const clang::VarDecl* localPointer(const clang::Expr* expr) {
  const auto* reference = expr ? llvm::dyn_cast<clang::DeclRefExpr>(expr->IgnoreParenImpCasts()) : nullptr;
  const auto* variable = reference ? llvm::dyn_cast<clang::VarDecl>(reference->getDecl()) : nullptr;
  if (!variable || !variable->isLocalVarDecl() || !variable->hasLocalStorage()) return nullptr;
  return variable->getType()->isPointerType() ? variable->getCanonicalDecl() : nullptr;
}
const clang::BinaryOperator* asAssignment(const clang::Stmt* statement) {
  const auto* op = llvm::dyn_cast<clang::BinaryOperator>(statement);
  return op && op->getOpcode() == clang::BO_Assign ? op : nullptr;
}

} // namespace

std::vector<FoundExchange> exchangesIn(const clang::CompoundStmt& body) {
  std::vector<FoundExchange> found;
  const clang::Stmt* previous[2] = {};
  for (const clang::Stmt* child : body.body()) {
    Exchange exchange;
    exchange.where = child->getBeginLoc();
    std::vector<const clang::Expr*> parts;
    const auto* expr = llvm::dyn_cast<clang::Expr>(child);
    const auto* call = expr ? llvm::dyn_cast<clang::CallExpr>(expr->IgnoreImplicit()) : nullptr;
    if (call && isNamed(*call, "swap") && call->getDirectCallee()->isInStdNamespace() &&
        call->getNumArgs() == 2) {
      parts = {call->getArg(0), call->getArg(1)};
    } else if (const auto* last = asAssignment(child),
               *middle = previous[1] ? asAssignment(previous[1]) : nullptr;
               last && middle && previous[0]) {
      const auto* start = llvm::dyn_cast<clang::DeclStmt>(previous[0]);
      const auto* kept =
          start && start->isSingleDecl() ? llvm::dyn_cast<clang::VarDecl>(start->getSingleDecl()) : nullptr;
      const bool rotates = kept && localPointer(last->getRHS()) == kept->getCanonicalDecl() &&
                           localPointer(kept->getInit()) == localPointer(middle->getLHS()) &&
                           localPointer(middle->getRHS()) == localPointer(last->getLHS());
      if (rotates) parts = {middle->getLHS(), last->getLHS()};
    }
    if (!parts.empty()) {
      exchange.first = localPointer(parts[0]);
      exchange.second = localPointer(parts[1]);
      found.push_back({exchange, parts, {}});
      if (!call) found.back().assignments = {asAssignment(previous[1]), asAssignment(child)};
    }
    previous[0] = previous[1];
    previous[1] = child;
  }
  return found;
}

} // namespace kcheck::frontend
