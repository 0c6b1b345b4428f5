// Folds host expressions to values: clang's constant evaluator first, then through variables that keep their
// value, helpers with one return statement, and parameters for which all callers agree.
#include "frontend/host_values.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/Stmt.h>
#include <clang/Basic/SourceManager.h>

#include <cmath>

namespace kcheck::frontend {
namespace {

constexpr unsigned kDeepest = 24;

struct Number {
  bool isFloat = false;
  std::int64_t integer = 0;
  double real = 0;
  double asReal() const { return isFloat ? real : double(integer); }
};

Number ofInteger(std::int64_t value) { return {false, value, 0}; }
Number ofReal(double value) { return {true, 0, value}; }

bool isDim3(clang::QualType type) {
  const clang::CXXRecordDecl* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  return record && record->getIdentifier() && record->getName() == "dim3";
}

bool isNull(const clang::Expr& expr, const clang::ASTContext& ast) {
  return expr.isNullPointerConstant(const_cast<clang::ASTContext&>(ast),
                                    clang::Expr::NPC_ValueDependentIsNotNull) != clang::Expr::NPCK_NotNull;
}

/// `return E;` of a function whose body is just that.
const clang::Expr* onlyReturn(const clang::FunctionDecl& function) {
  const clang::FunctionDecl* definition = nullptr;
  if (!function.hasBody(definition)) return nullptr;
  const auto* body = llvm::dyn_cast<clang::CompoundStmt>(definition->getBody());
  if (!body || body->size() != 1) return nullptr;
  const auto* statement = llvm::dyn_cast<clang::ReturnStmt>(body->body_front());
  return statement ? statement->getRetValue() : nullptr;
}

} // namespace

/// One evaluation; `bound` are the parameters of helpers that it has entered.
class Folder {
public:
  explicit Folder(const HostValues& values) : values(values), ast(values.ast) {}

  std::optional<Number> number(const clang::Expr& given) {
    const clang::Expr& expr = *given.IgnoreParens();
    if (depth > kDeepest || expr.isValueDependent()) return std::nullopt;
    if (auto constant = constantOf(expr)) return constant;
    ++depth;
    std::optional<Number> result = compound(expr);
    --depth;
    return result;
  }

  std::optional<Extent> extent(const clang::Expr& given) {
    const clang::Expr& expr = *given.IgnoreParens();
    if (depth > kDeepest || expr.isValueDependent()) return std::nullopt;
    ++depth;
    std::optional<Extent> result = extentOf(expr);
    --depth;
    return result;
  }

  std::optional<PointerValue> pointer(const clang::Expr& given) {
    const clang::Expr& expr = *given.IgnoreParens();
    if (depth > kDeepest || expr.isValueDependent()) return std::nullopt;
    ++depth;
    std::optional<PointerValue> result = pointerOf(expr);
    --depth;
    return result;
  }

private:
  std::optional<Number> constantOf(const clang::Expr& expr) const {
    clang::Expr::EvalResult result;
    if (!expr.EvaluateAsRValue(result, ast) || result.HasSideEffects) return std::nullopt;
    if (result.Val.isInt()) return ofInteger(result.Val.getInt().getExtValue());
    if (result.Val.isFloat()) {
      llvm::APFloat value = result.Val.getFloat();
      bool inexact = false;
      value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &inexact);
      return ofReal(value.convertToDouble());
    }
    return std::nullopt;
  }

  std::optional<Number> compound(const clang::Expr& expr) {
    if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(&expr)) return convert(*cast);
    if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(&expr)) {
      const auto* variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
      return variable ? throughVariable(*variable, &Folder::number) : std::nullopt;
    }
    if (const auto* op = llvm::dyn_cast<clang::UnaryOperator>(&expr)) return unary(*op);
    if (const auto* op = llvm::dyn_cast<clang::BinaryOperator>(&expr)) return binary(*op);
    if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(&expr)) {
      const auto condition = number(*choice->getCond());
      if (!condition) return std::nullopt;
      return number(condition->asReal() != 0 ? *choice->getTrueExpr() : *choice->getFalseExpr());
    }
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(&expr)) return ofCall(*call);
    if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(&expr)) return component(*member);
    if (const auto* made = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(&expr))
      return number(*made->getSubExpr());
    if (const auto* full = llvm::dyn_cast<clang::FullExpr>(&expr)) return number(*full->getSubExpr());
    if (const auto* subst = llvm::dyn_cast<clang::SubstNonTypeTemplateParmExpr>(&expr))
      return number(*subst->getReplacement());
    if (const auto* fallback = llvm::dyn_cast<clang::CXXDefaultArgExpr>(&expr))
      return number(*fallback->getExpr());
    if (const auto* list = llvm::dyn_cast<clang::InitListExpr>(&expr); list && list->getNumInits() == 1)
      return number(*list->getInit(0));
    return std::nullopt;
  }

  /// An integer as a variable of `type` holds it.
  std::optional<Number> fit(Number value, clang::QualType type) const {
    if (type->isBooleanType()) return ofInteger(value.asReal() != 0);
    if (type->isRealFloatingType()) {
      const bool single = type->isSpecificBuiltinType(clang::BuiltinType::Float);
      return ofReal(single ? double(float(value.asReal())) : value.asReal());
    }
    if (!type->isIntegralOrEnumerationType()) return std::nullopt;
    if (value.isFloat) {
      if (!(std::fabs(value.real) < 9e18)) return std::nullopt;
      value = ofInteger(std::int64_t(value.real));
    }
    const unsigned width = unsigned(ast.getTypeSize(type));
    const llvm::APInt wide(64, std::uint64_t(value.integer));
    if (width >= 64) return value;
    const llvm::APInt narrow = wide.trunc(width);
    return ofInteger(type->isSignedIntegerOrEnumerationType() ? narrow.getSExtValue()
                                                              : std::int64_t(narrow.getZExtValue()));
  }

  std::optional<Number> convert(const clang::CastExpr& cast) {
    const auto value = number(*cast.getSubExpr());
    if (!value) return std::nullopt;
    switch (cast.getCastKind()) {
    case clang::CK_LValueToRValue:
    case clang::CK_NoOp: return value;
    case clang::CK_IntegralCast:
    case clang::CK_IntegralToBoolean:
    case clang::CK_IntegralToFloating:
    case clang::CK_FloatingToIntegral:
    case clang::CK_FloatingToBoolean:
    case clang::CK_FloatingCast:
    case clang::CK_BooleanToSignedIntegral: return fit(*value, cast.getType());
    default: return std::nullopt;
    }
  }

  std::optional<Number> unary(const clang::UnaryOperator& op) {
    if (op.isIncrementDecrementOp()) return std::nullopt;
    const auto value = number(*op.getSubExpr());
    if (!value) return std::nullopt;
    switch (op.getOpcode()) {
    case clang::UO_Plus: return value;
    case clang::UO_Minus:
      return value->isFloat ? ofReal(-value->real) : fit(ofInteger(-value->integer), op.getType());
    case clang::UO_Not: return fit(ofInteger(~value->integer), op.getType());
    case clang::UO_LNot: return ofInteger(value->asReal() == 0);
    default: return std::nullopt;
    }
  }

  std::optional<Number> binary(const clang::BinaryOperator& op) {
    if (op.isAssignmentOp() || !op.getType()->isArithmeticType()) return std::nullopt;
    if (op.getOpcode() == clang::BO_Comma) return std::nullopt;
    const auto left = number(*op.getLHS()), right = number(*op.getRHS());
    if (!left || !right) return std::nullopt;
    if (left->isFloat || right->isFloat) return realBinary(op, left->asReal(), right->asReal());
    return integerBinary(op, left->integer, right->integer);
  }

  std::optional<Number> realBinary(const clang::BinaryOperator& op, double a, double b) const {
    switch (op.getOpcode()) {
    case clang::BO_Add: return fit(ofReal(a + b), op.getType());
    case clang::BO_Sub: return fit(ofReal(a - b), op.getType());
    case clang::BO_Mul: return fit(ofReal(a * b), op.getType());
    case clang::BO_Div: return fit(ofReal(a / b), op.getType());
    case clang::BO_LT: return ofInteger(a < b);
    case clang::BO_GT: return ofInteger(a > b);
    case clang::BO_LE: return ofInteger(a <= b);
    case clang::BO_GE: return ofInteger(a >= b);
    case clang::BO_EQ: return ofInteger(a == b);
    case clang::BO_NE: return ofInteger(a != b);
    default: return std::nullopt;
    }
  }

  std::optional<Number> integerBinary(const clang::BinaryOperator& op, std::int64_t a, std::int64_t b) const {
    const clang::QualType operand = op.getLHS()->getType();
    const bool isUnsigned = operand->isUnsignedIntegerOrEnumerationType();
    const auto ua = std::uint64_t(a), ub = std::uint64_t(b);
    const auto wrapped = [&](std::uint64_t value) {
      return fit(ofInteger(std::int64_t(value)), op.getType());
    };
    const auto less = [&] { return isUnsigned ? ua < ub : a < b; };
    switch (op.getOpcode()) {
    case clang::BO_Add: return wrapped(ua + ub);
    case clang::BO_Sub: return wrapped(ua - ub);
    case clang::BO_Mul: return wrapped(ua * ub);
    case clang::BO_Div:
      if (b == 0 || (!isUnsigned && b == -1)) return std::nullopt;
      return wrapped(isUnsigned ? ua / ub : std::uint64_t(a / b));
    case clang::BO_Rem:
      if (b == 0 || (!isUnsigned && b == -1)) return std::nullopt;
      return wrapped(isUnsigned ? ua % ub : std::uint64_t(a % b));
    case clang::BO_Shl: return b < 0 || b > 63 ? std::nullopt : wrapped(ua << b);
    case clang::BO_Shr:
      return b < 0 || b > 63 ? std::nullopt : wrapped(isUnsigned ? ua >> b : std::uint64_t(a >> b));
    case clang::BO_And: return wrapped(ua & ub);
    case clang::BO_Or: return wrapped(ua | ub);
    case clang::BO_Xor: return wrapped(ua ^ ub);
    case clang::BO_LAnd: return ofInteger(a != 0 && b != 0);
    case clang::BO_LOr: return ofInteger(a != 0 || b != 0);
    case clang::BO_LT: return ofInteger(less());
    case clang::BO_GE: return ofInteger(!less());
    case clang::BO_GT: return ofInteger(a != b && !less());
    case clang::BO_LE: return ofInteger(a == b || less());
    case clang::BO_EQ: return ofInteger(a == b);
    case clang::BO_NE: return ofInteger(a != b);
    default: return std::nullopt;
    }
  }

  std::optional<Number> ofCall(const clang::CallExpr& call) {
    const clang::FunctionDecl* callee = call.getDirectCallee();
    if (!callee || !callee->getIdentifier()) return std::nullopt;
    const llvm::StringRef name = callee->getName();
    const bool isLibrary = ast.getSourceManager().isInSystemHeader(callee->getLocation());
    if (isLibrary && call.getNumArgs() == 1) {
      const auto value = number(*call.getArg(0));
      if (!value) return std::nullopt;
      if (name == "ceil" || name == "ceilf") return fit(ofReal(std::ceil(value->asReal())), call.getType());
      if (name == "floor" || name == "floorf")
        return fit(ofReal(std::floor(value->asReal())), call.getType());
      return std::nullopt;
    }
    if (isLibrary && call.getNumArgs() == 2 && (name == "min" || name == "max")) {
      const auto a = number(*call.getArg(0)), b = number(*call.getArg(1));
      if (!a || !b) return std::nullopt;
      const bool first = name == "min" ? !(b->asReal() < a->asReal()) : !(a->asReal() < b->asReal());
      return first ? a : b;
    }
    return isLibrary ? std::nullopt : throughHelper(call, *callee, &Folder::number);
  }

  std::optional<Number> component(const clang::MemberExpr& member) {
    if (member.isArrow() || !isDim3(member.getBase()->getType())) return std::nullopt;
    const auto value = extent(*member.getBase());
    if (!value) return std::nullopt;
    const std::string name = member.getMemberDecl()->getNameAsString();
    const auto& axis = name == "x" ? value->x : name == "y" ? value->y : value->z;
    return axis ? std::optional(ofInteger(*axis)) : std::nullopt;
  }

  std::optional<Extent> extentOf(const clang::Expr& expr) {
    if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(&expr)) return constructed(*made);
    if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(&expr)) return extent(*cast->getSubExpr());
    if (const auto* full = llvm::dyn_cast<clang::FullExpr>(&expr)) return extent(*full->getSubExpr());
    if (const auto* made = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(&expr))
      return extent(*made->getSubExpr());
    if (const auto* made = llvm::dyn_cast<clang::CXXBindTemporaryExpr>(&expr))
      return extent(*made->getSubExpr());
    if (const auto* fallback = llvm::dyn_cast<clang::CXXDefaultArgExpr>(&expr))
      return extent(*fallback->getExpr());
    if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(&expr)) {
      const auto* variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
      return variable && isDim3(variable->getType()) ? throughVariable(*variable, &Folder::extent)
                                                     : std::nullopt;
    }
    if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(&expr)) {
      const auto condition = number(*choice->getCond());
      if (!condition) return std::nullopt;
      return extent(condition->asReal() != 0 ? *choice->getTrueExpr() : *choice->getFalseExpr());
    }
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(&expr); call && call->getDirectCallee())
      return throughHelper(*call, *call->getDirectCallee(), &Folder::extent);
    return std::nullopt;
  }

  std::optional<Extent> constructed(const clang::CXXConstructExpr& made) {
    if (!isDim3(made.getType())) return std::nullopt;
    if (made.getConstructor()->isCopyOrMoveConstructor()) return extent(*made.getArg(0));
    std::optional<std::uint32_t> axes[3] = {1, 1, 1};
    if (made.getNumArgs() > 3) return std::nullopt;
    for (unsigned i = 0; i < made.getNumArgs(); ++i) {
      const auto value = number(*made.getArg(i));
      axes[i] = value && !value->isFloat ? std::optional(std::uint32_t(value->integer)) : std::nullopt;
    }
    return Extent{axes[0], axes[1], axes[2]};
  }

  std::optional<PointerValue> pointerOf(const clang::Expr& expr) {
    if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(&expr)) {
      const bool keeps = cast->getCastKind() == clang::CK_LValueToRValue ||
                         cast->getCastKind() == clang::CK_BitCast || cast->getCastKind() == clang::CK_NoOp;
      return keeps ? pointer(*cast->getSubExpr()) : std::nullopt;
    }
    if (const auto* full = llvm::dyn_cast<clang::FullExpr>(&expr)) return pointer(*full->getSubExpr());
    if (const auto* op = llvm::dyn_cast<clang::BinaryOperator>(&expr); op && op->isAdditiveOp())
      return moved(*op);
    if (const auto* op = llvm::dyn_cast<clang::UnaryOperator>(&expr);
        op && op->getOpcode() == clang::UO_AddrOf) {
      const auto* element = llvm::dyn_cast<clang::ArraySubscriptExpr>(op->getSubExpr()->IgnoreParens());
      if (!element || !element->getBase()->IgnoreParenImpCasts()->getType()->isPointerType())
        return std::nullopt;
      return shifted(*element->getBase(), *element->getIdx(), element->getType(), 1);
    }
    if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(&expr)) {
      const auto* variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
      if (!variable) return std::nullopt;
      if (auto allocation = allocationOf(*variable)) return PointerValue{*allocation, 0};
      return throughVariable(*variable, &Folder::pointer);
    }
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(&expr); call && call->getDirectCallee())
      return throughHelper(*call, *call->getDirectCallee(), &Folder::pointer);
    return std::nullopt;
  }

  std::optional<PointerValue> moved(const clang::BinaryOperator& op) {
    const bool left = op.getLHS()->getType()->isPointerType();
    const clang::Expr& base = left ? *op.getLHS() : *op.getRHS();
    const clang::Expr& index = left ? *op.getRHS() : *op.getLHS();
    if (!base.getType()->isPointerType() || !index.getType()->isIntegerType()) return std::nullopt;
    return shifted(base, index, base.getType()->getPointeeType(), op.getOpcode() == clang::BO_Sub ? -1 : 1);
  }

  std::optional<PointerValue> shifted(const clang::Expr& base, const clang::Expr& index,
                                      clang::QualType element, int sign) {
    auto result = pointer(base);
    if (!result) return std::nullopt;
    const auto count = number(index);
    if (!count || !result->byteOffset || element->isIncompleteType()) {
      result->byteOffset = std::nullopt;
      return result;
    }
    *result->byteOffset += sign * count->integer * ast.getTypeSizeInChars(element).getQuantity();
    return result;
  }

  /// The buffer that one call alone puts into the variable.
  std::optional<std::size_t> allocationOf(const clang::VarDecl& variable) const {
    const auto entry = values.uses.variables.find(variable.getCanonicalDecl());
    if (entry == values.uses.variables.end()) return std::nullopt;
    const VariableUses& uses = entry->second;
    if (uses.allocatedBy.size() != 1 || uses.others != 0 || !isOwn(variable)) return std::nullopt;
    for (const clang::Expr* value : uses.assigned)
      if (!isNull(*value, ast)) return std::nullopt;
    if (const clang::Expr* init = variable.getAnyInitializer(); init && !isNull(*init, ast))
      return std::nullopt;
    const auto allocation = values.uses.allocations.find(uses.allocatedBy.front());
    if (allocation == values.uses.allocations.end()) return std::nullopt;
    return allocation->second;
  }

  /// Code elsewhere cannot change it.
  bool isOwn(const clang::VarDecl& variable) const {
    return !llvm::isa<clang::ParmVarDecl>(variable) &&
           (variable.hasLocalStorage() || variable.isStaticLocal() || !variable.isExternallyVisible() ||
            (values.uses.wholeProgram && variable.isThisDeclarationADefinition()));
  }

  template <typename Value>
  std::optional<Value> throughVariable(const clang::VarDecl& variable,
                                       std::optional<Value> (Folder::*evaluate)(const clang::Expr&)) {
    if (const auto* parameter = llvm::dyn_cast<clang::ParmVarDecl>(&variable)) {
      if (auto entry = bound.find(parameter); entry != bound.end()) {
        const Binding binding = entry->second;
        std::swap(bound, *binding.outer); // the argument belongs to the caller's scope
        std::optional<Value> value = (this->*evaluate)(*binding.argument);
        std::swap(bound, *binding.outer);
        return value;
      }
      return agreed(*parameter, evaluate);
    }
    const clang::Expr* definition = values.definition(variable);
    return definition ? (this->*evaluate)(*definition) : std::nullopt;
  }

  /// The value of a parameter, as far as all callers pass the same.
  template <typename Value>
  std::optional<Value> agreed(const clang::ParmVarDecl& parameter,
                              std::optional<Value> (Folder::*evaluate)(const clang::Expr&)) {
    std::optional<Value> common;
    for (const clang::Expr* argument : values.argumentsFor(parameter)) {
      const std::optional<Value> value = (this->*evaluate)(*argument);
      common = !value ? std::nullopt : common ? shared(*common, *value) : value;
      if (!common) return std::nullopt;
    }
    return common;
  }
  static std::optional<Number> shared(const Number& a, const Number& b) {
    const bool same = a.isFloat == b.isFloat && a.integer == b.integer && a.real == b.real;
    return same ? std::optional(a) : std::nullopt;
  }
  static std::optional<Extent> shared(const Extent& a, const Extent& b) {
    auto axis = [](const auto& left, const auto& right) { return left == right ? left : std::nullopt; };
    return Extent{axis(a.x, b.x), axis(a.y, b.y), axis(a.z, b.z)};
  }
  static std::optional<PointerValue> shared(const PointerValue& a, const PointerValue& b) {
    const bool same = a.allocation == b.allocation && a.byteOffset == b.byteOffset;
    return same ? std::optional(a) : std::nullopt;
  }

  template <typename Value>
  std::optional<Value> throughHelper(const clang::CallExpr& call, const clang::FunctionDecl& callee,
                                     std::optional<Value> (Folder::*evaluate)(const clang::Expr&)) {
    const clang::Expr* result = onlyReturn(callee);
    const clang::FunctionDecl* definition = callee.getDefinition();
    if (!result || !definition || call.getNumArgs() < definition->getNumParams()) return std::nullopt;
    if (llvm::isa<clang::CXXMethodDecl>(definition) && !llvm::isa<clang::CXXOperatorCallExpr>(call) &&
        !llvm::cast<clang::CXXMethodDecl>(definition)->isStatic())
      return std::nullopt;
    const unsigned skip = call.getNumArgs() - definition->getNumParams(); // the object of a lambda's call
    auto outer = std::make_shared<Bindings>();
    Bindings inner;
    for (unsigned i = 0; i < definition->getNumParams(); ++i) {
      const clang::ParmVarDecl* parameter = definition->getParamDecl(i);
      const auto uses = values.uses.variables.find(parameter->getCanonicalDecl());
      const bool changed =
          uses != values.uses.variables.end() && (uses->second.others || !uses->second.assigned.empty());
      if (changed) return std::nullopt;
      inner[parameter] = {call.getArg(i + skip), outer};
    }
    *outer = std::move(bound);
    bound = std::move(inner);
    std::optional<Value> value = (this->*evaluate)(*result);
    bound = std::move(*outer);
    return value;
  }

  struct Binding;
  using Bindings = std::map<const clang::ParmVarDecl*, Binding>;
  struct Binding {
    const clang::Expr* argument = nullptr;
    std::shared_ptr<Bindings> outer;
  };

  const HostValues& values;
  const clang::ASTContext& ast;
  Bindings bound;
  unsigned depth = 0;
};

std::optional<std::int64_t> HostValues::integer(const clang::Expr& expr) const {
  if (!expr.getType()->isIntegralOrEnumerationType()) return std::nullopt;
  const auto value = Folder(*this).number(expr);
  if (!value || value->isFloat) return std::nullopt;
  return value->integer;
}

Extent HostValues::extent(const clang::Expr& expr) const {
  return Folder(*this).extent(expr).value_or(Extent());
}
std::optional<PointerValue> HostValues::pointer(const clang::Expr& expr) const {
  return Folder(*this).pointer(expr);
}

const clang::Expr* HostValues::definition(const clang::VarDecl& variable) const {
  const clang::Expr* init = variable.getAnyInitializer();
  if (llvm::isa<clang::ParmVarDecl>(variable)) return nullptr;
  const bool isConst = variable.getType().isConstQualified();
  const auto entry = uses.variables.find(variable.getCanonicalDecl());
  const VariableUses none;
  const VariableUses& found = entry == uses.variables.end() ? none : entry->second;
  if (isConst) return init;
  const bool own = variable.hasLocalStorage() || variable.isStaticLocal() ||
                   !variable.isExternallyVisible() ||
                   (uses.wholeProgram && variable.isThisDeclarationADefinition());
  if (!own || found.others != 0 || !found.allocatedBy.empty()) return nullptr;
  if (init) return found.assigned.empty() ? init : nullptr;
  // A global without initialiser starts as zero, so a single assignment is not its only value.
  return found.assigned.size() == 1 && variable.hasLocalStorage() ? found.assigned.front() : nullptr;
}

std::vector<const clang::Expr*> HostValues::argumentsFor(const clang::ParmVarDecl& parameter) const {
  const auto* function = llvm::dyn_cast_or_null<clang::FunctionDecl>(parameter.getDeclContext());
  if (!function || function->isMain()) return {};
  const auto own = uses.variables.find(parameter.getCanonicalDecl());
  if (own != uses.variables.end() && (own->second.others || !own->second.assigned.empty())) return {};
  if (const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(function); method && method->isVirtual())
    return {};
  if (!uses.wholeProgram && function->isExternallyVisible()) return {};
  const auto entry = uses.functions.find(function->getCanonicalDecl());
  if (entry == uses.functions.end() || entry->second.escapes) return {};
  std::vector<const clang::Expr*> arguments;
  for (const clang::CallExpr* call : entry->second.calls) {
    if (llvm::isa<clang::CXXOperatorCallExpr>(call)) return {};
    if (parameter.getFunctionScopeIndex() >= call->getNumArgs()) return {};
    arguments.push_back(call->getArg(parameter.getFunctionScopeIndex()));
  }
  return arguments;
}

} // namespace kcheck::frontend
