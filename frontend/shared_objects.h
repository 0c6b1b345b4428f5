// `__shared__ View tile;` where View has a constructor or destructor that does something: nvcc takes it, with
// a warning, and runs neither; to clang it is an error.
#pragma once

#include <memory>

namespace clang {
class ASTConsumer;
class CompilerInstance;
} // namespace clang

namespace kcheck::frontend {

/// To be run before all other consumers, without precompiled headers: clang looks away while it reads the
/// declarations of shared variables. Costs time, so only where there is such a variable.
std::unique_ptr<clang::ASTConsumer> makeSharedObjects(clang::CompilerInstance& compiler,
                                                      std::unique_ptr<clang::ASTConsumer> others);

} // namespace kcheck::frontend
