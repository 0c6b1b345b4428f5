// Numbers that host code does not fix, as formulas over the variables that it computes them from: sizes of
// buffers and grids that follow one `n`.
#include "frontend/formula_parts.h"
#include "frontend/host_folder.h"

#include "frontend/host_containers.h"
#include "frontend/host_guards.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>
#include <cmath>

namespace kcheck::frontend {
namespace {

bool mayBeNegative(const Formula& formula) {
  if (formula.op == Formula::Op::Constant) return formula.constant < 0;
  return formula.op == Formula::Op::Sub || std::ranges::any_of(formula.operands, mayBeNegative);
}

/// The first variable of a formula, by name.
std::string variableIn(const Formula& formula) {
  if (formula.op == Formula::Op::Variable) return formula.variable;
  for (const Formula& operand : formula.operands)
    if (std::string name = variableIn(operand); !name.empty()) return name;
  return "";
}

/// Notes that the host may compute something else, where the result does not fit its type.
Formula withDoubt(Formula formula) {
  if (formula.op != Formula::Op::Constant && formula.op != Formula::Op::Variable)
    formula.variable = variableIn(formula);
  return formula;
}

/// Numbers of 32 bits without sign go round; of those with a sign the language says that they do not.
Formula withoutSign(const clang::ASTContext& ast, const clang::BinaryOperator& op, Formula formula) {
  const bool isShort = op.getType()->isUnsignedIntegerType() && ast.getIntWidth(op.getType()) <= kIntBits;
  const bool shrinks = formula.op == Formula::Op::Div || formula.op == Formula::Op::Rem;
  return isShort && !shrinks ? withDoubt(std::move(formula)) : formula;
}

} // namespace

std::optional<Formula> Folder::formulaOf(const clang::Expr& expr) {
  if (const auto value = numberOf(expr)) {
    if (value->isFloat) return std::nullopt;
    return ofConstant(value->integer);
  }
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(&expr)) {
    switch (cast->getCastKind()) {
    case clang::CK_LValueToRValue:
    case clang::CK_NoOp: return formula(*cast->getSubExpr());
    case clang::CK_IntegralCast: {
      const clang::Expr& whole = *cast->getSubExpr();
      const std::uint64_t bits = ast.getIntWidth(cast->getType());
      const bool isCut = bits < ast.getIntWidth(whole.getType());
      if (isCut && bits < kIntBits) return std::nullopt; // bytes and shorts do go round
      auto value = formula(whole);
      return value && isCut ? withDoubt(std::move(*value)) : value;
    }
    case clang::CK_FloatingToIntegral: return roundedUp(*cast->getSubExpr()->IgnoreParenImpCasts());
    default: return std::nullopt;
    }
  }
  if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(&expr)) {
    const auto* variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
    return variable && expr.getType()->isIntegerType() ? formulaOfVariable(*variable, expr) : std::nullopt;
  }
  if (const auto* op = llvm::dyn_cast<clang::BinaryOperator>(&expr)) return formulaOfOperator(*op);
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(&expr)) return formulaOfMember(*member);
  if (const auto* method = llvm::dyn_cast<clang::CXXMemberCallExpr>(&expr); method && asksSize(*method))
    return elementsFormula(*method->getImplicitObjectArgument());
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(&expr)) return formulaOfCall(*call);
  if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(&expr)) {
    auto condition = truth(*choice->getCond());
    auto first = condition ? formula(*choice->getTrueExpr()) : std::nullopt,
         second = first ? formula(*choice->getFalseExpr()) : std::nullopt;
    if (!second) return std::nullopt;
    return made(Formula::Op::Choice, {std::move(*condition), std::move(*first), std::move(*second)});
  }
  if (const auto* op = llvm::dyn_cast<clang::UnaryOperator>(&expr)) {
    if (op->getOpcode() == clang::UO_LNot) return truth(expr);
    return op->getOpcode() == clang::UO_Plus ? formula(*op->getSubExpr()) : std::nullopt;
  }
  if (const auto* made = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(&expr))
    return formula(*made->getSubExpr());
  if (const auto* full = llvm::dyn_cast<clang::FullExpr>(&expr)) return formula(*full->getSubExpr());
  return std::nullopt;
}

std::optional<Formula> Folder::formulaOfOperator(const clang::BinaryOperator& op) {
  if (!op.getType()->isIntegerType() || op.isAssignmentOp()) return std::nullopt;
  const auto combine = [&](Formula::Op kind) -> std::optional<Formula> {
    auto left = formula(*op.getLHS()), right = formula(*op.getRHS());
    if (!left || !right) return std::nullopt;
    return withoutSign(ast, op, combined(kind, std::move(*left), std::move(*right)));
  };
  switch (op.getOpcode()) {
  case clang::BO_Add: return combine(Formula::Op::Add);
  case clang::BO_Sub: return combine(Formula::Op::Sub);
  case clang::BO_Mul: return combine(Formula::Op::Mul);
  case clang::BO_Div: return combine(Formula::Op::Div);
  case clang::BO_Rem: return combine(Formula::Op::Rem);
  case clang::BO_And: { // `m & 3`
    auto left = formula(*op.getLHS());
    const auto mask = number(*op.getRHS());
    if (!left || !mask || mask->isFloat || mask->integer < 1 || mask->integer > INT32_MAX)
      return std::nullopt;
    if (mayBeNegative(*left) || (mask->integer & (mask->integer + 1)) != 0) return std::nullopt;
    return combined(Formula::Op::Rem, std::move(*left), ofConstant(mask->integer + 1));
  }
  case clang::BO_LT:
  case clang::BO_GT:
  case clang::BO_LE:
  case clang::BO_GE:
  case clang::BO_EQ:
  case clang::BO_NE: return compared(op);
  case clang::BO_LAnd:
  case clang::BO_LOr: {
    auto left = truth(*op.getLHS()), right = left ? truth(*op.getRHS()) : std::nullopt;
    if (!right) return std::nullopt;
    return combined(op.getOpcode() == clang::BO_LAnd ? Formula::Op::And : Formula::Op::Or, std::move(*left),
                    std::move(*right));
  }
  case clang::BO_Shl:
  case clang::BO_Shr: {
    auto left = formula(*op.getLHS());
    const auto by = number(*op.getRHS());
    if (!left || !by || by->isFloat || by->integer < 0 || by->integer > 30) return std::nullopt;
    const bool isUp = op.getOpcode() == clang::BO_Shl;
    if (!isUp && mayBeNegative(*left)) return std::nullopt; // rounds down, where a division rounds to zero
    const auto kind = isUp ? Formula::Op::Mul : Formula::Op::Div;
    return withoutSign(ast, op, combined(kind, std::move(*left), ofConstant(std::int64_t(1) << by->integer)));
  }
  default: return std::nullopt;
  }
}

/// Numbers that are compared without sign are not negative, but for what goes round.
std::optional<Formula> Folder::compared(const clang::BinaryOperator& op) {
  const clang::QualType type = op.getLHS()->getType();
  if (!type->isIntegralOrEnumerationType()) return std::nullopt;
  auto left = formula(*op.getLHS()), right = left ? formula(*op.getRHS()) : std::nullopt;
  if (!right) return std::nullopt;
  if (type->isUnsignedIntegerOrEnumerationType())
    left = withDoubt(std::move(*left)), right = withDoubt(std::move(*right));
  switch (op.getOpcode()) {
  case clang::BO_LT: return combined(Formula::Op::Less, std::move(*left), std::move(*right));
  case clang::BO_GT: return combined(Formula::Op::Less, std::move(*right), std::move(*left));
  case clang::BO_LE: return opposite(combined(Formula::Op::Less, std::move(*right), std::move(*left)));
  case clang::BO_GE: return opposite(combined(Formula::Op::Less, std::move(*left), std::move(*right)));
  case clang::BO_EQ: return combined(Formula::Op::Equal, std::move(*left), std::move(*right));
  default: return opposite(combined(Formula::Op::Equal, std::move(*left), std::move(*right)));
  }
}

std::optional<Formula> Folder::truth(const clang::Expr& expr) {
  if (!expr.getType()->isIntegralOrEnumerationType()) return std::nullopt;
  const clang::Expr* plain = &plainCondition(expr);
  if (const auto* op = llvm::dyn_cast<clang::UnaryOperator>(plain); op && op->getOpcode() == clang::UO_LNot) {
    auto inner = truth(*op->getSubExpr());
    return inner ? std::optional(opposite(std::move(*inner))) : std::nullopt;
  }
  if (!plain->getType()->isIntegralOrEnumerationType()) return std::nullopt; // a pointer, a number of reals
  auto value = formula(*plain->IgnoreParens());
  if (!value && plain != &expr) value = formula(expr); // what is read is an lvalue's
  if (!value) return std::nullopt;
  if (value->op == Formula::Op::Constant) return ofConstant(value->constant != 0);
  const bool isTruth = value->op >= Formula::Op::Less && value->op <= Formula::Op::Or;
  return isTruth ? std::move(*value)
                 : opposite(combined(Formula::Op::Equal, std::move(*value), ofConstant(0)));
}

std::optional<Formula> Folder::truth(const Guard& guard) {
  std::optional<Formula> result;
  if (guard.cases.empty()) {
    result = truth(*guard.condition);
  } else if (const auto chosen = formula(*guard.condition)) {
    for (const clang::Expr* label : guard.cases) {
      const auto value = number(*label);
      if (!value || value->isFloat) return std::nullopt;
      Formula equal = combined(Formula::Op::Equal, *chosen, ofConstant(value->integer));
      result = result ? combined(Formula::Op::Or, std::move(*result), std::move(equal)) : std::move(equal);
    }
  }
  return result && !guard.must ? std::optional(opposite(std::move(*result))) : result;
}

std::optional<std::pair<const clang::VarDecl*, std::int64_t>> Folder::equalTo(const clang::Expr& variable,
                                                                              const clang::Expr& value) {
  const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(variable.IgnoreParenImpCasts());
  const auto* named = reference ? llvm::dyn_cast<clang::VarDecl>(reference->getDecl()) : nullptr;
  if (!named || !named->getType()->isIntegralOrEnumerationType() ||
      !isSettled(*named, reference->getBeginLoc()))
    return std::nullopt;
  const auto known = number(value);
  const auto kept = known && !known->isFloat ? fit(*known, named->getType(), ast) : std::nullopt;
  if (!kept || !(*kept == *known)) return std::nullopt;
  return std::pair(named->getCanonicalDecl(), known->integer);
}

/// The lesser or the greater of two numbers, or what a helper returns.
std::optional<Formula> Folder::formulaOfCall(const clang::CallExpr& call) {
  const clang::FunctionDecl* callee = call.getDirectCallee();
  if (!callee) return std::nullopt;
  if (isNamed(call, "clamp") && call.getNumArgs() == 3 && call.getType()->isIntegerType() &&
      ast.getSourceManager().isInSystemHeader(callee->getLocation())) {
    auto given = formula(*call.getArg(0)), least = formula(*call.getArg(1)), most = formula(*call.getArg(2));
    if (!given || !least || !most) return std::nullopt;
    Formula above = made(Formula::Op::Choice, {combined(Formula::Op::Less, *most, *given), *most, *given});
    return made(Formula::Op::Choice, {combined(Formula::Op::Less, *given, *least), *least, std::move(above)});
  }
  const bool isLess = isNamed(call, "min"), isGreater = isNamed(call, "max");
  if ((isLess || isGreater) && call.getNumArgs() == 2 && call.getType()->isIntegerType() &&
      ast.getSourceManager().isInSystemHeader(callee->getLocation())) {
    auto a = formula(*call.getArg(0)), b = a ? formula(*call.getArg(1)) : std::nullopt;
    if (!b) return std::nullopt;
    Formula asked = isLess ? combined(Formula::Op::Less, *b, *a) : combined(Formula::Op::Less, *a, *b);
    return made(Formula::Op::Choice, {std::move(asked), std::move(*b), std::move(*a)});
  }
  const clang::FunctionDecl* definition = callee->getDefinition();
  const auto* body =
      definition ? llvm::dyn_cast_or_null<clang::CompoundStmt>(definition->getBody()) : nullptr;
  auto inner = body && definition->getReturnType()->isIntegerType() ? enter(call) : std::nullopt;
  if (!inner) return std::nullopt;
  std::swap(scope, *inner);
  auto value = returned({body->body_begin(), body->body_end()});
  std::swap(scope, *inner);
  return value;
}

/// `ceil(n / 256.0)` as an integer.
std::optional<Formula> Folder::roundedUp(const clang::Expr& expr) {
  const auto* call = llvm::dyn_cast<clang::CallExpr>(&expr);
  if (!call || call->getNumArgs() != 1 || !(isNamed(*call, "ceil") || isNamed(*call, "ceilf")))
    return std::nullopt;
  const auto* ratio = llvm::dyn_cast<clang::BinaryOperator>(call->getArg(0)->IgnoreParenCasts());
  if (!ratio || ratio->getOpcode() != clang::BO_Div || ratio->getType()->isIntegerType()) return std::nullopt;
  auto count = formula(*ratio->getLHS()->IgnoreParenCasts());
  const auto by = number(*ratio->getRHS());
  if (!count || !by || by->asReal() < 1 || by->asReal() != std::floor(by->asReal())) return std::nullopt;
  const auto divisor = std::int64_t(by->asReal());
  return combined(Formula::Op::Div, combined(Formula::Op::Add, std::move(*count), ofConstant(divisor - 1)),
                  ofConstant(divisor));
}

std::optional<Formula> HostValues::formula(const clang::Expr& expr, const ScopePointer& scope) const {
  if (!expr.getType()->isIntegralOrEnumerationType()) return std::nullopt;
  return Folder(*this, scope).formula(expr);
}

/// A dim3, or a number, which is a width.
std::optional<Formulas> Folder::axesOf(const clang::Expr& expr) {
  if (expr.getType()->isIntegerType()) return Formulas{formula(expr), {}, {}};
  if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(&expr)) {
    if (made->getConstructor()->isCopyOrMoveConstructor()) return axes(*made->getArg(0));
    Formulas result;
    for (unsigned axis = 0; axis < std::min(3U, made->getNumArgs()); ++axis)
      if (made->getArg(axis)->getType()->isIntegerType()) result[axis] = formula(*made->getArg(axis));
    return result;
  }
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(&expr)) return axes(*cast->getSubExpr());
  if (const auto* full = llvm::dyn_cast<clang::FullExpr>(&expr)) return axes(*full->getSubExpr());
  if (const auto* made = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(&expr))
    return axes(*made->getSubExpr());
  if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(&expr)) {
    const auto* variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
    return variable ? axesAt({variable->getCanonicalDecl(), {}}, expr) : std::nullopt;
  }
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(&expr); call && call->getDirectCallee())
    return throughHelper(*call, &Folder::axes);
  if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(&expr)) {
    const auto condition = truth(*choice->getCond());
    const auto first = condition ? axes(*choice->getTrueExpr()) : std::nullopt,
               second = first ? axes(*choice->getFalseExpr()) : std::nullopt;
    return second ? std::optional(choiceOf(*condition, *first, *second)) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<Formula> HostValues::truth(const Guard& guard, const ScopePointer& scope) const {
  Folder folder(*this, scope);
  if (guard.at.isValid()) folder.askBehind(guard.condition->getSourceRange(), guard.at);
  return folder.truth(guard);
}

/// Of a dim3 whose axes may have been assigned by themselves.
std::optional<Formulas> Folder::axesAt(const Slot& slot, const clang::Expr& user) {
  const clang::VarDecl& variable = *slot.root;
  const auto ofWhole = [&] {
    return slot.path.empty() ? throughVariable(variable, user, &Folder::axes)
                             : fieldAt(slot, user, &Folder::axes);
  };
  const clang::QualType type = slot.path.empty() ? variable.getType() : slot.path.back()->getType();
  const auto* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  std::vector<std::pair<unsigned, Slot>> parts;
  for (const clang::FieldDecl* field : record ? record->fields() : clang::RecordDecl::field_range({}, {})) {
    Slot axis = slot;
    axis.path.push_back(field->getCanonicalDecl());
    if (values.uses.fields.contains(axis)) parts.emplace_back(field->getFieldIndex(), std::move(axis));
  }
  if (parts.empty()) return ofWhole();
  Formulas result; // of the whole nothing is said: it may come before or after
  for (const auto& [index, axis] : parts)
    if (index < 3) result[index] = fieldAt(axis, user, &Folder::formula);
  return result;
}

Formulas HostValues::fieldFormulas(const Slot& slot, const clang::Expr& user,
                                   const ScopePointer& scope) const {
  return Folder(*this, scope).axesAt(slot, user).value_or(Formulas());
}

Formulas HostValues::extentFormulas(const clang::Expr& extent, const ScopePointer& scope) const {
  return Folder(*this, scope).axes(extent).value_or(Formulas());
}

} // namespace kcheck::frontend
