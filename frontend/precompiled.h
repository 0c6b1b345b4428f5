// The headers that come before every CUDA file, parsed once: kept as precompiled headers in the user's cache
// folder, one for each set of options.
#pragma once

#include "frontend/clang_job.h"

namespace kcheck::frontend {

/// Where they lie; made when they are wanted for the second time. Empty where there are none (yet), or cannot
/// be: no folder to keep them in, headers that do not compile. `KCHECK_CACHE` names another folder;
/// `KCHECK_CACHE=none` keeps nothing.
std::string precompiledHeaders(const CompileJobs& jobs, const Arguments& cc1, const AdjustInvocation& adjust);

/// Lets a compilation begin where the precompiled headers end.
void beginBehind(const std::string& precompiled, clang::CompilerInvocation& invocation);

/// `consumer`, whose visitors of the whole file see nothing of what came precompiled.
std::unique_ptr<clang::ASTConsumer> withoutPrecompiled(std::unique_ptr<clang::ASTConsumer> consumer);

} // namespace kcheck::frontend
