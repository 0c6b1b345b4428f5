// When an assignment was made whose value is asked for: in this round of the loops and this call, or in an
// earlier one (`if (!p) cudaMalloc(&p, n * 4)`, static variables), where sizes may have been others.
#include "frontend/host_folder.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/Stmt.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>

namespace kcheck::frontend {

bool contains(const clang::SourceManager& sources, clang::SourceRange range, clang::SourceLocation where) {
  const clang::SourceLocation at = sources.getExpansionLoc(where);
  return range.isValid() &&
         !sources.isBeforeInTranslationUnit(at, sources.getExpansionLoc(range.getBegin())) &&
         !sources.isBeforeInTranslationUnit(sources.getExpansionLoc(range.getEnd()), at);
}

/// Whether who comes to `user` has come by the event in the same round of all loops, and the same call.
bool Folder::isInSameRound(clang::SourceRange region, clang::SourceLocation event,
                           clang::SourceLocation user) const {
  const clang::SourceManager& sources = ast.getSourceManager();
  return !values.uses.hasLabels && contains(sources, region, user) &&
         !sources.isBeforeInTranslationUnit(sources.getExpansionLoc(user), sources.getExpansionLoc(event));
}

/// Of the rounds and calls that are known those in which the variable is the same one.
ScopePointer Folder::scopeOfSome(const clang::VarDecl& variable) const {
  if (!variable.hasLocalStorage()) return nullptr;
  ScopePointer kept = scope;
  while (kept && !kept->function && kept->loop &&
         !contains(ast.getSourceManager(), kept->loop->getSourceRange(), variable.getLocation()))
    kept = kept->outer;
  return kept;
}

/// Whether it is the same variable whenever what is asked about was given its value.
bool Folder::livesAsLong(const clang::VarDecl& variable) const {
  return std::ranges::all_of(holders, [&](const clang::VarDecl* holder) {
    if (!variable.hasLocalStorage()) return true;
    const bool isLocal = holder && holder->hasLocalStorage();
    if (const auto* parameter = llvm::dyn_cast<clang::ParmVarDecl>(&variable))
      return isLocal && parameter->getDeclContext() == holder->getDeclContext();
    const auto own = values.uses.variables.find(variable.getCanonicalDecl());
    const clang::CompoundStmt* home = own == values.uses.variables.end() ? nullptr : own->second.declaredIn;
    if (!home) return false;
    if (isLocal) return contains(ast.getSourceManager(), home->getSourceRange(), holder->getLocation());
    const auto* function = llvm::dyn_cast<clang::FunctionDecl>(variable.getDeclContext());
    return function && function->isMain() && function->getBody() == home;
  });
}

} // namespace kcheck::frontend
