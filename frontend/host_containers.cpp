#include "frontend/host_containers.h"

#include "frontend/host_folder.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <llvm/ADT/StringSwitch.h>

namespace kcheck::frontend {
namespace {

/// The first parameter is a number: of elements, as nothing else in these interfaces takes a number first.
bool takesCount(const clang::FunctionDecl& function) {
  return function.getNumParams() > 0 && function.getParamDecl(0)->getType()->isIntegerType();
}

bool takesList(const clang::CXXConstructExpr& made) {
  return made.getNumArgs() > 0 &&
         llvm::isa<clang::CXXStdInitializerListExpr>(made.getArg(0)->IgnoreImplicit());
}

/// The number of elements that a constructor makes, as an expression for it or for a container of as many.
const clang::Expr* sourceOf(const clang::CXXConstructExpr& made) {
  const clang::CXXConstructorDecl& constructor = *made.getConstructor();
  if (made.getNumArgs() == 0 || made.getArg(0)->isDefaultArgument()) return nullptr;
  return constructor.isCopyConstructor() || takesCount(constructor) ? made.getArg(0) : nullptr;
}

const clang::Expr& stripped(const clang::Expr& given) {
  const clang::Expr* expr = given.IgnoreImplicit();
  while (const auto* cast = llvm::dyn_cast<clang::CXXFunctionalCastExpr>(expr))
    expr = cast->getSubExpr()->IgnoreImplicit();
  return *expr->IgnoreParens();
}

} // namespace

bool isCounted(const clang::QualType& type) {
  const auto* record = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(
      type.getNonReferenceType()->getAsCXXRecordDecl());
  if (!record || !record->getIdentifier()) return false;
  if (record->isInStdNamespace()) return record->getName() == "vector";
  const std::string name = record->getQualifiedNameAsString();
  return name == "thrust::host_vector" || name == "thrust::device_vector";
}

bool asksSize(const clang::CXXMemberCallExpr& call) {
  const clang::CXXMethodDecl* method = call.getMethodDecl();
  return method && method->getIdentifier() && method->getName() == "size" && call.getNumArgs() == 0 &&
         isCounted(call.getImplicitObjectArgument()->getType());
}

SizeEffect sizeEffect(const clang::CXXMemberCallExpr& call) {
  const clang::CXXMethodDecl* method = call.getMethodDecl();
  if (!method || !method->getIdentifier()) return {};
  if (method->isConst()) return {true, nullptr};
  const bool keeps = llvm::StringSwitch<bool>(method->getName())
                         .Cases("data", "begin", "end", "rbegin", "rend", true)
                         .Cases("at", "front", "back", "reserve", "shrink_to_fit", true)
                         .Default(false);
  if (keeps) return {true, nullptr};
  const bool sets = method->getName() == "resize" || method->getName() == "assign";
  return sets && takesCount(*method) ? SizeEffect{false, call.getArg(0)} : SizeEffect{};
}

std::optional<Number> Folder::elementsOf(const clang::Expr& given) {
  const clang::Expr& expr = stripped(given);
  if (expr.getType()->isIntegerType()) return number(expr); // of `resize(n)`
  if (!isCounted(expr.getType())) return std::nullopt;
  if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(&expr)) {
    const auto* variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
    return variable ? throughVariable(*variable, expr, &Folder::elements) : std::nullopt;
  }
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(&expr)) {
    if (const clang::FieldDecl* field = fieldOfThis(*member)) return fieldOfObject(*field, &Folder::elements);
    const auto slot = readSlotOf(*member);
    return slot ? fieldAt(*slot, expr, &Folder::elements) : std::nullopt;
  }
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(&expr))
    return throughHelper(*call, &Folder::elements);
  const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(&expr);
  if (!made) return std::nullopt;
  if (made->getConstructor()->isDefaultConstructor()) return ofInteger(0);
  if (takesList(*made)) {
    const auto* list = llvm::cast<clang::CXXStdInitializerListExpr>(made->getArg(0)->IgnoreImplicit());
    const auto* array = ast.getAsConstantArrayType(list->getSubExpr()->getType());
    return array ? std::optional(ofInteger(array->getSize().getSExtValue())) : std::nullopt;
  }
  const clang::Expr* source = sourceOf(*made);
  return source ? elements(*source) : std::nullopt;
}

/// Of a container that gets its elements where it is made.
std::optional<Formula> Folder::elementsFormula(const clang::Expr& container) {
  const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(&stripped(container));
  const auto* variable = reference ? llvm::dyn_cast<clang::VarDecl>(reference->getDecl()) : nullptr;
  if (!variable || !isCounted(variable->getType())) return std::nullopt;
  const clang::Expr* definition = values.definition(*variable);
  const auto* made = definition ? llvm::dyn_cast<clang::CXXConstructExpr>(&stripped(*definition)) : nullptr;
  const clang::Expr* source = made ? sourceOf(*made) : nullptr;
  if (!source) return std::nullopt;
  return source->getType()->isIntegerType() ? formula(*source) : elementsFormula(*source);
}

} // namespace kcheck::frontend
