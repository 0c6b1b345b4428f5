// What a thread of each block does between two barriers of the block to find out that all blocks have come:
// it counts its block in, and looks at the counter, or at what the last one sets, until it may go on.
#pragma once

#include "analyzer/model/execution.h"

#include <optional>

namespace kcheck::analyzer {

/// Bytes of memory that all threads mean.
struct WordPlace {
  unsigned object = 0;
  std::int64_t offset = 0, bytes = 0;
  friend auto operator<=>(const WordPlace&, const WordPlace&) = default;
  bool meets(const WordPlace& other) const {
    return object == other.object && offset < other.offset + other.bytes && other.offset < offset + bytes;
  }
};

/// One way on from a branch.
struct BranchWay {
  const llvm::BranchInst* branch = nullptr;
  unsigned way = 0;
  const llvm::BasicBlock* target() const { return branch->getSuccessor(way); }
};

struct Meeting {
  const llvm::BasicBlock *from = nullptr, *to = nullptr; ///< they begin with the two barriers
  std::set<const llvm::BasicBlock*> blocks;              ///< between: with `from`, without `to`
  const llvm::Instruction* arrival = nullptr;
  std::vector<const llvm::Instruction*> looks, sets; ///< `sets`: all that writes but the arrival
  std::map<const llvm::Instruction*, WordPlace> places;
  WordPlace counter; ///< of the arrival

  /// Whether each way from behind `start` to `end` passes what is asked for; `end` null: to the second
  /// barrier.
  using Test = std::function<bool(const llvm::Instruction&)>;
  bool passes(const llvm::Instruction& start, const llvm::Instruction* end, const Test& wanted) const;
  /// The same from one way of a branch on.
  bool passes(const BranchWay& way, const llvm::Instruction* end, const Test& wanted) const;
  /// Whether some way from behind the arrival to the second barrier takes none of these.
  bool goesRound(const std::vector<BranchWay>& ways) const;
  std::vector<BranchWay> ways() const; ///< of all its branches

private:
  bool passesFrom(const llvm::Instruction& first, const llvm::Instruction* end, const Test& wanted) const;
};

/// By control flow alone: between two barriers, in one loop, with one arrival and nothing but such
/// operations.
std::vector<Meeting> findMeetings(const llvm::Function& kernel, const llvm::DominatorTree& dominators,
                                  const llvm::LoopInfo& loops);

/// Fills in the places. False where they are not such, do not reach the other blocks, or where it is not one
/// thread that always comes to the arrival.
bool settleMeeting(KernelState& state, Execution& run, Meeting& meeting);

bool isDeviceFence(const llvm::Instruction& instruction);

} // namespace kcheck::analyzer
