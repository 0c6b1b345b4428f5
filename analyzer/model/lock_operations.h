// The instructions that locks are taken and given back with.
#pragma once

#include <cstdint>
#include <optional>

namespace llvm {
class Instruction;
class Value;
} // namespace llvm

namespace kcheck::analyzer {

/// atomicExch or atomicCAS of constants, or an atomic or volatile store, which can but give back.
struct LockOperation {
  const llvm::Value* pointer = nullptr;
  std::optional<std::int64_t> expected; ///< of atomicCAS
  std::int64_t stored = 0;
  unsigned scope = 2; ///< as a fence's reach: 1 the block, 2 the device
};

std::optional<LockOperation> lockOperationOf(const llvm::Instruction& instruction);

/// The atomicAdd by which a number was drawn; null for any other value.
const llvm::Instruction* drawOf(const llvm::Value* number);
/// Where the instruction, an atomic or volatile one, leaves another number, of whoever's turn it is next:
/// `atomicAdd(&served, 1)`, `served = mine + 1`.
std::optional<LockOperation> servesAnother(const llvm::Instruction& instruction);

/// As `fenceReach`, of an atomic operation.
unsigned operationReach(const llvm::Instruction& atomic);

/// Whether both compute the same address from the same values.
bool isSameAddress(const llvm::Value* x, const llvm::Value* y, unsigned depth = 8);

/// The number where it is a constant of at most 64 bits.
std::optional<std::int64_t> constantOf(const llvm::Value* value);

} // namespace kcheck::analyzer
