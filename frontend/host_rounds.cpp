// When an assignment was made whose value is asked for: in this round of the loops and this call, or in an
// earlier one (`if (!p) cudaMalloc(&p, n * 4)`, static variables), where sizes may have been others.
#include "frontend/host_folder.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>

namespace kcheck::frontend {

bool isBefore(const clang::SourceManager& sources, clang::SourceLocation a, clang::SourceLocation b) {
  const clang::SourceLocation first = sources.getExpansionLoc(a), second = sources.getExpansionLoc(b);
  return first == second ? sources.isBeforeInTranslationUnit(a, b)
                         : sources.isBeforeInTranslationUnit(first, second);
}

bool contains(const clang::SourceManager& sources, clang::SourceRange range, clang::SourceLocation where) {
  return range.isValid() && !isBefore(sources, where, range.getBegin()) &&
         !isBefore(sources, range.getEnd(), where);
}

/// Whether who comes to `user` has come by the event in the same round of all loops, and the same call.
bool Folder::isInSameRound(clang::SourceRange region, clang::SourceLocation event,
                           clang::SourceLocation user) const {
  const clang::SourceManager& sources = ast.getSourceManager();
  return !values.uses.hasLabels && contains(sources, region, user) && !isBefore(sources, user, event);
}

/// Whether who comes to `user` has come by the event before, in the same round; not where it is asked for on
/// the way to the event's own value.
bool Folder::isPassed(const Event& event, clang::SourceLocation user) const {
  const clang::SourceManager& sources = ast.getSourceManager();
  const bool isWithin = event.value && isBefore(sources, event.where, user) &&
                        !isBefore(sources, event.value->getEndLoc(), user);
  return !isWithin && isBefore(sources, event.where, user) && isInSameRound(event.region, event.where, user);
}

/// Between a place that is passed in each round and `user`, in this round or a later one of a loop in which
/// the place is not.
bool Folder::mayComeBetween(const Event& event, clang::SourceLocation since,
                            clang::SourceLocation user) const {
  const clang::SourceManager& sources = ast.getSourceManager();
  if (isBefore(sources, event.where, since)) return false;
  const bool isWithin = event.value && !isBefore(sources, event.value->getEndLoc(), user);
  if (isBefore(sources, event.where, user) && !isWithin) return true;
  return std::ranges::any_of(event.rounds, [&](const clang::SourceRange& round) {
    return contains(sources, round, user) && !contains(sources, round, since);
  });
}

/// Of the calls that the scope knows those through which its function was come to.
std::vector<const void*> Folder::callsTo(const clang::VarDecl& variable) const {
  const auto* function = llvm::dyn_cast<clang::FunctionDecl>(variable.getDeclContext());
  ScopePointer s = scope;
  while (s && !(function && s->function == function->getCanonicalDecl())) s = s->outer;
  std::vector<const void*> calls;
  for (; s; s = s->outer)
    if (s->function) calls.push_back(s->entry);
  return calls;
}

/// Whether it has one value in all places further down that are come to in the same round, and, of what was
/// given its value in some round, in all rounds in which that may have been.
bool Folder::isSettled(const clang::VarDecl& variable, clang::SourceLocation here) const {
  if (variable.getType()->isReferenceType()) return false;
  if (const auto* parameter = llvm::dyn_cast<clang::ParmVarDecl>(&variable);
      parameter && values.isUnchanged(*parameter))
    return livesAsLong(variable);
  if (!isFollowed(variable) || !variable.hasLocalStorage()) return false;
  const auto own = values.uses.variables.find(variable.getCanonicalDecl());
  if (own == values.uses.variables.end() || own->second.loop) return false;
  const clang::SourceManager& sources = ast.getSourceManager();
  const auto* function = llvm::dyn_cast<clang::FunctionDecl>(variable.getDeclContext());
  for (const Event& event : own->second.events) {
    const bool isWithin = event.value && !isBefore(sources, event.value->getEndLoc(), here);
    if (isWithin || !isBefore(sources, event.where, here)) return false;
    if (!function || event.function != function->getCanonicalDecl()) return false;
    const bool isOfRounds = std::ranges::any_of(event.rounds, [&](const clang::SourceRange& round) {
      return contains(sources, round, here) && !contains(sources, round, variable.getLocation());
    });
    if (isOfRounds && !(holders.empty() && isPassed(event, here))) return false;
  }
  return livesAsLong(variable);
}

/// Of the rounds and calls that are known those in which the variable is the same one.
ScopePointer Folder::scopeOfSome(const clang::VarDecl& variable) const {
  if (!variable.hasLocalStorage()) return nullptr;
  ScopePointer kept = scope;
  while (kept && !kept->function &&
         (!kept->loop ||
          !contains(ast.getSourceManager(), kept->loop->getSourceRange(), variable.getLocation())))
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
