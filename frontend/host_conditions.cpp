#include "frontend/host_conditions.h"

#include "frontend/formula_parts.h"
#include "frontend/pretty.h"
#include "report/formulas.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>

#include <algorithm>

namespace kcheck::frontend {
namespace {

bool isStatus(clang::QualType type) { // whether a call of the CUDA API went well
  const auto* enumeration = type->getAs<clang::EnumType>();
  return enumeration && enumeration->getDecl()->getName().starts_with("cudaError");
}

/// The variables and fields that an expression names; not in what only says whether a call went well.
class NamesVisitor : public clang::RecursiveASTVisitor<NamesVisitor> {
public:
  bool TraverseStmt(clang::Stmt* statement) {
    const auto* expr = llvm::dyn_cast_or_null<clang::Expr>(statement);
    return (expr && isStatus(expr->getType())) || RecursiveASTVisitor::TraverseStmt(statement);
  }
  bool TraverseUnaryExprOrTypeTraitExpr(clang::UnaryExprOrTypeTraitExpr*) { return true; } // not evaluated
  bool VisitDeclRefExpr(clang::DeclRefExpr* reference) {
    if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl()))
      named.insert(variable->getCanonicalDecl());
    return true;
  }
  bool VisitMemberExpr(clang::MemberExpr* member) {
    named.insert(member->getMemberDecl()->getCanonicalDecl());
    return true;
  }
  std::set<const clang::Decl*> named;
};

std::set<unsigned> variablesOfLaunch(const Launch& launch, std::span<const Allocation> allocations) {
  std::set<unsigned> result;
  for (const auto* axes : {&launch.gridFormulas, &launch.blockFormulas})
    for (const auto& axis : *axes)
      if (axis) result.merge(variablesOf(*axis));
  for (const Argument& argument : launch.arguments) {
    if (argument.formula) result.merge(variablesOf(*argument.formula));
    if (argument.allocation && allocations[*argument.allocation].formula)
      result.merge(variablesOf(*allocations[*argument.allocation].formula));
  }
  return result;
}

/// Conditions that are of such variables, or of others that those have to do with.
std::vector<Formula> bearingOn(std::set<unsigned> variables, std::vector<Formula> conditions) {
  std::vector<Formula> result;
  for (bool isNew = true; isNew;) {
    isNew = false;
    std::erase_if(conditions, [&](Formula& condition) {
      std::set<unsigned> own = variablesOf(condition);
      if (std::ranges::none_of(own, [&](unsigned number) { return variables.contains(number); }))
        return false;
      variables.merge(own);
      if (std::ranges::none_of(result, [&](const Formula& known) { return known == condition; }))
        result.push_back(std::move(condition));
      return isNew = true;
    });
  }
  return result;
}

} // namespace

void HostConditions::collect(const clang::Expr& condition, bool must, const ScopePointer& scope,
                             Found& found) const {
  const clang::Expr* plain = condition.IgnoreParenImpCasts();
  if (const auto* op = llvm::dyn_cast<clang::UnaryOperator>(plain); op && op->getOpcode() == clang::UO_LNot)
    return collect(*op->getSubExpr(), !must, scope, found);
  if (const auto* op = llvm::dyn_cast<clang::BinaryOperator>(plain);
      op && op->getOpcode() == (must ? clang::BO_LAnd : clang::BO_LOr)) {
    collect(*op->getLHS(), must, scope, found);
    return collect(*op->getRHS(), must, scope, found);
  }
  if (auto formula = values.truth(condition, scope))
    found.known.push_back(must ? std::move(*formula) : opposite(std::move(*formula)));
  else
    found.open.push_back({&condition, scope});
}

std::optional<Formula> HostConditions::isOneOf(const Guard& guard, const ScopePointer& scope) const {
  const auto chosen = values.formula(*guard.condition, scope);
  if (!chosen) return std::nullopt;
  std::optional<Formula> result;
  for (const clang::Expr* label : guard.cases) {
    const auto value = values.integer(*label, scope);
    if (!value) return std::nullopt;
    Formula equal = combined(Formula::Op::Equal, *chosen, ofConstant(*value));
    result = result ? combined(Formula::Op::Or, std::move(*result), std::move(equal)) : std::move(equal);
  }
  return result;
}

void HostConditions::collect(const Around& around, const ScopePointer& outer, Found& found) const {
  for (const Guard& guard : around.guards) {
    const auto inside = guard.within ? values.entered(*guard.within, outer) : std::optional(outer);
    if (!inside) continue;
    const ScopePointer& scope = *inside;
    if (uses.hasLabels) {
      found.open.push_back({guard.condition, scope});
    } else if (guard.cases.empty()) {
      collect(*guard.condition, guard.must, scope, found);
    } else if (auto formula = isOneOf(guard, scope)) {
      found.known.push_back(guard.must ? std::move(*formula) : opposite(std::move(*formula)));
    } else {
      found.open.push_back({guard.condition, scope});
    }
  }
}

/// And what gives the variable its value.
void HostConditions::addOrigins(const clang::VarDecl& variable, const ScopePointer& scope,
                                Origins& origins) const {
  if (isStatus(variable.getType()) || !origins.insert(variable.getCanonicalDecl()).second) return;
  if (const auto* parameter = llvm::dyn_cast<clang::ParmVarDecl>(&variable)) {
    for (ScopePointer s = scope; s; s = s->outer)
      if (const auto entry = s->arguments.find(parameter); entry != s->arguments.end())
        return addOrigins(*entry->second, s->outer, origins);
    return;
  }
  if (const clang::Expr* init = variable.getAnyInitializer()) addOrigins(*init, scope, origins);
  const auto own = uses.variables.find(variable.getCanonicalDecl());
  if (own == uses.variables.end()) return;
  for (const Event& event : own->second.events)
    if (event.value) addOrigins(*event.value, scope, origins);
}

void HostConditions::addOrigins(const clang::Expr& expr, const ScopePointer& scope, Origins& origins) const {
  NamesVisitor visitor;
  visitor.TraverseStmt(const_cast<clang::Expr*>(&expr));
  for (const clang::Decl* named : visitor.named)
    if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(named))
      addOrigins(*variable, scope, origins);
    else
      origins.insert(named);
}

void HostConditions::add(const clang::CallExpr& call, const ScopePointer& scope,
                         std::span<const clang::Expr* const> hidden, std::span<const Allocation> allocations,
                         Launch& launch) const {
  Found found;
  const auto collectAt = [&](const void* place, const ScopePointer& outer) {
    const auto around = uses.around.find(static_cast<const clang::CallExpr*>(place));
    if (around != uses.around.end()) collect(around->second, outer, found);
  };
  collectAt(&call, scope);
  for (ScopePointer s = scope; s; s = s->outer)
    if (s->function) collectAt(s->entry, s->outer);
  launch.conditions = bearingOn(variablesOfLaunch(launch, allocations), std::move(found.known));
  Origins made;
  for (const clang::Expr* expr : hidden) addOrigins(*expr, scope, made);
  for (const Open& open : found.open) {
    Origins asked;
    addOrigins(*open.condition, open.scope, asked);
    if (std::ranges::none_of(asked, [&](const clang::Decl* one) { return made.contains(one); })) continue;
    launch.unfollowed = locate(open.condition->getSourceRange(), ast);
    return;
  }
}

} // namespace kcheck::frontend
