// Locks that a kernel takes and gives back: where a thread surely holds one, and how far the fences around
// what it does there reach.
#pragma once

#include "analyzer/kernel_model.h"
#include "analyzer/model/one_thread.h"

#include <optional>
#include <set>
#include <unordered_map>

namespace llvm {
class DominatorTree;
class Function;
class Instruction;
class LoopInfo;
class Value;
} // namespace llvm

namespace kcheck::analyzer {

class Broadcasts;

/// A lock that is held while an instruction runs, by the thread or for its block.
struct HeldLock {
  const llvm::Value* pointer = nullptr;
  const llvm::Instruction* by = nullptr; ///< what takes it
  LockOrder taken, givenBack;
  const llvm::Value* turn = nullptr;   ///< the number by which it is this thread's turn
  std::optional<ThreadPlace> takenFor; ///< the thread that has taken it for the block
  /// That it is one of these when the kernel starts is for the caller to assume.
  std::optional<std::pair<std::int64_t, std::int64_t>> startsAs;
};

/// What is stored in a lock that is free (where a test for it says so) and in one that is taken.
struct LockValues {
  std::optional<std::int64_t> free;
  std::int64_t taken = 0;
  const llvm::Value* turn = nullptr; ///< the number that the thread waits to be served by
  bool isFreeElse = false;           ///< the thread goes on with whatever it finds but `taken`
  friend auto operator<=>(const LockValues&, const LockValues&) = default;
};

/// The critical sections of a kernel. A lock is taken by atomicCAS(p, free, taken) or atomicExch(p, taken)
/// where the result says that it was free, and given back by atomicExch(p, free) of a thread that surely
/// holds it, or by an atomic store. Or it is taken by waiting until a number is served that the thread has
/// drawn or computed, and given back by serving another one; that nobody else waits for the same is for the
/// caller to see to. One thread may do so for its block (block_locks.h). That nothing else is ever written to
/// the lock's memory is for the caller to see to, by `valuesOf`.
class CriticalSections {
public:
  /// `ones`, where it is known yet who comes where alone.
  CriticalSections(const llvm::Function& kernel, const llvm::DominatorTree& dominators,
                   const llvm::LoopInfo& loops, const Broadcasts& broadcasts, const OneThreads& ones);

  const std::vector<HeldLock>& heldAt(const llvm::Instruction& instruction) const;
  /// How many locks are held there, those included whose fences do not reach.
  std::size_t countAt(const llvm::Instruction& instruction) const;
  bool empty() const { return operations.empty(); }
  bool givesBack(const llvm::Instruction& instruction) const { return releases.count(&instruction) != 0; }
  /// Of an instruction that takes a lock, or gives back one that is surely held; nothing of others.
  std::optional<LockValues> valuesOf(const llvm::Instruction& instruction) const;
  /// Whether it draws numbers by which a lock is taken.
  bool isDraw(const llvm::Instruction& instruction) const { return draws.count(&instruction) != 0; }

private:
  friend class LockFinder;
  std::unordered_map<const llvm::Instruction*, std::vector<HeldLock>> held;
  std::unordered_map<const llvm::Instruction*, LockValues> operations;
  std::unordered_map<const llvm::Instruction*, std::size_t> counts;
  std::set<const llvm::Instruction*> releases, draws;
};

} // namespace kcheck::analyzer
