// Integers that follow the counters of loops around a launch, where the loops have more passes than are told
// apart: the bounds between which they lie.
#include "frontend/host_values.h"

#include "frontend/host_folder.h"
#include "frontend/host_loops.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/Stmt.h>

#include <numeric>

namespace kcheck::frontend {

/// `i < n`: the operator with the counter on its left, and the bound.
std::optional<std::pair<clang::BinaryOperatorKind, const clang::Expr*>>
limitOf(const clang::ForStmt& loop, const clang::VarDecl& counter) {
  const auto* test = llvm::dyn_cast_or_null<clang::BinaryOperator>(
      loop.getCond() ? loop.getCond()->IgnoreParenImpCasts() : nullptr);
  if (!test || !test->isComparisonOp()) return std::nullopt;
  const auto isCounter = [&](const clang::Expr* side) {
    const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(side->IgnoreParenImpCasts());
    return reference && reference->getDecl() == &counter;
  };
  if (isCounter(test->getLHS())) return std::pair(test->getOpcode(), test->getRHS());
  if (isCounter(test->getRHS()))
    return std::pair(clang::BinaryOperator::reverseComparisonOp(test->getOpcode()), test->getLHS());
  return std::nullopt;
}

const clang::VarDecl* counterOf(const clang::ForStmt& loop) {
  const auto* start = llvm::dyn_cast_or_null<clang::DeclStmt>(loop.getInit());
  return start && start->isSingleDecl() ? llvm::dyn_cast<clang::VarDecl>(start->getSingleDecl()) : nullptr;
}

namespace {

using Range = PassedValue::Range;

std::int64_t mostOf(const Range& range) { return range.least + range.step * (range.count - 1); }

std::optional<Range> between(std::int64_t least, std::int64_t most, std::int64_t step) {
  constexpr std::int64_t kFar = std::int64_t(1) << 31;
  if (least > most || least < -kFar || most >= kFar || step < 1) return std::nullopt;
  return Range{least, step, (most - least) / step + 1};
}

std::int64_t stepOf(const Range& range) { return range.count == 1 ? 0 : range.step; }

bool fits(const Range& range, clang::QualType type, const clang::ASTContext& ast) {
  if (!type->isIntegralOrEnumerationType()) return false;
  for (const std::int64_t end : {range.least, mostOf(range)}) {
    const auto kept = fit(ofInteger(end), type, ast);
    if (!kept || kept->integer != end) return false;
  }
  return true;
}

std::optional<Range> combined(clang::BinaryOperatorKind op, const Range& a, const Range& b) {
  const std::int64_t step = std::max<std::int64_t>(1, std::gcd(stepOf(a), stepOf(b)));
  switch (op) {
  case clang::BO_Add: return between(a.least + b.least, mostOf(a) + mostOf(b), step);
  case clang::BO_Sub: return between(a.least - mostOf(b), mostOf(a) - b.least, step);
  case clang::BO_Mul: {
    const bool left = a.count == 1;
    const Range& moves = left ? b : a;
    const std::int64_t by = left ? a.least : b.least;
    if ((!left && b.count != 1) || by < 1 || by > (1 << 20)) return std::nullopt;
    return between(moves.least * by, mostOf(moves) * by, moves.step * by);
  }
  case clang::BO_Div:
    return a.least >= 0 && b.count == 1 && b.least > 0 ? between(a.least / b.least, mostOf(a) / b.least, 1)
                                                       : std::nullopt;
  case clang::BO_Shr:
    return a.least >= 0 && b.count == 1 && b.least >= 0 && b.least < 31
               ? between(a.least >> b.least, mostOf(a) >> b.least, 1)
               : std::nullopt;
  default: return std::nullopt;
  }
}

} // namespace

/// The counter stays between where it starts and its limit, whichever way it goes.
std::optional<Range> HostValues::rangeOf(const clang::ForStmt& loop, const ScopePointer& scope,
                                         unsigned depth) const {
  const clang::VarDecl* counter = soleCounter(loop);
  if (!counter) return std::nullopt;
  const auto limit = limitOf(loop, *counter);
  const auto first = rangeOf(*counter->getInit(), scope, depth);
  const auto bound = limit ? rangeOf(*limit->second, scope, depth) : std::nullopt;
  if (!first || !bound || !fits(*first, counter->getType(), ast)) return std::nullopt;
  if (ast.getTypeSize(counter->getType()) < 32) return std::nullopt; // goes round
  const auto* test = llvm::cast<clang::BinaryOperator>(loop.getCond()->IgnoreParenImpCasts());
  const bool isUnsigned = test->getLHS()->getType()->isUnsignedIntegerOrEnumerationType();
  const auto staysBelow = [](std::int64_t value) { return value <= INT32_MAX; };
  std::int64_t step = 1;
  bool rises = true;
  const clang::Expr& update = *loop.getInc()->IgnoreParenImpCasts();
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(&update)) {
    rises = unary->isIncrementOp();
  } else {
    const auto& compound = llvm::cast<clang::CompoundAssignOperator>(update);
    const auto by = integer(*compound.getRHS(), scope);
    if (!by || *by < 1) return std::nullopt;
    switch (compound.getOpcode()) {
    case clang::BO_AddAssign:
      if (!staysBelow(mostOf(*bound) + *by)) return std::nullopt;
      step = *by;
      break;
    case clang::BO_SubAssign: rises = false, step = *by; break;
    case clang::BO_MulAssign:
    case clang::BO_ShlAssign:
      if (first->least < 0 || *by > 30) return std::nullopt;
      if (!staysBelow(mostOf(*bound) *
                      (compound.getOpcode() == clang::BO_MulAssign ? *by : std::int64_t(1) << *by)))
        return std::nullopt;
      break;
    case clang::BO_DivAssign:
    case clang::BO_ShrAssign:
      if (bound->least < 0 || first->least < 0) return std::nullopt;
      rises = false;
      break;
    default: return std::nullopt;
    }
  }
  // Without sign, what steps over the limit goes on from the other end.
  const bool meetsLimit = step == 1 && (limit->first == clang::BO_GT || bound->least > 0);
  if (!rises && isUnsigned && !meetsLimit) return std::nullopt;
  if (first->count > 1) step = 1;
  switch (limit->first) {
  case clang::BO_LT: return rises ? between(first->least, mostOf(*bound) - 1, step) : std::nullopt;
  case clang::BO_LE: return rises ? between(first->least, mostOf(*bound), step) : std::nullopt;
  case clang::BO_GT:
  case clang::BO_GE: {
    if (rises) return std::nullopt;
    const std::int64_t least = bound->least + (limit->first == clang::BO_GT), most = mostOf(*first);
    return least > most ? std::nullopt : between(most - (most - least) / step * step, most, step);
  }
  default: return std::nullopt;
  }
}

std::optional<Range> HostValues::rangeOf(const clang::VarDecl& variable, const ScopePointer& scope,
                                         unsigned depth) const {
  if (const auto* parameter = llvm::dyn_cast<clang::ParmVarDecl>(&variable)) {
    for (ScopePointer s = scope; s; s = s->outer)
      if (const auto entry = s->arguments.find(parameter); entry != s->arguments.end())
        return rangeOf(*entry->second, s->outer, depth);
    const auto arguments = argumentsFor(*parameter);
    return arguments.size() == 1 ? rangeOf(*arguments.front(), nullptr, depth) : std::nullopt;
  }
  const auto entry = uses.variables.find(variable.getCanonicalDecl());
  if (entry != uses.variables.end() && entry->second.loop)
    if (const auto* loop = llvm::dyn_cast<clang::ForStmt>(entry->second.loop))
      return rangeOf(*loop, scope, depth);
  const clang::Expr* value = definition(variable);
  return value ? rangeOf(*value, scope, depth) : std::nullopt;
}

std::optional<Range> HostValues::rangeOf(const clang::Expr& given, const ScopePointer& scope,
                                         unsigned depth) const {
  const clang::Expr& expr = *given.IgnoreParens();
  if (depth == 0 || !expr.getType()->isIntegralOrEnumerationType()) return std::nullopt;
  if (const auto value = integer(expr, scope)) return between(*value, *value, 1);
  std::optional<Range> result;
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(&expr)) {
    const auto kind = cast->getCastKind();
    if (kind == clang::CK_LValueToRValue || kind == clang::CK_NoOp || kind == clang::CK_IntegralCast)
      result = rangeOf(*cast->getSubExpr(), scope, depth - 1);
  } else if (const auto* full = llvm::dyn_cast<clang::FullExpr>(&expr)) {
    result = rangeOf(*full->getSubExpr(), scope, depth - 1);
  } else if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(&expr)) {
    const auto* variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
    result = variable ? rangeOf(*variable, scope, depth - 1) : std::nullopt;
  } else if (const auto* op = llvm::dyn_cast<clang::BinaryOperator>(&expr)) {
    const auto left = rangeOf(*op->getLHS(), scope, depth - 1);
    const auto right = left ? rangeOf(*op->getRHS(), scope, depth - 1) : std::nullopt;
    result = right ? combined(op->getOpcode(), *left, *right) : std::nullopt;
  }
  return result && fits(*result, expr.getType(), ast) ? result : std::nullopt;
}

std::optional<Range> HostValues::range(const clang::Expr& expr, const ScopePointer& scope) const {
  constexpr unsigned kDeepest = 16;
  auto result = rangeOf(expr, scope, kDeepest);
  return result && result->count > 1 ? result : std::nullopt;
}

} // namespace kcheck::frontend
