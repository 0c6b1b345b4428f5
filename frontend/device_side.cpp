// Device compilation: clang's code generation without its optimiser, then site numbering while the syntax
// tree is still there.
#include "frontend/device_side.h"

#include "frontend/cas_guesses.h"
#include "frontend/inline_wrappers.h"
#include "frontend/managed.h"
#include "frontend/nvcc_semantics.h"
#include "frontend/own_axes.h"
#include "frontend/pretty.h"
#include "frontend/register_names.h"
#include "frontend/shared_tables.h"
#include "frontend/sites.h"
#include "frontend/small_exchanges.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclCXX.h>
#include <clang/CodeGen/ModuleBuilder.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/MultiplexConsumer.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

namespace kcheck::frontend {

DeviceSide::DeviceSide() = default;
DeviceSide::~DeviceSide() = default;
DeviceSide::DeviceSide(DeviceSide&&) noexcept = default;
DeviceSide& DeviceSide::operator=(DeviceSide&&) noexcept = default;

namespace {

std::vector<Kernel> listKernels(const llvm::Module& module, clang::CodeGenerator& generator,
                                const clang::ASTContext& ast) {
  std::vector<Kernel> kernels;
  for (const llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    auto* decl =
        llvm::dyn_cast_or_null<clang::FunctionDecl>(generator.GetDeclForMangledName(function.getName()));
    if (decl && decl->hasAttr<clang::CUDAGlobalAttr>())
      kernels.push_back(describeKernel(*decl, function.getName().str(), ast));
  }
  return kernels;
}

/// Clang names a static variable by its file when it finds host code that uses it, which may be after the
/// device code that uses it was written with the plain name.
void joinRenamedStatics(llvm::Module& module) {
  std::vector<std::pair<llvm::GlobalValue*, llvm::GlobalValue*>> pairs;
  for (llvm::GlobalValue& renamed : module.global_values()) {
    const llvm::StringRef name = renamed.getName();
    const std::size_t mark = std::min(name.find("__static__"), name.find("__intern__"));
    if (renamed.isDeclaration() || mark == llvm::StringRef::npos) continue;
    llvm::GlobalValue* plain = module.getNamedValue(name.take_front(mark));
    if (plain && plain->isDeclaration() && plain->getType() == renamed.getType())
      pairs.push_back({plain, &renamed});
  }
  for (auto [plain, renamed] : pairs) {
    plain->replaceAllUsesWith(renamed);
    plain->eraseFromParent();
  }
}

class Finish : public clang::ASTConsumer {
public:
  Finish(clang::CodeGenerator& generator, clang::CompilerInstance& compiler, DeviceSide& result)
      : generator(generator), compiler(compiler), result(result) {}

  void HandleTranslationUnit(clang::ASTContext& ast) override {
    llvm::Module* module = generator.GetModule();
    if (!module || compiler.getDiagnostics().hasErrorOccurred()) return;
    const DeclLookup lookup = [&](llvm::StringRef name) {
      return llvm::dyn_cast_or_null<clang::FunctionDecl>(generator.GetDeclForMangledName(name));
    };
    joinRenamedStatics(*module);
    restoreRegisterNames(*module);
    replaceSmallExchanges(*module);
    markManagedVariables(*module);
    result.kernels = listKernels(*module, generator, ast);
    result.unused = unusedTemplates(ast);
    const auto inSystemHeader = [&](const llvm::Function& function) {
      const clang::FunctionDecl* decl = lookup(function.getName());
      return decl && ast.getSourceManager().isInSystemHeader(decl->getLocation()) &&
             !decl->hasAttr<clang::CUDAGlobalAttr>();
    };
    for (const Kernel& kernel : result.kernels)
      if (llvm::Function* function = module->getFunction(kernel.symbol))
        noteOwnAxes(*function, inSystemHeader);
    inlineWrappers(*module, inSystemHeader);
    writeOutSharedTables(*module);
    result.sites = numberSites(*module, ast, lookup);
    relaxGuesses(*module);
    result.module.reset(generator.ReleaseModule());
  }

private:
  clang::CodeGenerator& generator;
  clang::CompilerInstance& compiler;
  DeviceSide& result;
};

/// Optimisation level 1 without passes: at level 0 clang marks every function noinline and leaves out hints.
void adjustForDevice(clang::CompilerInvocation& invocation) {
  clang::CodeGenOptions& options = invocation.getCodeGenOpts();
  options.OptimizationLevel = 1;
  options.DisableLLVMPasses = true;
  options.DisableLifetimeMarkers = true;
  options.DiscardValueNames = false;
  options.setInlining(clang::CodeGenOptions::NormalInlining);
  options.setDebugInfo(llvm::codegenoptions::LimitedDebugInfo);
  options.DwarfVersion = 4;
  options.DebugColumnInfo = true;
}

} // namespace

bool compileDevice(const CompileJobs& jobs, DiagnosticLog& log, DeviceSide& result) {
  result.context = std::make_unique<llvm::LLVMContext>();
  const bool ok = runClang(jobs, jobs.device, log, adjustForDevice, [&](clang::CompilerInstance& compiler) {
    std::unique_ptr<clang::CodeGenerator> generator(
        clang::CreateLLVMCodeGen(compiler.getDiagnostics(), jobs.file, &compiler.getVirtualFileSystem(),
                                 compiler.getHeaderSearchOpts(), compiler.getPreprocessorOpts(),
                                 compiler.getCodeGenOpts(), *result.context));
    auto finish = std::make_unique<Finish>(*generator, compiler, result);
    std::vector<std::unique_ptr<clang::ASTConsumer>> consumers;
    consumers.push_back(makeNvccSemantics());
    consumers.push_back(std::move(generator));
    consumers.push_back(std::move(finish));
    return std::make_unique<clang::MultiplexConsumer>(std::move(consumers));
  });
  return ok && result.module;
}

} // namespace kcheck::frontend
