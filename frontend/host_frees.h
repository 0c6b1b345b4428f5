// Which calls of cudaFree surely come before a launch, each time that the host comes to it.
#pragma once

#include <map>
#include <vector>

namespace clang {
class ASTContext;
class CallExpr;
class FunctionDecl;
} // namespace clang

namespace kcheck::frontend {

/// Of each call in the function's body: the calls of cudaFree in it that have been made on every way there,
/// within the same pass of all loops around both. Empty for functions with labels.
std::map<const clang::CallExpr*, std::vector<const clang::CallExpr*>>
freesBeforeCalls(const clang::FunctionDecl& function);

} // namespace kcheck::frontend
