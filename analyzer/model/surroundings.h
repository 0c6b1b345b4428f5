// What control flow says of the accesses around one instruction by which a thread tells others how far it has
// come, or sees how far another has: which lie before it or behind it with a fence between.
#pragma once

#include <cstdint>
#include <set>

namespace llvm {
class BasicBlock;
class Instruction;
} // namespace llvm

namespace kcheck::analyzer {

/// What an instruction is to a signal that its own block gives, as far as control flow says.
enum class SignalSide : std::uint8_t {
  None,
  Unclear,  ///< a fence stands before the signal; whether it is for this one is not followed
  InThread, ///< before it, past a fence, where the same thread does both
  InBlock,  ///< before it for every thread of the block: a barrier and a fence are between
  /// The same, but the fence is that of the thread itself, and the barrier comes after it. PTX orders that
  /// where the reader has a fence behind the signal too: of all such fences there is one order, in which the
  /// reader's cannot come first, for it has seen the signal.
  Carried
};

class Surroundings {
public:
  /// Fences count that reach so far, as of `fenceReach`.
  Surroundings(const llvm::Instruction& signal, unsigned reach);
  SignalSide sideOf(const llvm::Instruction& access) const;
  /// Whether a fence or a barrier stands between the signal and the access behind it, on every way: without
  /// one, who has seen the signal need not see what others have done before it.
  bool isPartedBehind(const llvm::Instruction& access) const { return !unpartedAfter.count(&access); }
  /// The same with a fence.
  bool isFencedBehind(const llvm::Instruction& access) const { return !unfencedAfter.count(&access); }
  /// The same with one of those fences of which there is one order.
  bool isOrderedBehind(const llvm::Instruction& access) const { return !unorderedAfter.count(&access); }

private:
  void lookBack(bool releases);
  void lookForBarriers();
  bool fencesBeforeBarrier(const llvm::Instruction& access) const;

  const llvm::Instruction& signal;
  unsigned reach;
  std::set<const llvm::Instruction*> unfenced;       ///< before it without a fence between
  std::set<const llvm::Instruction*> unpartedAfter;  ///< behind it without a fence or barrier between
  std::set<const llvm::Instruction*> unfencedAfter;  ///< without a fence
  std::set<const llvm::Instruction*> unorderedAfter; ///< without a fence of those of one order
  std::set<const llvm::BasicBlock*> sinceBarrier;    ///< may run after the last barrier before it
  std::set<const llvm::BasicBlock*> after;
  bool hasFence = false;      ///< somewhere before it
  bool behindBarrier = false; ///< on all paths
  bool afterBarrier = false;  ///< on all paths, with a fence behind the barrier
};

} // namespace kcheck::analyzer
