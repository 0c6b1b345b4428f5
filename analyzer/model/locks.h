// Locks that a kernel takes and gives back: where a thread surely holds one, and how far the fences around
// what it does there reach.
#pragma once

#include "analyzer/kernel_model.h"

#include <optional>
#include <set>
#include <unordered_map>

namespace llvm {
class Function;
class Instruction;
class Value;
} // namespace llvm

namespace kcheck::analyzer {

/// A lock that is held while an instruction runs. Threads within `scope` of each other that hold the same one
/// are ordered: one has fenced and given it back before the other took it and fenced.
struct HeldLock {
  const llvm::Value* pointer = nullptr;
  AtomicScope scope = AtomicScope::None;
};

/// What is stored in a lock that is free (where a test for it says so) and in one that is taken.
struct LockValues {
  std::optional<std::int64_t> free;
  std::int64_t taken = 0;
  friend auto operator<=>(const LockValues&, const LockValues&) = default;
};

/// The critical sections of a kernel. A lock is taken by atomicCAS(p, free, taken) or atomicExch(p, taken)
/// where the result says that it was free, and given back by atomicExch(p, free) of a thread that surely
/// holds it. That nothing else is ever written to the lock's memory is for the caller to see to, by
/// `valuesOf`.
class CriticalSections {
public:
  explicit CriticalSections(const llvm::Function& kernel);

  const std::vector<HeldLock>& heldAt(const llvm::Instruction& instruction) const;
  /// How many locks are held there, those included whose fences do not reach.
  std::size_t countAt(const llvm::Instruction& instruction) const;
  bool givesBack(const llvm::Instruction& instruction) const { return releases.count(&instruction) != 0; }
  /// Of an instruction that takes a lock, or gives back one that is surely held; nothing of others.
  std::optional<LockValues> valuesOf(const llvm::Instruction& instruction) const;

private:
  friend class LockFinder;
  std::unordered_map<const llvm::Instruction*, std::vector<HeldLock>> held;
  std::unordered_map<const llvm::Instruction*, LockValues> operations;
  std::unordered_map<const llvm::Instruction*, std::size_t> counts;
  std::set<const llvm::Instruction*> releases;
};

} // namespace kcheck::analyzer
