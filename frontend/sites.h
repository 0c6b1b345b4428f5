// Numbers the memory instructions of a device module and says of each what the programmer wrote there.
#pragma once

#include "report/program.h"

#include <llvm/ADT/StringRef.h>

#include <functional>

namespace clang {
class ASTContext;
class FunctionDecl;
} // namespace clang

namespace llvm {
class Module;
}

namespace kcheck::frontend {

/// The declaration behind a mangled name; null for functions that clang made up.
using DeclLookup = std::function<const clang::FunctionDecl*(llvm::StringRef)>;

/// Hangs kSiteMetadata on every access of memory that threads may share or index: not on plain local scalars.
/// Copies of small objects become loads and stores first, a site for each side.
std::vector<Site> numberSites(llvm::Module& module, const clang::ASTContext& ast, const DeclLookup& lookup);

} // namespace kcheck::frontend
