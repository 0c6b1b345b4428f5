// Host compilation: syntax tree to facts, and on to an object in memory. CUDA's registration code is
// completed here: clang leaves it to a device linker that kcheck does not need.
#include "frontend/host_side.h"

#include "frontend/host_facts.h"
#include "frontend/host_learning.h"
#include "frontend/managed.h"
#include "frontend/nvcc_semantics.h"

#include <clang/AST/ASTContext.h>
#include <clang/CodeGen/BackendUtil.h>
#include <clang/CodeGen/ModuleBuilder.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/MultiplexConsumer.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

namespace kcheck::frontend {
namespace {

/// With relocatable device code clang calls `__cudaRegisterLinkedBinary_ID(registerGlobals, fatbin, id,
/// callback)`, which nvlink would write. The whole program is one device module here, so it is `void** h =
/// __cudaRegisterFatBinary(fatbin); registerGlobals(h); __cudaRegisterFatBinaryEnd(h);`.
void defineRegistration(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (!function.isDeclaration() || !function.getName().starts_with("__cudaRegisterLinkedBinary")) continue;
    llvm::LLVMContext& context = module.getContext();
    llvm::Type* pointer = llvm::PointerType::getUnqual(context);
    llvm::Type* nothing = llvm::Type::getVoidTy(context);
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", &function));
    llvm::Value* handle = builder.CreateCall(
        module.getOrInsertFunction("__cudaRegisterFatBinary", pointer, pointer), {function.getArg(1)});
    builder.CreateCall(llvm::FunctionType::get(nothing, {pointer}, false), function.getArg(0), {handle});
    builder.CreateCall(module.getOrInsertFunction("__cudaRegisterFatBinaryEnd", nothing, pointer), {handle});
    builder.CreateRetVoid();
    function.setLinkage(llvm::GlobalValue::InternalLinkage);
    function.setDSOLocal(true);
  }
}

/// Messages of the code generator (wrong inline assembly) join clang's own.
class BackendMessages : public llvm::DiagnosticHandler {
public:
  explicit BackendMessages(DiagnosticLog& log) : log(log) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error) return true;
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    log.rendered.push_back("error: " + text + "\n");
    log.plain.push_back(text);
    failed = true;
    return true;
  }
  bool failed = false;

private:
  DiagnosticLog& log;
};

class Facts : public clang::ASTConsumer {
public:
  Facts(clang::CompilerInstance& compiler, bool wholeProgram, HostSide& result)
      : compiler(compiler), wholeProgram(wholeProgram), result(result) {}
  void HandleTranslationUnit(clang::ASTContext& ast) override {
    if (!compiler.getDiagnostics().hasErrorOccurred()) collectHostFacts(ast, wholeProgram, result);
  }

private:
  clang::CompilerInstance& compiler;
  bool wholeProgram;
  HostSide& result;
};

class EmitObject : public clang::ASTConsumer {
public:
  EmitObject(clang::CodeGenerator& generator, clang::CompilerInstance& compiler, DiagnosticLog& log,
             llvm::LLVMContext& context, HostSide& result)
      : generator(generator), compiler(compiler), log(log), context(context), result(result) {}

  void HandleTranslationUnit(clang::ASTContext&) override {
    std::unique_ptr<llvm::Module> module(generator.ReleaseModule());
    if (!module || compiler.getDiagnostics().hasErrorOccurred()) return;
    defineRegistration(*module);
    lowerManagedVariables(*module);
    markWhereThreadsLearn(*module);
    auto messages = std::make_unique<BackendMessages>(log);
    BackendMessages& outcome = *messages;
    context.setDiagnosticHandler(std::move(messages));
    llvm::SmallString<0> bytes;
    clang::EmitBackendOutput(compiler.getDiagnostics(), compiler.getHeaderSearchOpts(),
                             compiler.getCodeGenOpts(), compiler.getTargetOpts(), compiler.getLangOpts(),
                             compiler.getTarget().getDataLayoutString(), module.get(), clang::Backend_EmitObj,
                             &compiler.getVirtualFileSystem(),
                             std::make_unique<llvm::raw_svector_ostream>(bytes));
    if (!outcome.failed) result.object = bytes.str().str();
  }

private:
  clang::CodeGenerator& generator;
  clang::CompilerInstance& compiler;
  DiagnosticLog& log;
  llvm::LLVMContext& context;
  HostSide& result;
};

void adjustForHost(clang::CompilerInvocation& invocation) {
  clang::CodeGenOptions& options = invocation.getCodeGenOpts();
  options.setDebugInfo(llvm::codegenoptions::DebugLineTablesOnly);
  options.DwarfVersion = 4;
  // Clang registers kernels only when there is device code to include; what it is does not matter.
  options.CudaGpuBinaryFileName = "/dev/null";
}

} // namespace

bool compileHost(const CompileJobs& jobs, HostWishes wishes, DiagnosticLog& log, HostSide& result) {
  llvm::LLVMContext context;
  const bool ok = runClang(jobs, jobs.host, log, adjustForHost, [&](clang::CompilerInstance& compiler) {
    result = {};
    std::vector<std::unique_ptr<clang::ASTConsumer>> consumers;
    consumers.push_back(makeNvccSemantics());
    consumers.push_back(std::make_unique<Facts>(compiler, wishes.wholeProgram, result));
    if (wishes.wantObject) {
      std::unique_ptr<clang::CodeGenerator> generator(
          clang::CreateLLVMCodeGen(compiler.getDiagnostics(), jobs.file, &compiler.getVirtualFileSystem(),
                                   compiler.getHeaderSearchOpts(), compiler.getPreprocessorOpts(),
                                   compiler.getCodeGenOpts(), context));
      auto emit = std::make_unique<EmitObject>(*generator, compiler, log, context, result);
      consumers.push_back(std::move(generator));
      consumers.push_back(std::move(emit));
    }
    return std::make_unique<clang::MultiplexConsumer>(std::move(consumers));
  });
  return ok && (!wishes.wantObject || !result.object.empty());
}

} // namespace kcheck::frontend
