// Second walk over host code: the buffers that it allocates and the launches that it does, with what
// HostValues can say of them.
#include "frontend/host_facts.h"

#include "frontend/host_side.h"
#include "frontend/host_values.h"
#include "frontend/pretty.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Mangle.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>
#include <llvm/ADT/StringSwitch.h>

namespace kcheck::frontend {
namespace {

class FactsVisitor : public clang::RecursiveASTVisitor<FactsVisitor> {
public:
  FactsVisitor(clang::ASTContext& ast, HostUses& uses, HostSide& result)
      : ast(ast), uses(uses), values(ast, uses), names(ast.createMangleContext()), result(result) {}

  bool shouldVisitTemplateInstantiations() const { return true; }

  bool TraverseDecl(clang::Decl* decl) {
    if (decl && !llvm::isa<clang::TranslationUnitDecl>(decl)) {
      if (ast.getSourceManager().isInSystemHeader(decl->getLocation())) return true;
      if (const auto* context = llvm::dyn_cast<clang::DeclContext>(decl);
          context && context->isDependentContext() && !llvm::isa<clang::TemplateDecl>(decl))
        return true;
    }
    return RecursiveASTVisitor::TraverseDecl(decl);
  }

  bool VisitFunctionDecl(clang::FunctionDecl* function) {
    if (function->isMain() && function->doesThisDeclarationHaveABody()) result.hasMain = true;
    return true;
  }

  bool VisitCallExpr(clang::CallExpr* call) {
    if (onlyAllocations) {
      if (auto allocation = allocationCall(*call)) addAllocation(*call, *allocation);
      return true;
    }
    if (const auto* launch = llvm::dyn_cast<clang::CUDAKernelCallExpr>(call))
      addLaunch(*launch);
    else
      addLaunchCall(*call);
    return true;
  }

  void run() {
    // Buffers come first, wherever they stand: a launch may use one that a function further down makes.
    onlyAllocations = true;
    TraverseDecl(ast.getTranslationUnitDecl());
    onlyAllocations = false;
    TraverseDecl(ast.getTranslationUnitDecl());
  }

private:
  void addAllocation(const clang::CallExpr& call, const AllocationCall& kind) {
    const clang::Expr& pointer = *call.getArg(kind.pointer)->IgnoreParenCasts();
    Allocation allocation;
    const auto* address = llvm::dyn_cast<clang::UnaryOperator>(&pointer);
    const bool isAddress = address && address->getOpcode() == clang::UO_AddrOf;
    allocation.name =
        isAddress ? textOf(*address->getSubExpr()->IgnoreParens(), ast) : "*" + textOf(pointer, ast);
    allocation.where = locate(call.getSourceRange(), ast);
    if (kind.size)
      if (const auto bytes = values.integer(*call.getArg(*kind.size)); bytes && *bytes >= 0)
        allocation.bytes = std::uint64_t(*bytes);
    uses.allocations[&call] = result.allocations.size();
    result.allocations.push_back(std::move(allocation));
  }

  std::string symbolOf(const clang::FunctionDecl& kernel) {
    std::string name;
    llvm::raw_string_ostream stream(name);
    const clang::GlobalDecl global(&kernel, clang::KernelReferenceKind::Kernel);
    if (names->shouldMangleDeclName(&kernel))
      names->mangleName(global, stream);
    else
      stream << kernel.getName();
    return name;
  }

  void addLaunch(const clang::CUDAKernelCallExpr& call) {
    const clang::FunctionDecl* kernel = kernelIn(*call.getCallee());
    if (!kernel) return;
    const clang::CallExpr& config = *call.getConfig();
    Launch launch;
    launch.kernel = symbolOf(*kernel);
    launch.where = locate(call.getSourceRange(), ast);
    if (config.getNumArgs() > 0) launch.grid = values.extent(*config.getArg(0));
    if (config.getNumArgs() > 1) launch.block = values.extent(*config.getArg(1));
    launch.sharedBytes =
        config.getNumArgs() > 2 ? bytesIn(*config.getArg(2)) : std::optional<std::uint64_t>(0);
    for (const clang::Expr* argument : call.arguments()) launch.arguments.push_back(describe(*argument));
    result.launches.push_back(std::move(launch));
  }

  /// cudaLaunchKernel and its relatives.
  void addLaunchCall(const clang::CallExpr& call) {
    const clang::FunctionDecl* callee = call.getDirectCallee();
    if (!callee || !callee->getIdentifier()) return;
    const llvm::StringRef name = callee->getName();
    if ((name == "cudaLaunchKernel" || name == "cudaLaunchCooperativeKernel") && call.getNumArgs() >= 4) {
      const clang::FunctionDecl* kernel = kernelIn(*call.getArg(0));
      if (!kernel) return;
      Launch launch;
      launch.kernel = symbolOf(*kernel);
      launch.where = locate(call.getSourceRange(), ast);
      launch.grid = values.extent(*call.getArg(1));
      launch.block = values.extent(*call.getArg(2));
      launch.sharedBytes = call.getNumArgs() > 4 ? bytesIn(*call.getArg(4)) : std::optional<std::uint64_t>(0);
      launch.arguments = describeArray(*call.getArg(3), kernel->getNumParams());
      result.launches.push_back(std::move(launch));
    } else if (name == "cudaLaunchKernelEx" && call.getNumArgs() >= 2) {
      const clang::FunctionDecl* kernel = kernelIn(*call.getArg(1));
      if (!kernel) return;
      Launch launch;
      launch.kernel = symbolOf(*kernel);
      launch.where = locate(call.getSourceRange(), ast);
      for (unsigned i = 2; i < call.getNumArgs(); ++i) launch.arguments.push_back(describe(*call.getArg(i)));
      result.launches.push_back(std::move(launch));
    }
  }

  const clang::FunctionDecl* kernelIn(const clang::Expr& expr) const {
    const clang::Expr* inner = expr.IgnoreParenCasts();
    if (const auto* subst = llvm::dyn_cast<clang::SubstNonTypeTemplateParmExpr>(inner))
      inner = subst->getReplacement()->IgnoreParenCasts();
    if (const auto* address = llvm::dyn_cast<clang::UnaryOperator>(inner))
      inner = address->getSubExpr()->IgnoreParenCasts();
    const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(inner);
    if (!reference) return nullptr;
    if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl())) {
      const clang::Expr* definition = values.definition(*variable);
      return definition ? kernelIn(*definition) : nullptr;
    }
    const auto* function = llvm::dyn_cast<clang::FunctionDecl>(reference->getDecl());
    return function && function->hasAttr<clang::CUDAGlobalAttr>() ? function : nullptr;
  }

  std::optional<std::uint64_t> bytesIn(const clang::Expr& expr) const {
    const auto value = values.integer(expr);
    if (!value || *value < 0) return std::nullopt;
    return std::uint64_t(*value);
  }

  Argument describe(const clang::Expr& expr) const {
    Argument argument;
    argument.text = textOf(expr, ast);
    if (expr.getType()->isPointerType()) {
      if (const auto pointer = values.pointer(expr)) {
        argument.allocation = pointer->allocation;
        argument.byteOffset = pointer->byteOffset;
      }
    } else {
      argument.value = values.integer(expr);
    }
    return argument;
  }

  /// `void* args[] = {&d, &n};`
  std::vector<Argument> describeArray(const clang::Expr& expr, unsigned count) const {
    std::vector<Argument> arguments(count);
    const auto* array = llvm::dyn_cast<clang::DeclRefExpr>(expr.IgnoreParenCasts());
    const auto* variable = array ? llvm::dyn_cast<clang::VarDecl>(array->getDecl()) : nullptr;
    const auto* list =
        variable && variable->getInit() ? llvm::dyn_cast<clang::InitListExpr>(variable->getInit()) : nullptr;
    if (!list || values.definition(*variable) != list) return arguments;
    for (unsigned i = 0; i < std::min(count, list->getNumInits()); ++i) {
      const auto* address = llvm::dyn_cast<clang::UnaryOperator>(list->getInit(i)->IgnoreParenCasts());
      if (address && address->getOpcode() == clang::UO_AddrOf)
        arguments[i] = describe(*address->getSubExpr()->IgnoreParens());
    }
    return arguments;
  }

  clang::ASTContext& ast;
  HostUses& uses;
  HostValues values;
  std::unique_ptr<clang::MangleContext> names;
  HostSide& result;
  bool onlyAllocations = false;
};

} // namespace

void collectHostFacts(clang::ASTContext& ast, bool wholeProgram, HostSide& result) {
  HostUses uses = gatherUses(ast, wholeProgram);
  FactsVisitor(ast, uses, result).run();
}

} // namespace kcheck::frontend
