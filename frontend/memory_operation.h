// What an instruction of a device module does to memory.
#pragma once

#include "report/location.h"

#include <cstdint>
#include <vector>

namespace llvm {
class Instruction;
class Value;
} // namespace llvm

namespace kcheck::frontend {

struct MemoryOperation {
  AccessKind kind = AccessKind::Read;
  const llvm::Value* address = nullptr; ///< null when an inline assembly hides it
  std::uint64_t bytes = 0;              ///< 0: not constant
};

/// Loads, stores, atomics, copies and fills, NVVM's own memory intrinsics, inline PTX that accesses memory. A
/// copy is two operations, the written side first.
std::vector<MemoryOperation> memoryOperations(const llvm::Instruction& instruction);

} // namespace kcheck::frontend
