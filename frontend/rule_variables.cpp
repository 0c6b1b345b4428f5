// wrong-space: host code that reads or writes a __device__ or __constant__ variable by its name. The name is
// a variable of the host's there, which stands for the device's in calls as cudaMemcpyToSymbol alone.
#include "frontend/host_rules.h"

#include "frontend/pretty.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/AST/StmtCXX.h>
#include <fmt/format.h>
#include <llvm/ADT/StringSwitch.h>

namespace kcheck::frontend {
namespace {

bool isManaged(const clang::VarDecl& variable) {
  const auto* annotation = variable.getAttr<clang::AnnotateAttr>();
  return variable.hasAttr<clang::HIPManagedAttr>() ||
         (annotation && annotation->getAnnotation() == "kcheck.managed");
}

/// Variables of the device that host code names; what is const has its value at compile time on both sides.
bool isDevices(const clang::VarDecl& variable) {
  return (variable.hasAttr<clang::CUDADeviceAttr>() || variable.hasAttr<clang::CUDAConstantAttr>()) &&
         !variable.isConstexpr() && !variable.getType().isConstant(variable.getASTContext()) &&
         !isManaged(variable);
}

bool isOfDevice(const clang::FunctionDecl& function) {
  return function.hasAttr<clang::CUDAGlobalAttr>() || function.hasAttr<clang::CUDADeviceAttr>();
}

/// Clang takes lambdas that say nothing for functions of both sides.
bool isOfDevice(const clang::LambdaExpr& lambda) {
  const auto* device = lambda.getCallOperator()->getAttr<clang::CUDADeviceAttr>();
  return device && !device->isImplicit();
}

/// The device variable that a place is in: `v` of `v`, `v.x`, `v[i][j].y` and `*(v + i)`, where v is no
/// pointer; null when there is none.
const clang::VarDecl* variableOf(const clang::Expr* place) {
  place = place->IgnoreParens();
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(place)) {
    const clang::CastKind kind = cast->getCastKind();
    const bool stays = kind == clang::CK_NoOp || kind == clang::CK_ArrayToPointerDecay ||
                       kind == clang::CK_UncheckedDerivedToBase || kind == clang::CK_DerivedToBase;
    return stays ? variableOf(cast->getSubExpr()) : nullptr;
  }
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(place))
    return llvm::isa<clang::FieldDecl>(member->getMemberDecl()) ? variableOf(member->getBase()) : nullptr;
  if (const auto* element = llvm::dyn_cast<clang::ArraySubscriptExpr>(place))
    return variableOf(element->getBase());
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(place))
    return unary->getOpcode() == clang::UO_Deref ? variableOf(unary->getSubExpr()) : nullptr;
  if (const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(place))
    return binary->isAdditiveOp() && binary->getType()->isPointerType() ? variableOf(binary->getLHS())
                                                                        : nullptr;
  const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(place);
  const auto* variable = reference ? llvm::dyn_cast<clang::VarDecl>(reference->getDecl()) : nullptr;
  const bool counts = variable && reference->isNonOdrUse() != clang::NOUR_Unevaluated && isDevices(*variable);
  return counts ? variable : nullptr;
}

enum class Use { Read, Write, Change };

class VariableVisitor : public clang::RecursiveASTVisitor<VariableVisitor> {
public:
  explicit VariableVisitor(const RuleContext& context) : context(context) {}
  bool shouldVisitTemplateInstantiations() const { return true; }
  bool TraverseDecl(clang::Decl* decl) {
    if (isPassedOver(decl, context.ast)) return true;
    const auto* function = llvm::dyn_cast_or_null<clang::FunctionDecl>(decl);
    const bool before = inHost;
    if (function) inHost = !isOfDevice(*function);
    const bool ok = RecursiveASTVisitor::TraverseDecl(decl);
    inHost = before;
    return ok;
  }
  bool TraverseLambdaExpr(clang::LambdaExpr* lambda) {
    const bool before = inHost;
    inHost = before && !isOfDevice(*lambda);
    const bool ok = RecursiveASTVisitor::TraverseLambdaExpr(lambda);
    inHost = before;
    return ok;
  }
  bool VisitImplicitCastExpr(clang::ImplicitCastExpr* cast) {
    return cast->getCastKind() != clang::CK_LValueToRValue || look(cast->getSubExpr(), Use::Read);
  }
  bool VisitBinaryOperator(clang::BinaryOperator* op) {
    return !op->isAssignmentOp() ||
           look(op->getLHS(), op->isCompoundAssignmentOp() ? Use::Change : Use::Write);
  }
  bool VisitUnaryOperator(clang::UnaryOperator* op) {
    return !op->isIncrementDecrementOp() || look(op->getSubExpr(), Use::Change);
  }
  bool VisitCXXOperatorCallExpr(clang::CXXOperatorCallExpr* call) {
    const bool plain = call->getOperator() == clang::OO_Equal;
    const bool changes = call->isAssignmentOp() || call->getOperator() == clang::OO_PlusPlus ||
                         call->getOperator() == clang::OO_MinusMinus;
    return !changes || look(call->getArg(0), plain ? Use::Write : Use::Change);
  }
  bool VisitCXXMemberCallExpr(clang::CXXMemberCallExpr* call) {
    const auto* record = call->getRecordDecl();
    if (llvm::isa_and_nonnull<clang::CXXConversionDecl>(call->getMethodDecl()))
      return look(call->getImplicitObjectArgument(), Use::Read);
    const bool atomic = record && record->getIdentifier() && record->getName() == "atomic";
    return !atomic || look(call->getImplicitObjectArgument(), isNamed(*call, "load")    ? Use::Read
                                                              : isNamed(*call, "store") ? Use::Write
                                                                                        : Use::Change);
  }
  bool VisitCXXConstructExpr(clang::CXXConstructExpr* made) {
    const bool copies = made->getConstructor()->isCopyOrMoveConstructor() && made->getNumArgs();
    return !copies || look(made->getArg(0), Use::Read);
  }
  bool VisitCXXForRangeStmt(clang::CXXForRangeStmt* loop) { return look(loop->getRangeInit(), Use::Read); }
  bool VisitCallExpr(clang::CallExpr* call) {
    const clang::FunctionDecl* callee = call->getDirectCallee();
    const bool copies = isNamed(*call, "memcpy") || isNamed(*call, "memmove");
    if (!callee || call->getNumArgs() != 3 || (!copies && !isNamed(*call, "memset"))) return true;
    look(withoutVoid(call->getArg(0)), Use::Write);
    return !copies || look(withoutVoid(call->getArg(1)), Use::Read);
  }

private:
  /// The array itself of an array that is passed as `void*`.
  static const clang::Expr* withoutVoid(const clang::Expr* argument) {
    const clang::Expr* inner = argument->IgnoreParenCasts();
    const bool address = llvm::isa<clang::UnaryOperator>(inner) &&
                         llvm::cast<clang::UnaryOperator>(inner)->getOpcode() == clang::UO_AddrOf;
    if (address) return llvm::cast<clang::UnaryOperator>(inner)->getSubExpr();
    return inner->getType()->isArrayType() ? inner : argument;
  }

  bool look(const clang::Expr* place, Use use) {
    const clang::VarDecl* variable = inHost && place ? variableOf(place) : nullptr;
    if (!variable) return true;
    Finding* finding = context.add("wrong-space", Severity::Error, *place);
    if (!finding) return true;
    const std::string name = variable->getNameAsString();
    const char* verb = use == Use::Read ? "reads" : use == Use::Write ? "writes" : "changes";
    finding->message = fmt::format(
        "`{}` is a variable of the device: this {} the host's own copy, which kernels never see", name, verb);
    const std::string from = fmt::format("cudaMemcpyFromSymbol(&value, {0}, sizeof({0}))", name);
    const std::string to = fmt::format("cudaMemcpyToSymbol({0}, &value, sizeof({0}))", name);
    finding->hint = use == Use::Read    ? from + " gets what the device has"
                    : use == Use::Write ? to + " gives it to the device"
                                        : from + " before, and cudaMemcpyToSymbol after";
    finding->notes.push_back(
        {locate(variable->getSourceRange(), context.ast), fmt::format("`{}` is declared here", name)});
    return true;
  }

  const RuleContext& context;
  bool inHost = false; ///< in a function that runs on the host only
};

} // namespace

void findDeviceVariables(const RuleContext& context) {
  VariableVisitor(context).TraverseDecl(context.ast.getTranslationUnitDecl());
}

} // namespace kcheck::frontend
