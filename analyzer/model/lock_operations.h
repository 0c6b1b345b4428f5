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

/// In place of the number of a thread or block by which it marks a lock as its own.
inline constexpr std::int64_t kOwnNumber = INT64_MIN + 1;

/// atomicExch, atomicCAS or atomicOr of constants, or atomicCAS of a number of the thread's own that is
/// surely not what is expected; or what can but give back: an atomic or volatile store, and arithmetic with
/// constants.
struct LockOperation {
  const llvm::Value* pointer = nullptr;
  std::optional<std::int64_t> expected; ///< of atomicCAS
  std::int64_t stored = 0;
  unsigned scope = 2; ///< as a fence's reach: 1 the block, 2 the device
  LockChange change = LockChange::Store;
  const llvm::Value* own = nullptr; ///< what is stored where `stored` is kOwnNumber

  /// What is there then.
  std::int64_t leaves(std::int64_t found) const;
};

std::optional<LockOperation> lockOperationOf(const llvm::Instruction& instruction);

/// Where the instruction, a compare-and-swap, frees a lock by finding what the taking has stored there: what
/// it does. Nobody else stores to a lock that is held.
std::optional<LockOperation> givesBackOwn(const llvm::Instruction& instruction, const LockOperation& taking);

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
