// "The last block to arrive does the rest": each block counts itself in by one atomic operation, once, with a
// fence before; the block that draws the last ticket knows that all others have done what they do before
// theirs.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace llvm {
class BasicBlock;
class Function;
class Instruction;
class LoopInfo;
} // namespace llvm

namespace kcheck::analyzer {

/// What an instruction is to an arrival of its own block, as far as control flow says.
enum class ArrivalSide : std::uint8_t {
  None,
  Unclear,  ///< a fence stands before the arrival; whether it is for this one is not followed
  InThread, ///< before it, past a fence, where the same thread does both
  InBlock,  ///< before it for every thread of the block: a barrier and a fence are between
  /// The same, but the fence is that of the thread itself, and the barrier comes after it. PTX orders that
  /// where the reader has a fence behind the arrival too: of all such fences there is one order, in which the
  /// reader's cannot come first, for its block has seen the arrival.
  Carried
};

/// The atomic operations of a kernel that may be arrivals: outside of loops, counting up by one or with
/// atomicInc, device-wide. That one thread of each block does it, and nothing else is done to the counter
/// but by the last block, is for the caller to see to.
class Arrivals {
public:
  Arrivals(const llvm::Function& kernel, const llvm::LoopInfo& loops);
  const std::vector<const llvm::Instruction*>& all() const { return atomics; }
  ArrivalSide sideOf(const llvm::Instruction& access, const llvm::Instruction& arrival) const;
  /// Whether a fence or a barrier stands between the arrival and the access behind it, on every way: without
  /// one, the last block need not see what the others have done.
  bool isFencedBehind(const llvm::Instruction& access, const llvm::Instruction& arrival) const;
  /// The same with a fence, of those of which there is one order.
  bool isOrderedBehind(const llvm::Instruction& access, const llvm::Instruction& arrival) const;

private:
  struct Surroundings {
    std::set<const llvm::Instruction*> unfenced;       ///< before it without a fence between
    std::set<const llvm::Instruction*> unfencedAfter;  ///< behind it without a fence or barrier between
    std::set<const llvm::Instruction*> unorderedAfter; ///< without a fence of those of one order
    std::set<const llvm::BasicBlock*> sinceBarrier;    ///< may run after the last barrier before it
    std::set<const llvm::BasicBlock*> after;
    bool hasFence = false;      ///< somewhere before it
    bool behindBarrier = false; ///< on all paths
    bool afterBarrier = false;  ///< on all paths, with a fence behind the barrier
  };
  static Surroundings lookAround(const llvm::Instruction& atomic);

  std::vector<const llvm::Instruction*> atomics;
  std::map<const llvm::Instruction*, Surroundings> around;
};

} // namespace kcheck::analyzer
