// Second walk over host code: the buffers that it allocates and the launches that it does, with what
// HostValues can say of them.
#include "frontend/host_facts.h"

#include "frontend/host_arguments.h"
#include "frontend/host_conditions.h"
#include "frontend/host_frees.h"
#include "frontend/host_overlaps.h"
#include "frontend/host_rules.h"
#include "frontend/host_side.h"
#include "frontend/host_values.h"
#include "frontend/pretty.h"
#include "report/formulas.h"
#include "report/launch_rules.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Mangle.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>
#include <tuple>

namespace kcheck::frontend {
namespace {

class FactsVisitor : public clang::RecursiveASTVisitor<FactsVisitor> {
public:
  FactsVisitor(clang::ASTContext& ast, const HostUses& uses, HostSide& result)
      : ast(ast), uses(uses), buffers(result.allocations), values(ast, uses, buffers),
        arguments(ast, values, buffers), overlaps(ast, uses, values), conditions(ast, uses, values, buffers),
        names(ast.createMangleContext()), result(result) {}

  bool shouldVisitTemplateInstantiations() const { return true; }

  bool TraverseDecl(clang::Decl* decl) {
    if (decl && !llvm::isa<clang::TranslationUnitDecl>(decl)) {
      if (ast.getSourceManager().isInSystemHeader(decl->getLocation())) return true;
      if (const auto* context = llvm::dyn_cast<clang::DeclContext>(decl);
          context && context->isDependentContext() && !llvm::isa<clang::TemplateDecl>(decl))
        return true;
    }
    const auto* function = llvm::dyn_cast_or_null<clang::FunctionDecl>(decl);
    const bool outside = isDeviceCode;
    if (function) isDeviceCode = !runsOnHost(*function);
    if (function && !isDeviceCode && !onlyAllocations && function->doesThisDeclarationHaveABody())
      frees.merge(freesBeforeCalls(*function));
    const bool result = RecursiveASTVisitor::TraverseDecl(decl);
    isDeviceCode = outside;
    return result;
  }
  bool TraverseUnaryExprOrTypeTraitExpr(clang::UnaryExprOrTypeTraitExpr*) { return true; } // not evaluated

  bool VisitFunctionDecl(clang::FunctionDecl* function) {
    if (function->isMain() && function->doesThisDeclarationHaveABody()) result.hasMain = true;
    return true;
  }

  bool VisitCallExpr(clang::CallExpr* call) {
    if (onlyAllocations) {
      if (auto allocation = allocationCall(*call); allocation && !allocation->inHelper) values.buffer(*call);
      return true;
    }
    if ((isNamed(*call, "cudaMemcpyFromSymbol") || isNamed(*call, "cudaMemcpyFromSymbolAsync")) &&
        call->getNumArgs() > 1)
      readBack.insert(call->getArg(1)->IgnoreParenCasts());
    if (const auto* launch = llvm::dyn_cast<clang::CUDAKernelCallExpr>(call))
      addLaunch(*launch);
    else
      addLaunchCall(*call);
    return true;
  }

  bool VisitDeclRefExpr(clang::DeclRefExpr* reference) {
    const clang::ValueDecl& named = *reference->getDecl();
    const bool isOfDevice =
        named.hasAttr<clang::CUDAConstantAttr>() || named.hasAttr<clang::CUDADeviceAttr>();
    if (!onlyAllocations && !isDeviceCode && isOfDevice && llvm::isa<clang::VarDecl>(named) &&
        !readBack.contains(reference))
      result.hostVariables.insert(named.getName().str());
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
  static bool runsOnHost(const clang::FunctionDecl& function) {
    return function.hasAttr<clang::CUDAHostAttr>() ||
           !(function.hasAttr<clang::CUDADeviceAttr>() || function.hasAttr<clang::CUDAGlobalAttr>());
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

  /// What a launch is made of that does not fold.
  using Hidden = std::vector<const clang::Expr*>;

  void addLaunch(const clang::CUDAKernelCallExpr& call) {
    const clang::CallExpr& config = *call.getConfig();
    addWays(call, *call.getCallee(),
            [&](Launch& launch, const clang::FunctionDecl&, const ScopePointer& scope, Hidden& hidden) {
              setShape(config, 0, launch, scope, hidden);
              launch.sharedBytes = config.getNumArgs() > 2 ? bytesIn(*config.getArg(2), scope)
                                                           : std::optional<std::uint64_t>(0);
              const auto passed = expressionsOf(call, 0);
              launch.arguments = arguments.describe(passed, scope);
              for (std::size_t i = 0; i < passed.size(); ++i)
                if (!launch.arguments[i].value && !passed[i]->getType()->isPointerType())
                  hidden.push_back(passed[i]);
              addOverlaps(call, launch, scope);
            });
  }

  /// The grid and the block, which stand at `first` and behind.
  void setShape(const clang::CallExpr& call, unsigned first, Launch& launch, const ScopePointer& scope,
                Hidden& hidden) {
    const auto set = [&](unsigned number, Extent& extent, std::array<std::optional<Formula>, 3>& formulas) {
      if (call.getNumArgs() <= number) return;
      const clang::Expr& given = *call.getArg(number);
      extent = values.extent(given, scope);
      if (extent.whole()) return;
      formulas = values.extentFormulas(given, scope);
      std::optional<std::uint32_t>* axes[] = {&extent.x, &extent.y, &extent.z};
      for (unsigned axis = 0; axis < 3; ++axis) // of several ways all may agree
        if (!*axes[axis] && formulas[axis] && formulas[axis]->op == Formula::Op::Constant &&
            formulas[axis]->constant > 0)
          *axes[axis] = std::uint32_t(formulas[axis]->constant);
      hidden.push_back(&given);
    };
    set(first, launch.grid, launch.gridFormulas);
    set(first + 1, launch.block, launch.blockFormulas);
  }

  /// Pairs of pointers of which not both lead to a buffer that is known.
  void addOverlaps(const clang::CallExpr& call, Launch& launch, const ScopePointer& scope) {
    for (std::size_t j = 0; j < launch.arguments.size(); ++j)
      for (std::size_t i = 0; i < j; ++i) {
        const clang::Expr &first = *call.getArg(unsigned(i)), &second = *call.getArg(unsigned(j));
        if (!first.getType()->isPointerType() || !second.getType()->isPointerType()) continue;
        if (launch.arguments[i].allocation && launch.arguments[j].allocation) continue;
        const Meeting meeting = overlaps.meet(first, second, call, scope);
        if (meeting != Meeting::Never) launch.mayBeOne.push_back({i, j, meeting == Meeting::AtOnePlace});
      }
  }

  /// cudaLaunchKernel and its relatives.
  void addLaunchCall(const clang::CallExpr& call) {
    if ((isNamed(call, "cudaLaunchKernel") || isNamed(call, "cudaLaunchCooperativeKernel")) &&
        call.getNumArgs() >= 4) {
      addWays(
          call, *call.getArg(0),
          [&](Launch& launch, const clang::FunctionDecl& kernel, const ScopePointer& scope, Hidden& hidden) {
            setShape(call, 1, launch, scope, hidden);
            launch.sharedBytes =
                call.getNumArgs() > 4 ? bytesIn(*call.getArg(4), scope) : std::optional<std::uint64_t>(0);
            launch.arguments = arguments.describeArray(*call.getArg(3), kernel.getNumParams(), scope);
          });
    } else if (isNamed(call, "cudaLaunchKernelEx") && call.getNumArgs() >= 2) {
      addWays(call, *call.getArg(1),
              [&](Launch& launch, const clang::FunctionDecl&, const ScopePointer& scope, Hidden& hidden) {
                addConfiguration(call, launch, scope);
                hidden = expressionsOf(call, 2);
                launch.arguments = arguments.describe(hidden, scope);
                hidden.push_back(call.getArg(0));
              });
    }
  }

  /// `config.gridDim = ...` of the structure that cudaLaunchKernelEx gets.
  void addConfiguration(const clang::CallExpr& call, Launch& launch, const ScopePointer& scope) {
    const auto config = addressedSlot(*call.getArg(0));
    const auto* type = config ? config->root->getType()->getAsCXXRecordDecl() : nullptr;
    if (!type || !config->path.empty() || !type->getDefinition()) return;
    for (const clang::FieldDecl* field : type->getDefinition()->fields()) {
      const Slot slot{config->root, {field->getCanonicalDecl()}};
      if (field->getName() == "gridDim") {
        launch.grid = values.extentField(slot, call, scope);
        if (!launch.grid.whole()) launch.gridFormulas = values.fieldFormulas(slot, call, scope);
      }
      if (field->getName() == "blockDim") {
        launch.block = values.extentField(slot, call, scope);
        if (!launch.block.whole()) launch.blockFormulas = values.fieldFormulas(slot, call, scope);
      }
      if (field->getName() == "dynamicSmemBytes")
        if (const auto bytes = values.integerField(slot, call, scope); bytes && *bytes >= 0)
          launch.sharedBytes = std::uint64_t(*bytes);
    }
  }

  template <typename Fill>
  Launch launchOn(const clang::CallExpr& call, const clang::FunctionDecl& kernel, const ScopePointer& scope,
                  Fill fill) {
    Launch launch;
    launch.kernel = symbolOf(kernel);
    launch.where = locate(call.getSourceRange(), ast);
    Hidden hidden;
    fill(launch, kernel, scope, hidden);
    conditions.add(call, scope, hidden, result.allocations, launch);
    addFrees(call, launch, scope);
    return launch;
  }

  /// The launch as it is however one comes to it, or else one launch for each way that is known. `callee`:
  /// the kernel, or what the functions around are handed for it.
  template <typename Fill> void addWays(const clang::CallExpr& call, const clang::Expr& callee, Fill fill) {
    const clang::FunctionDecl* kernel = kernelIn(callee, nullptr);
    std::optional<Launch> any;
    if (kernel) any = launchOn(call, *kernel, nullptr, fill);
    const bool isWhole = any && isComplete(*any, *kernel);
    const auto ways = isWhole ? std::nullopt : kernel ? values.scopesAt(call) : values.scopesInSightOf(call);
    if (!ways) {
      if (any) result.launches.push_back(std::move(*any));
      return;
    }
    std::vector<Launch> made;
    for (const ScopePointer& way : *ways) {
      const clang::FunctionDecl* launched = kernelIn(callee, way);
      if (launched) addUnlike(launchOn(call, *launched, way, fill), made);
    }
    constexpr std::size_t kMostTold = 16; // of those that pass no buffer twice
    if (any && made.size() > kMostTold) {
      std::erase_if(made, [](const Launch& launch) { return !passesTwice(launch); });
      result.launches.push_back(std::move(*any));
    }
    for (Launch& launch : made) result.launches.push_back(std::move(launch));
  }

  /// Of one that some way leads to whatever its conditions are, no doubt is left.
  static void addUnlike(Launch launch, std::vector<Launch>& made) {
    const auto same =
        std::ranges::find_if(made, [&](const Launch& other) { return sameLaunch(launch, other); });
    if (same == made.end())
      made.push_back(std::move(launch));
    else if (!launch.unfollowed.known())
      same->unfollowed = {};
  }

  /// Buffers that have surely been freed on every way to the launch, and not made again: their allocation
  /// stands in the same function, in front of the call that frees them.
  void addFrees(const clang::CallExpr& call, Launch& launch, const ScopePointer& scope) {
    const auto found = frees.find(&call);
    if (found == frees.end()) return;
    for (const clang::CallExpr* free : found->second) {
      const auto freed = values.pointer(*free->getArg(0), scope);
      if (!freed || freed->byteOffset != 0) continue;
      const Location where = locate(free->getSourceRange(), ast);
      const Location& made = result.allocations[freed->allocation].where;
      const auto around = uses.around.find(free);
      const auto* function = around == uses.around.end() ? nullptr : around->second.function;
      const auto* definition = function ? function->getDefinition() : nullptr;
      if (!definition) continue;
      const Location from = locate(definition->getBody()->getSourceRange(), ast);
      if (made.file != where.file || isBefore(made, from) || !isBefore(made, where)) continue;
      for (Argument& argument : launch.arguments)
        if (argument.allocation == freed->allocation) argument.freed = where;
    }
  }

  static bool isBefore(const Location& a, const Location& b) {
    return std::tie(a.line, a.column) < std::tie(b.line, b.column);
  }

  bool isComplete(const Launch& launch, const clang::FunctionDecl& kernel) const {
    if (!launch.grid.whole() || !launch.block.whole() || !launch.sharedBytes) return false;
    return arguments.isComplete(launch.arguments, kernel);
  }

  static bool passesTwice(const Launch& launch) {
    std::set<std::size_t> led;
    return std::ranges::any_of(launch.arguments, [&](const Argument& argument) {
      return argument.allocation && !led.insert(*argument.allocation).second;
    });
  }

  static bool sameLaunch(const Launch& a, const Launch& b) {
    const auto same = [](const Argument& x, const Argument& y) {
      return x.value == y.value && x.allocation == y.allocation && x.byteOffset == y.byteOffset &&
             x.passed == y.passed;
    };
    return a.kernel == b.kernel && a.grid == b.grid && a.block == b.block && a.sharedBytes == b.sharedBytes &&
           a.mayBeOne == b.mayBeOne && std::ranges::equal(a.arguments, b.arguments, same) &&
           sameFormulas(a, b);
  }

  const clang::FunctionDecl* kernelIn(const clang::Expr& expr, const ScopePointer& scope) const {
    const clang::Expr* inner = handedOn(*expr.IgnoreParenCasts()).IgnoreParenCasts();
    if (const auto* subst = llvm::dyn_cast<clang::SubstNonTypeTemplateParmExpr>(inner))
      inner = subst->getReplacement()->IgnoreParenCasts();
    if (const auto* address = llvm::dyn_cast<clang::UnaryOperator>(inner))
      inner = address->getSubExpr()->IgnoreParenCasts();
    const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(inner);
    if (!reference) return nullptr;
    if (const auto* parameter = llvm::dyn_cast<clang::ParmVarDecl>(reference->getDecl())) {
      for (ScopePointer s = scope; s; s = s->outer)
        if (const auto entry = s->arguments.find(parameter); entry != s->arguments.end())
          return kernelIn(*entry->second, s->outer);
      return nullptr;
    }
    if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl())) {
      const clang::Expr* definition = values.definition(*variable);
      return definition ? kernelIn(*definition, scope) : nullptr;
    }
    const auto* function = llvm::dyn_cast<clang::FunctionDecl>(reference->getDecl());
    return function && function->hasAttr<clang::CUDAGlobalAttr>() ? function : nullptr;
  }

  static std::vector<const clang::Expr*> expressionsOf(const clang::CallExpr& call, unsigned first) {
    std::vector<const clang::Expr*> expressions;
    for (unsigned i = first; i < call.getNumArgs(); ++i) expressions.push_back(call.getArg(i));
    return expressions;
  }

  std::optional<std::uint64_t> bytesIn(const clang::Expr& expr, const ScopePointer& scope) const {
    const auto value = values.integer(expr, scope);
    if (!value || *value < 0) return std::nullopt;
    return std::uint64_t(*value);
  }

  clang::ASTContext& ast;
  const HostUses& uses;
  Buffers buffers;
  HostValues values;
  HostArguments arguments;
  HostOverlaps overlaps;
  HostConditions conditions;
  std::unique_ptr<clang::MangleContext> names;
  HostSide& result;
  std::set<const clang::Expr*> readBack;
  std::map<const clang::CallExpr*, std::vector<const clang::CallExpr*>> frees; ///< before other calls
  bool onlyAllocations = false, isDeviceCode = false;
};

/// Launches that cannot start, in a program that never asks for launch errors.
void findUncheckedLaunches(const HostUses& uses, HostSide& result) {
  for (const auto& [call, around] : uses.around)
    if (isNamed(*call, "cudaGetLastError") || isNamed(*call, "cudaPeekAtLastError")) return;
  for (const Launch& launch : result.launches) {
    if (whyInvalid(launch).empty()) continue;
    Finding finding;
    finding.rule = "unchecked-error";
    finding.severity = Severity::Warning;
    finding.verdict = Verdict::Proved;
    finding.where = launch.where;
    finding.message = "this launch fails, and the program never asks for the error";
    finding.hint = "check cudaGetLastError() after the launch";
    result.findings.push_back(std::move(finding));
  }
}

} // namespace

void collectHostFacts(clang::ASTContext& ast, bool wholeProgram, HostSide& result) {
  const HostUses uses = gatherUses(ast, wholeProgram);
  FactsVisitor(ast, uses, result).run();
  std::vector<Allocation> unused;
  Buffers buffers(unused);
  result.ignoredCalls = ignoredCalls(ast);
  result.findings = applyHostRules(ast, uses, HostValues(ast, uses, buffers));
  if (wholeProgram) findUncheckedLaunches(uses, result);
}

} // namespace kcheck::frontend
