// Loads through the read-only cache (`ld.global.nc`, __ldg): plain ones, but for what their own kernel
// writes.
#pragma once

#include <llvm/IR/Instructions.h>

namespace kcheck::ptx {

inline constexpr const char* kReadOnlyMetadata = "kcheck.readonly";

inline void markReadOnly(llvm::LoadInst& load) {
  load.setMetadata(kReadOnlyMetadata, llvm::MDNode::get(load.getContext(), {}));
}
inline bool isReadOnly(const llvm::LoadInst& load) { return load.getMetadata(kReadOnlyMetadata) != nullptr; }

} // namespace kcheck::ptx
