#include "frontend/host_conditions.h"

#include "frontend/host_guards.h"
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

} // namespace

/// The same way without what branches say of single variables: what is asked of those is what is looked for.
static ScopePointer withoutBranches(const ScopePointer& scope) {
  if (!scope) return nullptr;
  ScopePointer outer = withoutBranches(scope->outer);
  if (!scope->function && !scope->loop) return outer;
  if (outer == scope->outer) return scope;
  auto same = std::make_shared<Scope>(*scope);
  same->outer = std::move(outer);
  return same;
}

void HostConditions::collect(const Guard& guard, const ScopePointer& scope, Found& found) const {
  const clang::Expr& plain = plainCondition(*guard.condition);
  const auto part = [&](const clang::Expr& condition, bool must) {
    Guard inner = guard;
    inner.condition = &condition;
    inner.must = must;
    collect(inner, scope, found);
  };
  if (guard.cases.empty()) {
    const auto* flip = llvm::dyn_cast<clang::UnaryOperator>(&plain);
    if (flip && flip->getOpcode() == clang::UO_LNot) return part(*flip->getSubExpr(), !guard.must);
    const auto* both = llvm::dyn_cast<clang::BinaryOperator>(&plain);
    if (both && both->getOpcode() == (guard.must ? clang::BO_LAnd : clang::BO_LOr)) {
      part(*both->getLHS(), guard.must);
      return part(*both->getRHS(), guard.must);
    }
  }
  auto holds = uses.hasLabels ? std::nullopt : values.truth(guard, withoutBranches(scope));
  if (!holds && !uses.hasLabels) holds = values.truth(guard, scope);
  if (holds || !guard.at.isValid()) // how a loop ends is nothing that decides
    found.push_back({std::move(holds), guard.condition, scope});
}

void HostConditions::collect(const Around& around, const ScopePointer& outer, Found& found) const {
  for (const Guard& guard : around.guards)
    if (const auto scope = guard.within ? values.entered(*guard.within, outer) : std::optional(outer))
      collect(guard, *scope, found);
}

/// Moves those that are of such variables, or of others that these have to do with.
void HostConditions::takeBearing(std::set<unsigned> variables, Found& found, Launch& launch) {
  for (bool isNew = true; isNew;) {
    isNew = false;
    std::erase_if(found, [&](Condition& condition) {
      if (!condition.holds) return false;
      std::set<unsigned> own = variablesOf(*condition.holds);
      if (own.empty()) return true;
      if (std::ranges::none_of(own, [&](unsigned number) { return variables.contains(number); }))
        return false;
      variables.merge(own);
      if (std::ranges::find(launch.conditions, *condition.holds) == launch.conditions.end())
        launch.conditions.push_back(std::move(*condition.holds));
      return isNew = true;
    });
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
  const std::set<unsigned> numbers = variablesOfLaunch(launch, allocations);
  takeBearing(numbers, found, launch);
  Origins made;
  for (const clang::Expr* expr : hidden) addOrigins(*expr, scope, made);
  std::set<unsigned> families;
  for (const unsigned number : numbers) families.insert(buffers.familyOf(number));
  for (const Condition& left : found) {
    bool bears = false;
    if (left.holds) { // of what the numbers were before
      bears = std::ranges::any_of(variablesOf(*left.holds), [&](unsigned number) {
        return families.contains(buffers.familyOf(number));
      });
    } else {
      Origins asked;
      addOrigins(*left.asked, left.scope, asked);
      bears = std::ranges::any_of(asked, [&](const clang::Decl* one) { return made.contains(one); });
    }
    if (!bears) continue;
    launch.unfollowed = locate(left.asked->getSourceRange(), ast);
    return;
  }
}

} // namespace kcheck::frontend
