// The plumbing around clang::CompilerInstance: invocation, diagnostics, one frontend action.
#include "frontend/clang_job.h"

#include "frontend/driver_setup.h"
#include "frontend/precompiled.h"
#include "frontend/register_names.h"
#include "frontend/shared_objects.h"
#include "frontend/user_headers.h"
#include "frontend/user_macros.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <llvm/Support/CrashRecoveryContext.h>
#include <llvm/Support/MemoryBuffer.h>

#include <filesystem>

namespace kcheck::frontend {
namespace {

constexpr unsigned kStackBytes = 64u << 20; // deep template instantiations

class ConsumerAction : public clang::ASTFrontendAction {
public:
  ConsumerAction(const MakeConsumer& make, bool hasSharedObject)
      : make(make), hasSharedObject(hasSharedObject) {}

private:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                        llvm::StringRef) override {
    adaptUserHeaders(compiler);
    if (compiler.getLangOpts().CUDAIsDevice) setRegisterNamesAside(compiler.getPreprocessor());
    auto consumer = make(compiler);
    if (hasSharedObject) return makeSharedObjects(compiler, std::move(consumer));
    const bool isBehind = !compiler.getPreprocessorOpts().ImplicitPCHInclude.empty();
    return isBehind ? withoutPrecompiled(std::move(consumer)) : std::move(consumer);
  }
  const MakeConsumer& make;
  bool hasSharedObject;
};

/// On a thread of its own with a deep stack; false where clang crashes.
bool survives(llvm::function_ref<void()> work) {
  llvm::CrashRecoveryContext recovery;
  return recovery.RunSafelyOnThread(work, kStackBytes);
}

/// From the start, or from where the precompiled headers end.
bool compileOnThisThread(const CompileJobs& jobs, const Arguments& cc1, DiagnosticLog& log,
                         const AdjustInvocation& adjust, const MakeConsumer& make,
                         const std::string& precompiled, bool hasSharedObject = false) {
  auto invocation = invocationOf(jobs, cc1, log, adjust);
  if (!invocation) return false;
  if (precompiled.empty())
    setUserMacrosAside(invocation->getPreprocessorOpts(), kPrelude);
  else
    beginBehind(precompiled, *invocation);
  log.userText = jobs.userText;
  ConsumerAction action(make, hasSharedObject);
  return runAction(std::move(invocation), log, action);
}

} // namespace

std::shared_ptr<clang::CompilerInvocation> invocationOf(const CompileJobs& jobs, const Arguments& cc1,
                                                        DiagnosticLog& log, const AdjustInvocation& adjust) {
  std::vector<const char*> pointers;
  for (const std::string& argument : cc1) pointers.push_back(argument.c_str());
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  auto diagnostics = makeDiagnostics(log);
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, pointers, *diagnostics)) return nullptr;
  invocation->getDiagnosticOpts().IgnoreWarnings = true;
  invocation->getFrontendOpts().DisableFree = false;
  invocation->getPreprocessorOpts().addRemappedFile(
      jobs.file, llvm::MemoryBuffer::getMemBufferCopy(jobs.text, jobs.file).release());
  for (const auto& [header, text] : jobs.replaced)
    invocation->getPreprocessorOpts().addRemappedFile(
        header, llvm::MemoryBuffer::getMemBufferCopy(text, header).release());
  adjust(*invocation);
  return invocation;
}

bool runAction(std::shared_ptr<clang::CompilerInvocation> invocation, DiagnosticLog& log,
               clang::FrontendAction& action) {
  clang::CompilerInstance compiler;
  compiler.setInvocation(std::move(invocation));
  compiler.createDiagnostics(makeDiagnosticConsumer(log), /*ShouldOwnClient=*/true);
  compiler.getDiagnostics().setIgnoreAllWarnings(true);
  compiler.setVerboseOutputStream(llvm::nulls()); // it would count errors there
  return compiler.ExecuteAction(action) && !compiler.getDiagnostics().hasErrorOccurred();
}

bool runClang(const CompileJobs& jobs, const Arguments& cc1, DiagnosticLog& log,
              const AdjustInvocation& adjust, const MakeConsumer& make) {
  std::string precompiled;
  bool hasSharedObject = false;
  if (!survives([&] { precompiled = precompiledHeaders(jobs, cc1, adjust); })) precompiled.clear();
  if (!precompiled.empty()) {
    DiagnosticLog attempt;
    bool ok = false;
    if (survives([&] { ok = compileOnThisThread(jobs, cc1, attempt, adjust, make, precompiled); }) && ok) {
      log = std::move(attempt);
      return true;
    }
    hasSharedObject = attempt.hasSharedObject;
  }
  // Of what has errors clang speaks as if nothing were precompiled.
  bool ok = false;
  const auto compile = [&] { ok = compileOnThisThread(jobs, cc1, log, adjust, make, "", hasSharedObject); };
  bool survived = survives(compile);
  if (!ok && survived && log.hasSharedObject && !hasSharedObject) {
    hasSharedObject = true;
    log = {};
    survived = survives(compile);
  }
  if (!survived) {
    log.rendered.push_back("error: clang crashed\n");
    log.plain.push_back("clang crashed");
    return false;
  }
  std::error_code ignored;
  if (ok && !precompiled.empty() && !hasSharedObject)
    std::filesystem::remove(precompiled, ignored); // out of date, or broken
  return ok;
}

} // namespace kcheck::frontend
