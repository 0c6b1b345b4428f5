// The plumbing around clang::CompilerInstance: invocation, diagnostics, one frontend action.
#include "frontend/clang_job.h"

#include "frontend/driver_setup.h"
#include "frontend/user_headers.h"
#include "frontend/user_macros.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <llvm/Support/CrashRecoveryContext.h>
#include <llvm/Support/MemoryBuffer.h>

namespace kcheck::frontend {
namespace {

constexpr unsigned kStackBytes = 64u << 20; // deep template instantiations

class ConsumerAction : public clang::ASTFrontendAction {
public:
  explicit ConsumerAction(const MakeConsumer& make) : make(make) {}

private:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                        llvm::StringRef) override {
    adaptUserHeaders(compiler);
    return make(compiler);
  }
  const MakeConsumer& make;
};

bool compileOnThisThread(const CompileJobs& jobs, const Arguments& cc1, DiagnosticLog& log,
                         const AdjustInvocation& adjust, const MakeConsumer& make) {
  std::vector<const char*> pointers;
  for (const std::string& argument : cc1) pointers.push_back(argument.c_str());
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  auto diagnostics = makeDiagnostics(log);
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, pointers, *diagnostics)) return false;
  invocation->getDiagnosticOpts().IgnoreWarnings = true;
  invocation->getFrontendOpts().DisableFree = false;
  invocation->getPreprocessorOpts().addRemappedFile(
      jobs.file, llvm::MemoryBuffer::getMemBufferCopy(jobs.text, jobs.file).release());
  for (const auto& [header, text] : jobs.replaced)
    invocation->getPreprocessorOpts().addRemappedFile(
        header, llvm::MemoryBuffer::getMemBufferCopy(text, header).release());
  setUserMacrosAside(invocation->getPreprocessorOpts(), kPrelude);
  log.userText = jobs.userText;
  adjust(*invocation);

  clang::CompilerInstance compiler;
  compiler.setInvocation(invocation);
  compiler.createDiagnostics(makeDiagnosticConsumer(log), /*ShouldOwnClient=*/true);
  compiler.getDiagnostics().setIgnoreAllWarnings(true);
  compiler.setVerboseOutputStream(llvm::nulls()); // it would count errors there
  ConsumerAction action(make);
  return compiler.ExecuteAction(action) && !compiler.getDiagnostics().hasErrorOccurred();
}

} // namespace

bool runClang(const CompileJobs& jobs, const Arguments& cc1, DiagnosticLog& log,
              const AdjustInvocation& adjust, const MakeConsumer& make) {
  bool ok = false;
  llvm::CrashRecoveryContext recovery;
  const bool alive = recovery.RunSafelyOnThread(
      [&] { ok = compileOnThisThread(jobs, cc1, log, adjust, make); }, kStackBytes);
  if (!alive) {
    log.rendered.push_back("error: clang crashed\n");
    log.plain.push_back("clang crashed");
  }
  return alive && ok;
}

} // namespace kcheck::frontend
