// The headers that are read before every CUDA file know names such as N; nvcc reads fewer of them first. A
// macro of the command line (-DN=64) is set aside until the user's own text begins.
#pragma once

#include <clang/Lex/PreprocessorOptions.h>

#include <string>

namespace kcheck::frontend {

/// Reserved names, and those that the toolkit's headers ask about.
bool configuresHeaders(llvm::StringRef macro);

/// `lastOwn`: the last of the files that kcheck includes before the user's text; where it is not among the
/// included ones, nothing changes. Macros that configure headers stay.
void setUserMacrosAside(clang::PreprocessorOptions& options, const std::string& lastOwn);

} // namespace kcheck::frontend
