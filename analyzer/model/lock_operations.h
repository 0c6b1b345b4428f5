// The instructions that locks are taken and given back with.
#pragma once

#include <cstdint>
#include <optional>

namespace llvm {
class Instruction;
class Value;
} // namespace llvm

namespace kcheck::analyzer {

/// What an operation leaves where it found a number.
enum class LockChange : std::uint8_t { Store, Or, And, Add, Subtract, Xor };

/// atomicExch, atomicCAS or atomicOr of constants; or what can but give back: an atomic or volatile store,
/// and arithmetic with constants.
struct LockOperation {
  const llvm::Value* pointer = nullptr;
  std::optional<std::int64_t> expected; ///< of atomicCAS
  std::int64_t stored = 0;
  unsigned scope = 2; ///< as a fence's reach: 1 the block, 2 the device
  LockChange change = LockChange::Store;

  /// What is there then.
  std::int64_t leaves(std::int64_t found) const;
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
