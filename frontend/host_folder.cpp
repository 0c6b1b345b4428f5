// Folds host expressions to numbers and extents: clang's constant evaluator first, then through variables,
// fields, helpers and parameters (host_lookup.cpp).
#include "frontend/host_folder.h"

#include "frontend/host_containers.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/Stmt.h>
#include <clang/Basic/SourceManager.h>

#include <cmath>

namespace kcheck::frontend {
namespace {

constexpr unsigned kDeepest = 48;

bool isDim3(clang::QualType type) {
  const clang::CXXRecordDecl* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  return record && record->getIdentifier() && record->getName() == "dim3";
}

} // namespace

template <typename Value>
std::optional<Value> Folder::guarded(const clang::Expr& given, Evaluate<Value> evaluate) {
  const clang::Expr& expr = handedOn(given);
  if (depth > kDeepest || expr.isValueDependent()) return std::nullopt;
  ++depth;
  std::optional<Value> result = (this->*evaluate)(expr);
  --depth;
  return result;
}

bool Folder::isBeyondNumbers(const clang::Expr& expr) const {
  clang::Expr::EvalResult result;
  return expr.EvaluateAsRValue(result, ast) && result.Val.isInt() &&
         !result.Val.getInt().isRepresentableByInt64();
}

std::optional<Number> Folder::constantOf(const clang::Expr& expr) const {
  clang::Expr::EvalResult result;
  if (!expr.EvaluateAsRValue(result, ast) || result.HasSideEffects) return std::nullopt;
  if (result.Val.isInt()) {
    const std::optional<std::int64_t> value = result.Val.getInt().tryExtValue();
    return value ? std::optional(ofInteger(*value)) : std::nullopt;
  }
  if (result.Val.isFloat()) {
    llvm::APFloat value = result.Val.getFloat();
    bool inexact = false;
    value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &inexact);
    return ofReal(value.convertToDouble());
  }
  return std::nullopt;
}

std::optional<Number> Folder::numberOf(const clang::Expr& expr) {
  if (auto constant = constantOf(expr)) return constant;
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(&expr)) return convert(*cast);
  if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(&expr)) {
    const auto* variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
    return variable ? ofReference(*variable, expr) : std::nullopt;
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
  if (const auto* subscript = llvm::dyn_cast<clang::ArraySubscriptExpr>(&expr)) return element(*subscript);
  if (const auto* made = llvm::dyn_cast<clang::CXXDefaultInitExpr>(&expr)) return number(*made->getExpr());
  if (llvm::isa<clang::ImplicitValueInitExpr>(expr) && expr.getType()->isArithmeticType())
    return fit(ofInteger(0), expr.getType(), ast);
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

std::optional<Number> Folder::convert(const clang::CastExpr& cast) {
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
  case clang::CK_BooleanToSignedIntegral: return fit(*value, cast.getType(), ast);
  default: return std::nullopt;
  }
}

std::optional<Number> Folder::unary(const clang::UnaryOperator& op) {
  if (op.isIncrementDecrementOp()) return std::nullopt;
  const auto value = number(*op.getSubExpr());
  if (!value) return std::nullopt;
  switch (op.getOpcode()) {
  case clang::UO_Plus: return value;
  case clang::UO_Minus:
    return value->isFloat ? ofReal(-value->real) : fit(ofInteger(-value->integer), op.getType(), ast);
  case clang::UO_Not: return fit(ofInteger(~value->integer), op.getType(), ast);
  case clang::UO_LNot: return ofInteger(value->asReal() == 0);
  default: return std::nullopt;
  }
}

std::optional<Number> Folder::binary(const clang::BinaryOperator& op) {
  if (op.isAssignmentOp() || !op.getType()->isArithmeticType()) return std::nullopt;
  if (op.getOpcode() == clang::BO_Comma) return std::nullopt;
  const auto left = number(*op.getLHS()), right = number(*op.getRHS());
  if (!left || !right) return std::nullopt;
  return combine(op, *left, *right, ast);
}

std::optional<Number> Folder::ofCall(const clang::CallExpr& call) {
  const clang::FunctionDecl* callee = call.getDirectCallee();
  if (!callee || !callee->getIdentifier()) return std::nullopt;
  if (const auto* method = llvm::dyn_cast<clang::CXXMemberCallExpr>(&call); method && asksSize(*method))
    return elements(*method->getImplicitObjectArgument());
  const llvm::StringRef name = callee->getName();
  const bool isLibrary = ast.getSourceManager().isInSystemHeader(callee->getLocation());
  if (isLibrary && call.getNumArgs() == 1) {
    const auto value = number(*call.getArg(0));
    if (!value) return std::nullopt;
    if (name == "ceil" || name == "ceilf")
      return fit(ofReal(std::ceil(value->asReal())), call.getType(), ast);
    if (name == "floor" || name == "floorf")
      return fit(ofReal(std::floor(value->asReal())), call.getType(), ast);
    return std::nullopt;
  }
  if (isLibrary && call.getNumArgs() == 2 && (name == "min" || name == "max")) {
    const auto a = number(*call.getArg(0)), b = number(*call.getArg(1));
    if (!a || !b) return std::nullopt;
    const bool first = name == "min" ? !(b->asReal() < a->asReal()) : !(a->asReal() < b->asReal());
    return first ? a : b;
  }
  return isLibrary ? std::nullopt : throughHelper(call, &Folder::number);
}

/// A counter of the passes that the scope tells apart, or any other variable.
std::optional<Number> Folder::ofReference(const clang::VarDecl& variable, const clang::Expr& user) {
  for (ScopePointer s = scope; s; s = s->outer) {
    const bool isOfBranch = !s->loop && !s->function;
    if (const auto entry = s->counters.find(variable.getCanonicalDecl()); entry != s->counters.end())
      if (!isOfBranch || isSettled(variable, user.getBeginLoc())) return ofInteger(entry->second);
    const auto* function = llvm::dyn_cast<clang::FunctionDecl>(variable.getDeclContext());
    if (s->function && function && function->getCanonicalDecl() == s->function) break; // of this call
  }
  return throughVariable(variable, user, &Folder::number);
}

/// A field: an axis of a dim3, or a number in a structure.
std::optional<Number> Folder::component(const clang::MemberExpr& member) {
  if (isDim3(member.getBase()->getType()) && !member.isArrow()) {
    const auto value = extent(*member.getBase());
    if (!value) return std::nullopt;
    const std::string name = member.getMemberDecl()->getNameAsString();
    const auto& axis = name == "x" ? value->x : name == "y" ? value->y : value->z;
    return axis ? std::optional(ofInteger(*axis)) : std::nullopt;
  }
  if (const clang::FieldDecl* field = fieldOfThis(member)) return fieldOfObject(*field, &Folder::number);
  if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(member.getMemberDecl())) // a static member
    return throughVariable(*variable, member, &Folder::number);
  const auto slot = readSlotOf(member);
  return slot ? fieldAt(*slot, member, &Folder::number) : std::nullopt;
}

/// An element of an array that is made with all its values and never changed.
std::optional<Number> Folder::element(const clang::ArraySubscriptExpr& subscript) {
  const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(subscript.getBase()->IgnoreParenImpCasts());
  const auto* variable = reference ? llvm::dyn_cast<clang::VarDecl>(reference->getDecl()) : nullptr;
  if (!variable || !variable->getType().getNonReferenceType().isConstQualified()) return std::nullopt;
  const auto* array = ast.getAsConstantArrayType(variable->getType());
  const clang::Expr* init = variable->getAnyInitializer();
  const auto* list = init ? llvm::dyn_cast<clang::InitListExpr>(init->IgnoreParenImpCasts()) : nullptr;
  const auto index = number(*subscript.getIdx());
  if (!array || !list || !index || index->isFloat || index->integer < 0) return std::nullopt;
  if (std::uint64_t(index->integer) >= list->getNumInits()) return std::nullopt;
  return number(*list->getInit(unsigned(index->integer)));
}

/// A dim3 whose axes are assigned one by one, at the place of `user`.
std::optional<Extent> Folder::extentAt(const Slot& slot, const clang::Expr& user) {
  const clang::VarDecl& variable = *slot.root;
  const auto* type = slot.path.empty() ? variable.getType()->getAsCXXRecordDecl()
                                       : slot.path.back()->getType()->getAsCXXRecordDecl();
  if (!type || llvm::isa<clang::ParmVarDecl>(variable)) return std::nullopt;
  std::vector<Event> whole;
  if (slot.path.empty()) {
    if (const auto own = values.uses.variables.find(&variable); own != values.uses.variables.end())
      whole = own->second.events;
  } else if (const auto own = values.uses.fields.find(slot); own != values.uses.fields.end()) {
    whole = own->second;
  }
  std::vector<std::pair<unsigned, std::vector<Event>>> axes;
  for (const clang::FieldDecl* field : type->fields()) {
    Slot axis = slot;
    axis.path.push_back(field->getCanonicalDecl());
    const auto events = values.uses.fields.find(axis);
    if (events == values.uses.fields.end()) continue;
    axes.emplace_back(field->getFieldIndex(), events->second);
  }
  if (axes.empty())
    return slot.path.empty() ? throughVariable(variable, user, &Folder::extent)
                             : fieldAt(slot, user, &Folder::extent);
  if (!isFollowed(variable)) return std::nullopt;
  const Latest start = lastBefore(whole, variable, user.getBeginLoc(), true);
  if (!start.known) return std::nullopt;
  const Event* base = start.event;
  std::optional<Extent> result;
  if (base)
    result = base->value ? extent(*base->value) : std::nullopt;
  else if (slot.path.empty() && variable.getAnyInitializer())
    result = extent(*variable.getAnyInitializer());
  else if (!slot.path.empty())
    result = Extent(Dim3{0, 0, 0}); // of `config = {}`
  if (!result) return std::nullopt;
  for (const auto& [index, events] : axes) {
    const Latest latest =
        lastBefore(events, variable, user.getBeginLoc(), true, base ? base->where : clang::SourceLocation());
    const Event* last = latest.event;
    if (latest.known && !last) continue;
    const auto value = latest.known && last->value ? number(*last->value) : std::nullopt;
    auto& axis = index == 0 ? result->x : index == 1 ? result->y : result->z;
    axis = value && !value->isFloat ? std::optional(std::uint32_t(value->integer)) : std::nullopt;
  }
  return result;
}

std::optional<Extent> Folder::extentOf(const clang::Expr& expr) {
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
    if (!variable || !isDim3(variable->getType())) return std::nullopt;
    if (llvm::isa<clang::ParmVarDecl>(variable) || variable->getType()->isReferenceType())
      return throughVariable(*variable, expr, &Folder::extent);
    return extentAt({variable->getCanonicalDecl(), {}}, expr);
  }
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(&expr)) {
    if (const clang::FieldDecl* field = fieldOfThis(*member)) return fieldOfObject(*field, &Folder::extent);
    const auto slot = readSlotOf(*member);
    return slot ? extentAt(*slot, expr) : std::nullopt;
  }
  if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(&expr)) {
    const auto condition = number(*choice->getCond());
    if (!condition) return std::nullopt;
    return extent(condition->asReal() != 0 ? *choice->getTrueExpr() : *choice->getFalseExpr());
  }
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(&expr); call && call->getDirectCallee())
    return throughHelper(*call, &Folder::extent);
  return std::nullopt;
}

std::optional<Extent> Folder::constructed(const clang::CXXConstructExpr& made) {
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

template std::optional<Number> Folder::guarded(const clang::Expr&, Evaluate<Number>);
template std::optional<Extent> Folder::guarded(const clang::Expr&, Evaluate<Extent>);
template std::optional<PointerValue> Folder::guarded(const clang::Expr&, Evaluate<PointerValue>);
template std::optional<Formula> Folder::guarded(const clang::Expr&, Evaluate<Formula>);
template std::optional<Formulas> Folder::guarded(const clang::Expr&, Evaluate<Formulas>);

} // namespace kcheck::frontend
