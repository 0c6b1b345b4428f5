// Numbers that host code does not fix, as formulas over the variables that it computes them from: sizes of
// buffers and grids that follow one `n`.
#include "frontend/host_folder.h"

#include "frontend/host_containers.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>
#include <cmath>

namespace kcheck::frontend {
namespace {

Formula ofConstant(std::int64_t value) {
  Formula formula;
  formula.constant = value;
  return formula;
}

Formula combined(Formula::Op op, Formula left, Formula right) {
  Formula formula;
  formula.op = op;
  formula.operands = {std::move(left), std::move(right)};
  return formula;
}

constexpr std::uint64_t kIntBits = 32;

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
  return isShort && formula.op != Formula::Op::Div ? withDoubt(std::move(formula)) : formula;
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
  if (const auto* method = llvm::dyn_cast<clang::CXXMemberCallExpr>(&expr); method && asksSize(*method))
    return elementsFormula(*method->getImplicitObjectArgument());
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(&expr)) {
    const clang::FunctionDecl* callee = call->getDirectCallee();
    const clang::Expr* result = callee ? onlyReturn(*callee) : nullptr;
    auto inner = result ? enter(*call) : std::nullopt;
    if (!inner || !result->getType()->isIntegerType()) return std::nullopt;
    std::swap(scope, *inner);
    auto value = formula(*result);
    std::swap(scope, *inner);
    return value;
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
  case clang::BO_Shl:
  case clang::BO_Shr: {
    auto left = formula(*op.getLHS());
    const auto by = number(*op.getRHS());
    if (!left || !by || by->isFloat || by->integer < 0 || by->integer > 30) return std::nullopt;
    const auto kind = op.getOpcode() == clang::BO_Shl ? Formula::Op::Mul : Formula::Op::Div;
    return withoutSign(ast, op, combined(kind, std::move(*left), ofConstant(std::int64_t(1) << by->integer)));
  }
  default: return std::nullopt;
  }
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
  padding.number = values.buffers.numberOf(&variable);
  return combined(Formula::Op::Add, ofConstant(*width), std::move(padding));
}

/// A variable stands for itself where it has one value at every later place.
std::optional<Formula> Folder::formulaOfVariable(const clang::VarDecl& variable, const clang::Expr& user) {
  if (const auto* parameter = llvm::dyn_cast<clang::ParmVarDecl>(&variable)) {
    for (ScopePointer s = scope; s; s = s->outer)
      if (const auto entry = s->arguments.find(parameter); entry != s->arguments.end())
        return within(s->outer, *entry->second, &Folder::formula);
    const auto arguments = values.argumentsFor(*parameter);
    if (arguments.size() == 1) return within(nullptr, *arguments.front(), &Folder::formula);
    if (!values.isUnchanged(*parameter) || parameter->getType()->isReferenceType()) return std::nullopt;
  } else {
    if (!isFollowed(variable) || !variable.hasLocalStorage()) return std::nullopt;
    if (const clang::Expr* definition = values.definition(variable)) {
      if (auto value = formula(*definition)) return value;
      if (isBeyondNumbers(*definition)) return std::nullopt;
    }
    const auto own = values.uses.variables.find(variable.getCanonicalDecl());
    if (own == values.uses.variables.end() || own->second.loop) return std::nullopt;
    const clang::SourceManager& sources = ast.getSourceManager();
    const auto here = sources.getExpansionLoc(user.getBeginLoc());
    for (const Event& event : own->second.events)
      if (event.isInLoop || !sources.isBeforeInTranslationUnit(sources.getExpansionLoc(event.where), here))
        return std::nullopt;
    if (auto value = pitchOf(variable, own->second)) return value;
  }
  if (!livesAsLong(variable)) return std::nullopt;
  Formula formula;
  formula.op = Formula::Op::Variable;
  formula.variable = variable.getNameAsString();
  formula.number = values.buffers.numberOf(&variable);
  formula.mayDivide = values.uses.askedForRemainder.contains(formula.variable);
  return formula;
}

std::optional<Formula> HostValues::formula(const clang::Expr& expr, const ScopePointer& scope) const {
  if (!expr.getType()->isIntegralOrEnumerationType()) return std::nullopt;
  return Folder(*this, scope).formula(expr);
}

/// Of the first axis of a dim3 whose others are 1.
std::array<std::optional<Formula>, 3> HostValues::extentFormulas(const clang::Expr& given,
                                                                 const ScopePointer& scope) const {
  const clang::Expr* expr = given.IgnoreParenImpCasts();
  for (unsigned depth = 0; depth < 8; ++depth) {
    if (const auto* full = llvm::dyn_cast<clang::FullExpr>(expr))
      expr = full->getSubExpr()->IgnoreParenImpCasts();
    else if (const auto* made = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(expr))
      expr = made->getSubExpr()->IgnoreParenImpCasts();
    else if (const auto* cast = llvm::dyn_cast<clang::CXXFunctionalCastExpr>(expr))
      expr = cast->getSubExpr()->IgnoreParenImpCasts();
    else if (const auto* copied = llvm::dyn_cast<clang::CXXConstructExpr>(expr);
             copied && copied->getConstructor()->isCopyOrMoveConstructor())
      expr = copied->getArg(0)->IgnoreParenImpCasts();
    else if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(expr)) {
      const auto* variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
      const bool partly = variable && std::ranges::any_of(uses.fields, [&](const auto& field) {
                            return field.first.root == variable->getCanonicalDecl();
                          });
      const clang::Expr* source = variable && !partly ? definition(*variable) : nullptr;
      if (!source) return {};
      expr = source->IgnoreParenImpCasts();
    } else {
      break;
    }
  }
  std::array<std::optional<Formula>, 3> axes;
  if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(expr))
    for (unsigned axis = 0; axis < std::min(3U, made->getNumArgs()); ++axis)
      axes[axis] = formula(*made->getArg(axis), scope);
  else
    axes[0] = formula(*expr, scope);
  return axes;
}

} // namespace kcheck::frontend
