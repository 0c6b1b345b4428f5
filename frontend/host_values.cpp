// What may be said of variables, parameters and calls. How expressions fold is in host_folder.cpp, the ways
// to a call are in host_ways.cpp.
#include "frontend/host_values.h"

#include "frontend/host_folder.h"
#include "frontend/host_loops.h"
#include "frontend/pretty.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>

#include <algorithm>

namespace kcheck::frontend {

std::optional<std::int64_t> HostValues::integer(const clang::Expr& expr, const ScopePointer& scope) const {
  if (!expr.getType()->isIntegralOrEnumerationType()) return std::nullopt;
  const auto value = Folder(*this, scope).number(expr);
  if (!value || value->isFloat) return std::nullopt;
  return value->integer;
}

Extent HostValues::extent(const clang::Expr& expr, const ScopePointer& scope) const {
  return Folder(*this, scope).extent(expr).value_or(Extent());
}

std::optional<PointerValue> HostValues::pointer(const clang::Expr& expr, const ScopePointer& scope) const {
  return Folder(*this, scope).pointer(expr);
}

Extent HostValues::extentField(const Slot& slot, const clang::Expr& user, const ScopePointer& scope) const {
  return Folder(*this, scope).extent(slot, user).value_or(Extent());
}

std::optional<std::int64_t> HostValues::integerField(const Slot& slot, const clang::Expr& user,
                                                     const ScopePointer& scope) const {
  const auto value = Folder(*this, scope).number(slot, user);
  if (!value || value->isFloat) return std::nullopt;
  return value->integer;
}

std::optional<PointerValue> HostValues::pointerMember(const clang::Expr& structure,
                                                      std::span<const clang::FieldDecl* const> path,
                                                      const ScopePointer& scope) const {
  return Folder(*this, scope).fieldOf(structure, path, &Folder::pointer);
}

std::optional<std::int64_t> HostValues::integerMember(const clang::Expr& structure,
                                                      std::span<const clang::FieldDecl* const> path,
                                                      const ScopePointer& scope) const {
  const auto value = Folder(*this, scope).fieldOf(structure, path, &Folder::number);
  if (!value || value->isFloat) return std::nullopt;
  return value->integer;
}

std::size_t HostValues::buffer(const clang::CallExpr& call, const ScopePointer& scope) const {
  return Folder(*this, scope).buffer(call);
}

/// Code elsewhere cannot change it.
bool HostValues::isOwn(const clang::VarDecl& variable) const {
  return variable.hasLocalStorage() || variable.isStaticLocal() || !variable.isExternallyVisible() ||
         (uses.wholeProgram && variable.isThisDeclarationADefinition());
}

/// Whether something that is not followed may change the variable: itself, or through a reference to it.
bool HostValues::hasOtherUses(const clang::VarDecl& variable, unsigned depth) const {
  const auto entry = uses.variables.find(variable.getCanonicalDecl());
  if (entry == uses.variables.end()) return false;
  if (entry->second.others || depth == 0) return true;
  return std::ranges::any_of(entry->second.passedTo, [&](const clang::VarDecl* parameter) {
    const auto own = uses.variables.find(parameter);
    return (own != uses.variables.end() && !own->second.events.empty()) ||
           hasOtherUses(*parameter, depth - 1);
  });
}

const clang::Expr* HostValues::definition(const clang::VarDecl& variable) const {
  if (llvm::isa<clang::ParmVarDecl>(variable)) return nullptr;
  const clang::Expr* init = variable.getAnyInitializer();
  const bool isOfFirstCall =
      variable.isStaticLocal() && init && !init->isValueDependent() && !init->isEvaluatable(ast);
  if (isOfFirstCall) return nullptr;
  if (variable.getType().isConstQualified()) return init;
  if (variable.getType()->isReferenceType() && init && !isTemporary(*init)) return nullptr; // another's name
  const auto entry = uses.variables.find(variable.getCanonicalDecl());
  if (!isOwn(variable)) return nullptr;
  if (entry == uses.variables.end()) return init;
  const VariableUses& found = entry->second;
  if (hasOtherUses(variable) || found.loop || found.exchangedIn) return nullptr;
  if (found.events.empty()) return init;
  // A global without initialiser starts as zero, so a single assignment is not its only value.
  const bool single = found.events.size() == 1 && !init && variable.hasLocalStorage() &&
                      found.events.front().in == found.declaredIn;
  return single ? found.events.front().value : nullptr;
}

bool HostValues::isUnchanged(const clang::ParmVarDecl& parameter) const {
  const auto own = uses.variables.find(parameter.getCanonicalDecl());
  return own == uses.variables.end() || (own->second.events.empty() && !hasOtherUses(parameter));
}

/// Whether all calls of the function are calls that the walk has seen.
bool HostValues::callsAreKnown(const clang::FunctionDecl& function) const {
  if (function.isMain()) return false;
  if (const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&function)) {
    if (method->isVirtual()) return false;
    if (method->getOverloadedOperator() == clang::OO_Call &&
        uses.handedOn.contains(method->getParent()->getCanonicalDecl()))
      return false;
  }
  if (!uses.wholeProgram && function.isExternallyVisible()) return false;
  const auto entry = uses.functions.find(function.getCanonicalDecl());
  return entry != uses.functions.end() && !entry->second.escapes;
}

std::vector<const clang::Expr*> HostValues::argumentsFor(const clang::ParmVarDecl& parameter) const {
  const auto* function = llvm::dyn_cast_or_null<clang::FunctionDecl>(parameter.getDeclContext());
  if (!function || !isUnchanged(parameter) || !callsAreKnown(*function)) return {};
  std::vector<const clang::Expr*> arguments;
  for (const clang::CallExpr* call : uses.functions.at(function->getCanonicalDecl()).calls) {
    if (llvm::isa<clang::CXXOperatorCallExpr>(call)) return {};
    if (parameter.getFunctionScopeIndex() >= call->getNumArgs()) return {};
    arguments.push_back(call->getArg(parameter.getFunctionScopeIndex()));
  }
  return arguments;
}

std::optional<ScopePointer> HostValues::entered(const clang::Expr& call, const ScopePointer& scope) const {
  if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(&call))
    return Folder(*this, scope).enter(*made, made);
  return Folder(*this, scope).enter(llvm::cast<clang::CallExpr>(call));
}

} // namespace kcheck::frontend
