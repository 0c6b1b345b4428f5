// First walk over host code: how variables and functions are used. A variable that is only read after its
// definition keeps its value; so does a pointer that only one allocation call fills.
#include "frontend/host_values.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>
#include <llvm/ADT/StringSwitch.h>

namespace kcheck::frontend {

std::optional<AllocationCall> allocationCall(const clang::CallExpr& call) {
  const clang::FunctionDecl* callee = call.getDirectCallee();
  if (!callee || !callee->getIdentifier()) return std::nullopt;
  const int size = llvm::StringSwitch<int>(callee->getName())
                       .Cases("cudaMalloc", "cudaMallocManaged", "cudaMallocHost", "cudaHostAlloc", 1)
                       .Cases("cudaMallocAsync", "cudaMallocFromPoolAsync", 1)
                       .Case("cudaMallocPitch", 0) // the pitch is the driver's choice
                       .Default(-1);
  if (size < 0 || call.getNumArgs() < 2) return std::nullopt;
  return size == 0 ? AllocationCall{0, std::nullopt} : AllocationCall{0, unsigned(size)};
}

const clang::VarDecl* addressedVariable(const clang::Expr& expr) {
  const auto* address = llvm::dyn_cast<clang::UnaryOperator>(expr.IgnoreParenCasts());
  if (!address || address->getOpcode() != clang::UO_AddrOf) return nullptr;
  const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(address->getSubExpr()->IgnoreParens());
  return reference ? llvm::dyn_cast<clang::VarDecl>(reference->getDecl()) : nullptr;
}

namespace {

bool isLaunchCall(const clang::CallExpr& call) {
  const clang::FunctionDecl* callee = call.getDirectCallee();
  if (!callee || !callee->getIdentifier()) return false;
  return callee->getName() == "cudaLaunchKernel" || callee->getName() == "cudaLaunchCooperativeKernel";
}

const clang::DeclRefExpr* referenceIn(const clang::Expr* expr) {
  expr = expr->IgnoreParens();
  while (const auto* member = llvm::dyn_cast<clang::MemberExpr>(expr)) {
    if (member->isArrow()) return nullptr;
    expr = member->getBase()->IgnoreParens();
  }
  return llvm::dyn_cast<clang::DeclRefExpr>(expr);
}

class UsesVisitor : public clang::RecursiveASTVisitor<UsesVisitor> {
public:
  UsesVisitor(const clang::ASTContext& ast, HostUses& uses) : sources(ast.getSourceManager()), uses(uses) {}

  bool shouldVisitTemplateInstantiations() const { return true; }

  bool TraverseDecl(clang::Decl* decl) {
    if (decl && !llvm::isa<clang::TranslationUnitDecl>(decl)) {
      if (sources.isInSystemHeader(decl->getLocation())) return true;
      if (const auto* context = llvm::dyn_cast<clang::DeclContext>(decl);
          context && context->isDependentContext() && !llvm::isa<clang::TemplateDecl>(decl))
        return true;
    }
    return RecursiveASTVisitor::TraverseDecl(decl);
  }
  bool TraverseUnaryExprOrTypeTraitExpr(clang::UnaryExprOrTypeTraitExpr*) { return true; } // not evaluated
  bool TraverseDecltypeTypeLoc(clang::DecltypeTypeLoc) { return true; }

  // Parents come before children: what a parent knows of a reference is not asked again.
  bool VisitImplicitCastExpr(clang::ImplicitCastExpr* cast) {
    const bool reads = cast->getCastKind() == clang::CK_LValueToRValue ||
                       (cast->getCastKind() == clang::CK_NoOp && cast->getType().isConstQualified());
    if (reads) settle(referenceIn(cast->getSubExpr()));
    return true;
  }
  bool VisitLambdaExpr(clang::LambdaExpr* lambda) { // its body is visited as well
    for (clang::Expr* init : lambda->capture_inits())
      if (init) settle(referenceIn(init->IgnoreParenImpCasts()));
    return true;
  }
  bool VisitBinaryOperator(clang::BinaryOperator* op) {
    if (op->getOpcode() != clang::BO_Assign) return true;
    if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(op->getLHS()->IgnoreParens())) {
      if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl())) {
        settle(reference);
        uses.variables[variable->getCanonicalDecl()].assigned.push_back(op->getRHS());
      }
    }
    return true;
  }
  bool VisitCallExpr(clang::CallExpr* call) {
    if (clang::FunctionDecl* callee = call->getDirectCallee()) {
      uses.functions[callee->getCanonicalDecl()].calls.push_back(call);
      if (const auto* reference =
              llvm::dyn_cast<clang::DeclRefExpr>(call->getCallee()->IgnoreParenImpCasts()))
        called.insert(reference);
    }
    if (auto allocation = allocationCall(*call)) {
      const clang::Expr& pointer = *call->getArg(allocation->pointer);
      if (const clang::VarDecl* variable = addressedVariable(pointer)) {
        settleAddress(pointer);
        uses.variables[variable->getCanonicalDecl()].allocatedBy.push_back(call);
      }
    }
    if (isLaunchCall(*call) && call->getNumArgs() > 3) settleArguments(*call->getArg(3));
    return true;
  }
  bool VisitDeclRefExpr(clang::DeclRefExpr* reference) {
    if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl())) {
      if (!settled.contains(reference)) ++uses.variables[variable->getCanonicalDecl()].others;
    } else if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(reference->getDecl())) {
      if (!called.contains(reference)) uses.functions[function->getCanonicalDecl()].escapes = true;
    }
    return true;
  }

private:
  void settle(const clang::DeclRefExpr* reference) {
    if (reference) settled.insert(reference);
  }
  void settleAddress(const clang::Expr& expr) {
    const auto& address = llvm::cast<clang::UnaryOperator>(*expr.IgnoreParenCasts());
    settle(llvm::cast<clang::DeclRefExpr>(address.getSubExpr()->IgnoreParens()));
  }
  /// `void* args[] = {&n, &d}` of a launch call: the launch only reads them.
  void settleArguments(const clang::Expr& expr) {
    const auto* array = llvm::dyn_cast<clang::DeclRefExpr>(expr.IgnoreParenCasts());
    const auto* variable = array ? llvm::dyn_cast<clang::VarDecl>(array->getDecl()) : nullptr;
    const auto* list =
        variable && variable->getInit() ? llvm::dyn_cast<clang::InitListExpr>(variable->getInit()) : nullptr;
    if (!list) return;
    settle(array);
    for (const clang::Expr* element : list->inits())
      if (const clang::VarDecl* passed = addressedVariable(*element))
        if (auto entry = uses.variables.find(passed->getCanonicalDecl()); entry != uses.variables.end())
          entry->second.others -= entry->second.others > 0; // counted when the declaration was visited
  }

  const clang::SourceManager& sources;
  HostUses& uses;
  std::set<const clang::DeclRefExpr*> settled, called;
};

} // namespace

HostUses gatherUses(const clang::ASTContext& ast, bool wholeProgram) {
  HostUses uses;
  uses.wholeProgram = wholeProgram;
  UsesVisitor(ast, uses).TraverseDecl(ast.getTranslationUnitDecl());
  return uses;
}

} // namespace kcheck::frontend
