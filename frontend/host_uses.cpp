#include "frontend/host_uses.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>
#include <llvm/ADT/StringSwitch.h>

namespace kcheck::frontend {

bool isNamed(const clang::CallExpr& call, llvm::StringRef name) {
  const clang::FunctionDecl* callee = call.getDirectCallee();
  return callee && callee->getIdentifier() && callee->getName() == name;
}

namespace {

std::optional<AllocationCall> ownAllocationCall(const clang::CallExpr& call) {
  const clang::FunctionDecl* callee = call.getDirectCallee();
  if (!callee || !callee->getIdentifier()) return std::nullopt;
  const int size = llvm::StringSwitch<int>(callee->getName())
                       .Cases("cudaMalloc", "cudaMallocManaged", "cudaMallocHost", "cudaHostAlloc", 1)
                       .Cases("cudaMallocAsync", "cudaMallocFromPoolAsync", 1)
                       .Case("cudaMallocPitch", 0) // the pitch is the driver's choice
                       .Default(-1);
  if (size < 0 || call.getNumArgs() < 2) return std::nullopt;
  if (size == 0) return AllocationCall{0, std::nullopt, nullptr};
  return AllocationCall{0, unsigned(size), nullptr};
}

/// Calls in a body that allocate through one of the function's own parameters.
class HelperVisitor : public clang::RecursiveASTVisitor<HelperVisitor> {
public:
  explicit HelperVisitor(const clang::FunctionDecl& function) : function(function) {}
  bool VisitCallExpr(clang::CallExpr* call) {
    auto allocation = ownAllocationCall(*call);
    if (!allocation) return true;
    const clang::Expr* pointer = call->getArg(allocation->pointer)->IgnoreParenCasts();
    if (const auto* address = llvm::dyn_cast<clang::UnaryOperator>(pointer);
        address && address->getOpcode() == clang::UO_AddrOf)
      pointer = address->getSubExpr()->IgnoreParens(); // `&p` of a `T*& p`
    const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(pointer);
    const auto* parameter = reference ? llvm::dyn_cast<clang::ParmVarDecl>(reference->getDecl()) : nullptr;
    const bool own = parameter && parameter->getDeclContext() == &function;
    const bool handed = own && (pointer == call->getArg(allocation->pointer)->IgnoreParenCasts()
                                    ? parameter->getType()->isPointerType()
                                    : parameter->getType()->isReferenceType());
    if (!handed) return true;
    ++found;
    result = {parameter->getFunctionScopeIndex(), std::nullopt, call};
    return true;
  }
  unsigned found = 0;
  AllocationCall result;

private:
  const clang::FunctionDecl& function;
};

class ReturnVisitor : public clang::RecursiveASTVisitor<ReturnVisitor> {
public:
  bool TraverseLambdaExpr(clang::LambdaExpr*) { return true; }
  bool VisitReturnStmt(clang::ReturnStmt* statement) {
    ++found;
    value = statement->getRetValue();
    return true;
  }
  unsigned found = 0;
  const clang::Expr* value = nullptr;
};

} // namespace

std::optional<AllocationCall> allocationCall(const clang::CallExpr& call) {
  if (auto own = ownAllocationCall(call)) return own;
  const clang::FunctionDecl* callee = call.getDirectCallee();
  const clang::FunctionDecl* definition = callee ? callee->getDefinition() : nullptr;
  if (!definition || !definition->getBody() || definition->getNumParams() == 0) return std::nullopt;
  const auto& sources = definition->getASTContext().getSourceManager();
  if (sources.isInSystemHeader(definition->getLocation())) return std::nullopt;
  HelperVisitor visitor(*definition);
  visitor.TraverseStmt(definition->getBody());
  if (visitor.found != 1 || visitor.result.pointer >= call.getNumArgs()) return std::nullopt;
  return visitor.result;
}

const clang::Expr& handedOn(const clang::Expr& given) {
  const clang::Expr* expr = given.IgnoreParens();
  for (;;) {
    const auto* call = llvm::dyn_cast<clang::CallExpr>(expr);
    const bool hands =
        call && call->getNumArgs() == 1 && (isNamed(*call, "forward") || isNamed(*call, "move"));
    if (!hands || !call->getDirectCallee()->isInStdNamespace()) return *expr;
    expr = call->getArg(0)->IgnoreParens();
  }
}

const clang::Expr& copiedFrom(const clang::Expr& given) {
  const clang::Expr* expr = given.IgnoreParenImpCasts();
  for (;;) {
    const clang::Expr* inner = nullptr;
    if (const auto* full = llvm::dyn_cast<clang::FullExpr>(expr)) inner = full->getSubExpr();
    if (const auto* made = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(expr)) inner = made->getSubExpr();
    if (const auto* bound = llvm::dyn_cast<clang::CXXBindTemporaryExpr>(expr)) inner = bound->getSubExpr();
    if (const auto* cast = llvm::dyn_cast<clang::CXXFunctionalCastExpr>(expr)) inner = cast->getSubExpr();
    if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(expr);
        made && made->getNumArgs() == 1 && made->getConstructor()->isCopyOrMoveConstructor())
      inner = made->getArg(0);
    if (!inner) return *expr;
    expr = inner->IgnoreParenImpCasts();
  }
}

const clang::Expr* onlyReturn(const clang::FunctionDecl& function) {
  const clang::FunctionDecl* definition = nullptr;
  if (!function.hasBody(definition)) return nullptr;
  ReturnVisitor visitor;
  visitor.TraverseStmt(definition->getBody());
  return visitor.found == 1 ? visitor.value : nullptr;
}

bool hasReturn(const clang::Stmt& statement) {
  ReturnVisitor visitor;
  visitor.TraverseStmt(const_cast<clang::Stmt*>(&statement));
  return visitor.found != 0;
}

/// Whether it holds what is stored there, and nothing else: a bit-field may be too narrow, members of a union
/// share a place, a reference is another name for one.
static bool isWhole(const clang::FieldDecl& field) {
  return !field.isBitField() && !field.getParent()->isUnion() && !field.getType()->isReferenceType();
}

std::optional<Slot> slotOf(const clang::Expr& lvalue) {
  auto slot = readSlotOf(lvalue);
  return slot && slot->root->getType()->isReferenceType() ? std::nullopt : slot;
}

std::optional<Slot> readSlotOf(const clang::Expr& lvalue) {
  Slot slot;
  const clang::Expr* expr = lvalue.IgnoreParenImpCasts();
  while (const auto* member = llvm::dyn_cast<clang::MemberExpr>(expr)) {
    const auto* field = llvm::dyn_cast<clang::FieldDecl>(member->getMemberDecl());
    if (member->isArrow() || !field || !isWhole(*field)) return std::nullopt;
    slot.path.insert(slot.path.begin(), field->getCanonicalDecl());
    expr = member->getBase()->IgnoreParenImpCasts();
  }
  const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(expr);
  const auto* variable = reference ? llvm::dyn_cast<clang::VarDecl>(reference->getDecl()) : nullptr;
  if (!variable || (variable->getType()->isReferenceType() && !llvm::isa<clang::ParmVarDecl>(variable)))
    return std::nullopt;
  slot.root = variable->getCanonicalDecl();
  return slot;
}

bool isTemporary(const clang::Expr& init) {
  const auto* full = llvm::dyn_cast<clang::FullExpr>(&init);
  return llvm::isa<clang::MaterializeTemporaryExpr>(full ? full->getSubExpr() : &init);
}

std::optional<Slot> addressedSlot(const clang::Expr& expr) {
  const auto* address = llvm::dyn_cast<clang::UnaryOperator>(expr.IgnoreParenCasts());
  if (!address || address->getOpcode() != clang::UO_AddrOf) return std::nullopt;
  return slotOf(*address->getSubExpr());
}

const clang::FieldDecl* fieldOfThis(const clang::Expr& lvalue) {
  const auto* member = llvm::dyn_cast<clang::MemberExpr>(lvalue.IgnoreParenImpCasts());
  if (!member || !llvm::isa<clang::CXXThisExpr>(member->getBase()->IgnoreParenImpCasts())) return nullptr;
  const auto* field = llvm::dyn_cast<clang::FieldDecl>(member->getMemberDecl());
  return field && isWhole(*field) ? field->getCanonicalDecl() : nullptr;
}

} // namespace kcheck::frontend
