// Tables of shared arrays (`float* half[2] = {x, y};`): clang makes a constant of the pointers and copies it.
// Every block has a shared memory of its own, so that the pointers are no constants of the module.
#pragma once

namespace llvm {
class Module;
} // namespace llvm

namespace kcheck::frontend {

/// Writes the pointers one by one where such a constant was copied or used.
void writeOutSharedTables(llvm::Module& module);

} // namespace kcheck::frontend
