// Variables of host code in formulas: each of their values is known by what has made it.
#include "frontend/formula_parts.h"
#include "frontend/host_folder.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>

namespace kcheck::frontend {

/// `n /= 2` and the like, of numbers that are not negative.
static bool shrinks(const clang::Expr& change) {
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(&change))
    return unary->isDecrementOp() && !unary->getType()->isUnsignedIntegerType();
  const auto& compound = llvm::cast<clang::CompoundAssignOperator>(change);
  if (compound.getOpcode() == clang::BO_SubAssign) return false; // of a negative number it goes up
  return compound.getOpcode() == clang::BO_DivAssign || compound.getOpcode() == clang::BO_ShrAssign;
}

/// What cudaMallocPitch chooses: no less than the width that it was asked for, of the least one of several.
std::optional<Formula> Folder::pitchOf(const clang::VarDecl& variable, const VariableUses& own) {
  std::optional<std::int64_t> width;
  for (const Event& event : own.events) {
    const bool isPitch = event.allocation && isNamed(*event.allocation, "cudaMallocPitch");
    const auto asked = isPitch ? number(*event.allocation->getArg(2)) : std::nullopt;
    if (!asked || asked->isFloat) return std::nullopt;
    width = std::min(width.value_or(asked->integer), asked->integer);
  }
  if (!width) return std::nullopt;
  Formula padding;
  padding.op = Formula::Op::Variable;
  padding.variable = "padding in " + variable.getNameAsString();
  padding.number = values.buffers.numberOf(&variable, callsTo(variable));
  return combined(Formula::Op::Add, ofConstant(*width), std::move(padding));
}

std::optional<Formula> Folder::formulaOfVariable(const clang::VarDecl& variable, const clang::Expr& user) {
  if (variable.getType()->isReferenceType()) return std::nullopt;
  if (const auto* parameter = llvm::dyn_cast<clang::ParmVarDecl>(&variable)) {
    for (ScopePointer s = scope; s; s = s->outer)
      if (const auto entry = s->arguments.find(parameter); entry != s->arguments.end())
        return within(s->outer, *entry->second, &Folder::formula);
    const auto arguments = values.argumentsFor(*parameter);
    if (arguments.size() == 1) return within(nullptr, *arguments.front(), &Folder::formula);
  } else if (const clang::Expr* definition = values.definition(variable)) {
    if (auto value = formula(*definition)) return value;
    if (isBeyondNumbers(*definition)) return std::nullopt;
  }
  return formulaAt(variable, user.getBeginLoc());
}

/// A variable stands for itself as the last assignment before has left it, or as several have that are all
/// passed in the end.
std::optional<Formula> Folder::formulaAt(const clang::VarDecl& variable, clang::SourceLocation place) {
  const bool isParameter = llvm::isa<clang::ParmVarDecl>(variable);
  const auto entry = values.uses.variables.find(variable.getCanonicalDecl());
  static const VariableUses none;
  const VariableUses& own = entry == values.uses.variables.end() ? none : entry->second;
  if (!variable.hasLocalStorage() || !isFollowed(variable) || own.loop) return std::nullopt;
  const bool isInOneRound = holders.empty(), isOnlyOne = isSettled(variable, place);
  const void* made = nullptr; // by what; null: it is as it was made
  if (!own.events.empty()) {
    const Latest latest = lastBefore(own.events, variable, place, true);
    const clang::Expr* value = latest.event   ? latest.event->value
                               : !isParameter ? variable.getInit()
                                              : nullptr;
    if (latest.known && value)
      if (auto known = formula(*value)) return known;
    if (!latest.known)
      if (auto known = chosen(variable, own.events, place)) return known;
    if (!isOnlyOne && !(latest.known && isInOneRound)) return std::nullopt;
    made = latest.known ? static_cast<const void*>(latest.event) : &own.events;
    if (auto value = isOnlyOne ? pitchOf(variable, own) : std::nullopt) return value;
  } else if (!isOnlyOne) {
    return std::nullopt;
  }
  std::vector<const void*> calls = callsTo(variable);
  if (made) calls.push_back(made);
  Formula formula;
  formula.op = Formula::Op::Variable;
  formula.variable = variable.getNameAsString();
  formula.number = values.buffers.numberOf(&variable, std::move(calls));
  if (made == &own.events)
    if (const auto most = mostOf(variable, own)) formula.most = *most;
  if (const auto bits = ast.getIntWidth(variable.getType()); bits < kIntBits)
    formula.most =
        std::min(formula.most, (std::int64_t(1) << (bits - variable.getType()->isSignedIntegerType())) - 1);
  formula.mayDivide = values.uses.askedForRemainder.contains(formula.variable);
  return formula;
}

/// What `n *= 2` makes of a number; none where it is no step up, or goes too far.
std::optional<std::int64_t> Folder::steppedUp(const clang::Expr& change, std::int64_t from) {
  const auto* compound = llvm::dyn_cast<clang::CompoundAssignOperator>(&change);
  const auto by = compound ? number(*compound->getRHS()) : std::optional(ofInteger(1));
  if (!by || by->isFloat || by->integer < 0 || by->integer > INT32_MAX) return std::nullopt;
  std::int64_t result = 0;
  const auto kind = compound ? compound->getOpcode() : clang::BO_AddAssign;
  if (kind == clang::BO_AddAssign)
    result = from + by->integer;
  else if (kind == clang::BO_MulAssign)
    result = from * by->integer;
  else if (kind == clang::BO_ShlAssign && by->integer < 31)
    result = from << by->integer;
  return result > from && result <= INT32_MAX ? std::optional(result) : std::nullopt;
}

/// `n < 256` as a part of what must hold: the first number that is too large.
std::optional<std::int64_t> Folder::limitIn(const clang::Expr& condition, const clang::VarDecl& variable) {
  const auto* op = llvm::dyn_cast<clang::BinaryOperator>(condition.IgnoreParenImpCasts());
  if (!op) return std::nullopt;
  if (op->getOpcode() == clang::BO_LAnd) {
    const auto first = limitIn(*op->getLHS(), variable), second = limitIn(*op->getRHS(), variable);
    return first && second ? std::min(first, second) : first ? first : second;
  }
  const auto isVariable = [&](const clang::Expr* side) {
    const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(side->IgnoreParenImpCasts());
    return reference && reference->getDecl() == &variable;
  };
  const bool isLeft = isVariable(op->getLHS());
  if (!isLeft && !isVariable(op->getRHS())) return std::nullopt;
  const auto kind = !op->isComparisonOp() ? op->getOpcode()
                    : isLeft              ? op->getOpcode()
                                          : clang::BinaryOperator::reverseComparisonOp(op->getOpcode());
  const auto bound = number(isLeft ? *op->getRHS() : *op->getLHS());
  if (!bound || bound->isFloat || (kind != clang::BO_LT && kind != clang::BO_LE)) return std::nullopt;
  return bound->integer + (kind == clang::BO_LE);
}

/// The most that a variable ever holds which begins with one number and which loops make larger up to a
/// limit, or smaller.
std::optional<std::int64_t> Folder::mostOf(const clang::VarDecl& variable, const VariableUses& own) {
  const auto start = !llvm::isa<clang::ParmVarDecl>(variable) && variable.getInit()
                         ? number(*variable.getInit())
                         : std::nullopt;
  if (!start || start->isFloat || start->integer < 0 || start->integer > INT32_MAX) return std::nullopt;
  std::int64_t most = start->integer;
  const Event* step = nullptr;
  for (const Event& event : own.events) {
    if (event.value) {
      const auto value = number(*event.value);
      if (!value || value->isFloat || value->integer < 0) return std::nullopt;
      most = std::max(most, value->integer);
    } else if (!event.change || !shrinks(*event.change)) {
      if (step || !event.change) return std::nullopt; // of two steps the one begins where the other ends
      step = &event;
    }
  }
  if (!step) return most;
  const auto limit = step->again ? limitIn(*step->again, variable) : std::nullopt;
  if (!limit || *limit < 1) return std::nullopt;
  if (own.events.size() > 1) return steppedUp(*step->change, std::max(most, *limit - 1));
  constexpr unsigned kMostRounds = 4096;
  std::optional<std::int64_t> value = most;
  for (unsigned rounds = 0; value && *value < *limit && rounds < kMostRounds; ++rounds)
    value = steppedUp(*step->change, *value);
  return value && *value >= *limit ? value : std::nullopt;
}

/// What a branch in front of the place may have given it: `if (n > 256) n = 256;`.
std::optional<Formula> Folder::chosen(const clang::VarDecl& variable, const std::vector<Event>& events,
                                      clang::SourceLocation place) {
  const clang::SourceManager& sources = ast.getSourceManager();
  const Event* last = nullptr;
  for (const Event& event : events)
    if (isBefore(sources, event.where, place) && (!last || isBefore(sources, last->where, event.where)))
      last = &event;
  if (!last || !last->value || !last->branch || !holders.empty()) return std::nullopt;
  if (!isBefore(sources, last->value->getEndLoc(), place)) return std::nullopt; // on the way to its own value
  const Branch& branch = *last->branch;
  if (!isInSameRound(branch.outside, last->where, place)) return std::nullopt;
  if (std::ranges::any_of(events, [&](const Event& event) {
        return isBefore(sources, last->where, event.where) && mayComeBetween(event, last->where, place);
      }))
    return std::nullopt;
  auto condition = truth(*branch.condition);
  auto taken = condition ? formula(*last->value) : std::nullopt;
  auto before = taken ? formulaAt(variable, branch.part.getBegin()) : std::nullopt;
  if (!before) return std::nullopt;
  if (!branch.must) std::swap(*taken, *before);
  return made(Formula::Op::Choice, {std::move(*condition), std::move(*taken), std::move(*before)});
}

/// What a function returns whose last statements these are: `if (n < 256) return n; return 256;`.
std::optional<Formula> Folder::returned(std::span<clang::Stmt* const> statements) {
  if (statements.empty()) return std::nullopt;
  const clang::Stmt& first = *statements.front();
  if (const auto* end = llvm::dyn_cast<clang::ReturnStmt>(&first))
    return end->getRetValue() ? formula(*end->getRetValue()) : std::nullopt;
  if (const auto* block = llvm::dyn_cast<clang::CompoundStmt>(&first); block && statements.size() == 1)
    return returned({block->body_begin(), block->body_end()});
  const auto* branch = llvm::dyn_cast<clang::IfStmt>(&first);
  if (!hasReturn(first)) return returned(statements.subspan(1));
  if (!branch) return std::nullopt;
  const clang::Stmt* other = branch->getElse();
  auto condition = truth(*branch->getCond());
  clang::Stmt* then[] = {const_cast<clang::Stmt*>(branch->getThen())};
  clang::Stmt* otherwise[] = {const_cast<clang::Stmt*>(other)};
  auto taken = condition ? returned(then) : std::nullopt;
  auto others = !taken ? std::nullopt : other ? returned(otherwise) : returned(statements.subspan(1));
  if (!others) return std::nullopt;
  return made(Formula::Op::Choice, {std::move(*condition), std::move(*taken), std::move(*others)});
}

} // namespace kcheck::frontend
