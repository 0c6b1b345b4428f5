#include "frontend/host_steps.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>
#include <llvm/ADT/StringSwitch.h>

#include <algorithm>

namespace kcheck::frontend {
namespace {

constexpr unsigned kDeepestHelper = 4;

bool isClock(const clang::FunctionDecl& callee) {
  const llvm::StringRef name = callee.getName();
  if (name == "now") {
    const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&callee);
    return method && method->isStatic() && method->getParent()->getName().ends_with("_clock");
  }
  return llvm::StringSwitch<bool>(name)
      .Cases("clock", "gettimeofday", "clock_gettime", "omp_get_wtime", "MPI_Wtime", true)
      .Cases("QueryPerformanceCounter", "__rdtsc", true)
      .Default(false);
}

bool isLibraryOfKernels(const clang::FunctionDecl& callee) {
  for (const clang::DeclContext* context = callee.getDeclContext(); context; context = context->getParent())
    if (const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(context))
      if (space->getName() == "thrust" || space->getName() == "cub") return true;
  return false;
}

/// Functions of NVIDIA's libraries that start work on the device, and those that wait for it: for a result in
/// host memory, or because they free memory. What cuRAND generates may be the host's own work.
std::optional<StepKind> kindOfLibraryCall(llvm::StringRef name) {
  const bool isBlas = name.starts_with("cublas");
  if (name.starts_with("cufftExec") || (isBlas && (name.contains("gemm") || name.contains("Gemm"))))
    return StepKind::Launch;
  if (!isBlas && !name.starts_with("cufft") && !name.starts_with("curand")) return std::nullopt;
  const bool waits = name.contains("Destroy") || name.contains("dot") || name.contains("nrm2") ||
                     name.contains("asum") || name.contains("amax") || name.contains("amin");
  return waits ? std::optional(StepKind::Wait) : std::nullopt;
}

std::optional<StepKind> kindOf(const clang::CallExpr& call, const clang::ASTContext& ast) {
  if (llvm::isa<clang::CUDAKernelCallExpr>(call)) return StepKind::Launch;
  const clang::FunctionDecl* callee = call.getDirectCallee();
  if (!callee || !callee->getIdentifier()) return std::nullopt;
  if (isClock(*callee)) return StepKind::Clock;
  if (isLibraryOfKernels(*callee)) return StepKind::Wait;
  const bool isHeaders = ast.getSourceManager().isInSystemHeader(callee->getLocation());
  if (const auto kind = isHeaders ? kindOfLibraryCall(callee->getName()) : std::nullopt) return kind;
  const llvm::StringRef name = callee->getName();
  if (name.starts_with("cudaMemcpy")) {
    const bool isPlain = name == "cudaMemcpy" || name == "cudaMemcpyAsync";
    clang::Expr::EvalResult direction;
    if (isPlain && call.getNumArgs() > 3 && call.getArg(3)->EvaluateAsInt(direction, ast)) {
      if (direction.Val.getInt() == 1) return StepKind::CopyToDevice;
      if (direction.Val.getInt() == 2) return StepKind::CopyToHost;
    }
    if (name.contains("Async")) return std::nullopt;
    return StepKind::Wait;
  }
  if (!name.starts_with("cuda")) {
    const bool elsewhere = !callee->hasBody() && !callee->getBuiltinID() && !isHeaders;
    return elsewhere ? std::optional(StepKind::Wait) : std::nullopt; // may do anything
  }
  return llvm::StringSwitch<std::optional<StepKind>>(name)
      .Cases("cudaLaunchKernel", "cudaLaunchCooperativeKernel", "cudaLaunchKernelEx", "cudaLaunchKernelExC",
             "cudaGraphLaunch", StepKind::Launch)
      .Cases("cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize",
             "cudaThreadSynchronize", StepKind::Wait)
      .Cases("cudaStreamQuery", "cudaEventQuery", "cudaFree", "cudaDeviceReset", "cudaMemset", StepKind::Wait)
      .Case("cudaSetDevice", StepKind::SetDevice)
      .Cases("cudaEventRecord", "cudaEventRecordWithFlags", StepKind::RecordEvent)
      .Case("cudaEventElapsedTime", StepKind::ElapsedTime)
      .Default(std::nullopt);
}

/// Walks one body in the order of its text.
class StepVisitor : public clang::RecursiveASTVisitor<StepVisitor> {
  using Base = clang::RecursiveASTVisitor<StepVisitor>;

public:
  StepVisitor(const clang::ASTContext& ast, HostFunction& function, unsigned depth)
      : ast(ast), function(function), depth(depth) {}

  bool shouldTraversePostOrder() const { return true; } // arguments before their call

  bool TraverseCompoundStmt(clang::CompoundStmt* block) {
    return inside(block, !block->getBeginLoc().isMacroID(),
                  [&] { return Base::TraverseCompoundStmt(block); });
  }
  bool TraverseIfStmt(clang::IfStmt* branch) {
    if (branch->getInit() && !TraverseStmt(branch->getInit())) return false;
    if (!TraverseStmt(branch->getCond())) return false;
    const bool own = !branch->getBeginLoc().isMacroID();
    bool ok = inside(branch->getThen(), own, [&] { return TraverseStmt(branch->getThen()); });
    if (branch->getElse())
      ok = ok && inside(branch->getElse(), own, [&] { return TraverseStmt(branch->getElse()); });
    return ok;
  }
  bool TraverseForStmt(clang::ForStmt* loop) {
    return inside(loop, true, [&] { return Base::TraverseForStmt(loop); });
  }
  bool TraverseWhileStmt(clang::WhileStmt* loop) {
    return inside(loop, true, [&] { return Base::TraverseWhileStmt(loop); });
  }
  bool TraverseCUDAKernelCallExpr(clang::CUDAKernelCallExpr* call) {
    const bool ok = Base::TraverseCUDAKernelCallExpr(call);
    add(*call);
    return ok;
  }
  bool VisitCallExpr(clang::CallExpr* call) {
    if (!llvm::isa<clang::CUDAKernelCallExpr>(call)) add(*call);
    return true;
  }
  bool VisitVarDecl(clang::VarDecl* variable) {
    const bool leads = variable->getType()->isPointerType() || variable->getType()->isReferenceType();
    if (leads && variable->getInit() && depth == 0)
      if (const clang::VarDecl* from = bufferVariable(*variable->getInit()))
        function.aliases[variable->getCanonicalDecl()] = from;
    return true;
  }
  bool TraverseCXXMemberCallExpr(clang::CXXMemberCallExpr* call) {
    const clang::CXXMethodDecl* method = call->getMethodDecl();
    const llvm::StringRef name = method && method->getIdentifier() ? method->getName() : "";
    if (name != "size" && name != "empty" && name != "length") return Base::TraverseCXXMemberCallExpr(call);
    return true;
  }
  bool TraverseUnaryExprOrTypeTraitExpr(clang::UnaryExprOrTypeTraitExpr*) { return true; } // not evaluated
  bool VisitDeclRefExpr(clang::DeclRefExpr* reference) {
    if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl()); variable && depth == 0)
      function.touches.push_back({variable->getCanonicalDecl(), reference->getLocation()});
    return true;
  }

  const clang::CallExpr* outermost = nullptr; ///< the call that led into the helper

private:
  template <typename Walk> bool inside(const clang::Stmt* statement, bool counts, Walk walk) {
    if (counts) blocks.push_back(statement);
    const bool ok = walk();
    if (counts) blocks.pop_back();
    return ok;
  }
  void add(const clang::CallExpr& call) {
    const clang::CallExpr* shown = outermost ? outermost : &call;
    if (const auto kind = kindOf(call, ast)) {
      Step step{*kind, shown, &call, blocks, false, nullptr, nullptr};
      if (*kind == StepKind::CopyToHost || *kind == StepKind::CopyToDevice) {
        step.isAsync = isNamed(call, "cudaMemcpyAsync");
        const bool toHost = *kind == StepKind::CopyToHost;
        step.host = call.getArg(toHost ? 0 : 1);
        step.device = call.getArg(toHost ? 1 : 0);
      }
      function.steps.push_back(std::move(step));
      return;
    }
    const clang::FunctionDecl* callee = call.getDirectCallee();
    const clang::FunctionDecl* definition = callee ? callee->getDefinition() : nullptr;
    if (!definition || !definition->getBody() || depth == kDeepestHelper ||
        ast.getSourceManager().isInSystemHeader(definition->getLocation()) ||
        definition->hasAttr<clang::CUDAGlobalAttr>())
      return;
    StepVisitor helper(ast, function, depth + 1);
    helper.outermost = shown;
    helper.blocks = blocks;
    helper.TraverseStmt(definition->getBody());
  }

  const clang::ASTContext& ast;
  HostFunction& function;
  unsigned depth;
  std::vector<const clang::Stmt*> blocks;
};

class FunctionVisitor : public clang::RecursiveASTVisitor<FunctionVisitor> {
public:
  FunctionVisitor(const clang::ASTContext& ast, std::vector<HostFunction>& all) : ast(ast), all(all) {}
  bool shouldVisitTemplateInstantiations() const { return true; }
  bool TraverseDecl(clang::Decl* decl) {
    return isPassedOver(decl, ast) || RecursiveASTVisitor::TraverseDecl(decl);
  }
  bool VisitFunctionDecl(clang::FunctionDecl* function) {
    const bool device =
        (function->hasAttr<clang::CUDADeviceAttr>() && !function->hasAttr<clang::CUDAHostAttr>()) ||
        function->hasAttr<clang::CUDAGlobalAttr>();
    if (device || !function->doesThisDeclarationHaveABody()) return true;
    HostFunction& made = all.emplace_back();
    made.declaration = function;
    StepVisitor(ast, made, 0).TraverseStmt(function->getBody());
    return true;
  }

private:
  const clang::ASTContext& ast;
  std::vector<HostFunction>& all;
};

} // namespace

const clang::VarDecl* bufferVariable(const clang::Expr& given) {
  const clang::Expr* expr = given.IgnoreParenCasts();
  if (const auto* full = llvm::dyn_cast<clang::FullExpr>(expr)) return bufferVariable(*full->getSubExpr());
  if (const auto* call = llvm::dyn_cast<clang::CXXMemberCallExpr>(expr))
    return bufferVariable(*call->getImplicitObjectArgument());
  if (const auto* call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(expr))
    return call->getNumArgs() ? bufferVariable(*call->getArg(0)) : nullptr;
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(expr))
    return bufferVariable(*unary->getSubExpr());
  if (const auto* element = llvm::dyn_cast<clang::ArraySubscriptExpr>(expr))
    return bufferVariable(*element->getBase());
  if (const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(expr); binary && binary->isAdditiveOp()) {
    const bool left = binary->getLHS()->getType()->isPointerType();
    return bufferVariable(left ? *binary->getLHS() : *binary->getRHS());
  }
  const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(expr);
  const auto* variable = reference ? llvm::dyn_cast<clang::VarDecl>(reference->getDecl()) : nullptr;
  return variable ? variable->getCanonicalDecl() : nullptr;
}

bool isPassedOver(const clang::Decl* decl, const clang::ASTContext& ast) {
  if (!decl || llvm::isa<clang::TranslationUnitDecl>(decl)) return false;
  if (ast.getSourceManager().isInSystemHeader(decl->getLocation())) return true;
  const auto* context = llvm::dyn_cast<clang::DeclContext>(decl);
  return context && context->isDependentContext() && !llvm::isa<clang::TemplateDecl>(decl);
}

std::vector<HostFunction> hostFunctions(const clang::ASTContext& ast) {
  std::vector<HostFunction> all;
  FunctionVisitor(ast, all).TraverseDecl(ast.getTranslationUnitDecl());
  return all;
}

} // namespace kcheck::frontend
