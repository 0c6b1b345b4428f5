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
} // namespace clang

namespace kcheck::frontend {

using AdjustInvocation = std::function<void(clang::CompilerInvocation&)>;
using MakeConsumer = std::function<std::unique_ptr<clang::ASTConsumer>(clang::CompilerInstance&)>;

/// False when the source has errors, which are in `log` then. Survives a crash of clang, which it logs.
bool runClang(const CompileJobs& jobs, const Arguments& cc1, DiagnosticLog& log,
              const AdjustInvocation& adjust, const MakeConsumer& make);

} // namespace kcheck::frontend
