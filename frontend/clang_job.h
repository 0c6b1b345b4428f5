// Runs one -cc1 compilation in this process with a consumer of ours.
#pragma once

#include "frontend/diagnostics.h"
#include "frontend/driver_setup.h"

#include <functional>
#include <memory>

namespace clang {
class ASTConsumer;
class CompilerInstance;
class CompilerInvocation;
class FrontendAction;
} // namespace clang

namespace kcheck::frontend {

using AdjustInvocation = std::function<void(clang::CompilerInvocation&)>;
using MakeConsumer = std::function<std::unique_ptr<clang::ASTConsumer>(clang::CompilerInstance&)>;

/// The compilation of the file's text, or null where clang does not take the arguments.
std::shared_ptr<clang::CompilerInvocation> invocationOf(const CompileJobs& jobs, const Arguments& cc1,
                                                        DiagnosticLog& log, const AdjustInvocation& adjust);

/// Whether it went without errors.
bool runAction(std::shared_ptr<clang::CompilerInvocation> invocation, DiagnosticLog& log,
               clang::FrontendAction& action);

/// False when the source has errors, which are in `log` then. Survives a crash of clang, which it logs.
bool runClang(const CompileJobs& jobs, const Arguments& cc1, DiagnosticLog& log,
              const AdjustInvocation& adjust, const MakeConsumer& make);

} // namespace kcheck::frontend
