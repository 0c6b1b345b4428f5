// Inlines the small functions of system headers (atomicAdd, __ldg, the getters of threadIdx) into their
// callers before sites are numbered, so that an access made through one belongs to the line that calls it.
#pragma once

#include <functional>

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace kcheck::frontend {

void inlineWrappers(llvm::Module& module, const std::function<bool(const llvm::Function&)>& inSystemHeader);

} // namespace kcheck::frontend
