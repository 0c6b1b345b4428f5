// Which addresses are those of plain local variables: scalars and small objects that never leave their
// function and are never indexed, and so live in registers on a GPU.
#pragma once

#include <llvm/ADT/DenseMap.h>

namespace llvm {
class Value;
}

namespace kcheck::frontend {

class PrivateMemory {
public:
  bool operator()(const llvm::Value* address);

private:
  llvm::DenseMap<const llvm::Value*, bool> known; ///< allocas and by-value parameters
};

} // namespace kcheck::frontend
