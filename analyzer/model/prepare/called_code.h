// What the kernels call: the functions that they reach, those that call themselves, and those that pointers
// may lead to.
#pragma once

#include <set>
#include <vector>

namespace llvm {
class Function;
class Module;
class Value;
} // namespace llvm

namespace kcheck::analyzer {

/// What the kernels reach; through pointers, every function whose address the program takes.
std::set<const llvm::Value*> reachableFrom(const std::vector<const llvm::Function*>& kernels,
                                           const std::set<const llvm::Function*>& taken);

std::set<const llvm::Function*> recursiveFunctions(llvm::Module& module);

/// Calls through pointers become comparisons against every function of the type whose address is taken. What
/// is called then is one of them: the module is the whole program.
bool promoteIndirectCalls(llvm::Module& module, const std::set<const llvm::Function*>& taken);

} // namespace kcheck::analyzer
