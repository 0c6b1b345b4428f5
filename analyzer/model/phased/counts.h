// How often a thread has come past some instructions when it comes to another one, as far as the way through
// the blocks says it.
#pragma once

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/Dominators.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace kcheck::analyzer {

/// A sum of things that differ from thread to thread and from round to round.
struct Count {
  enum class Kind : std::uint8_t {
    Block,   ///< 1 where the thread has come to the block, which lies outside of loops
    Round,   ///< the round of a loop that it is in
    Rounds,  ///< the round of a loop in which it has left it; 0 where it has not come to it
    Entered, ///< 1 where it has come to the loop
  };
  using Term = std::pair<Kind, const void*>;
  std::int64_t constant = 0;
  std::map<Term, std::int64_t> terms; ///< with how often each counts

  bool isConstant() const { return terms.empty(); }
  bool isZero() const { return terms.empty() && constant == 0; }
  void add(Kind kind, const void* what) { ++terms[{kind, what}]; }
  /// The same one round of the loop before.
  Count roundBefore(const llvm::Loop& loop) const;
  /// In the loop's first round.
  Count inFirstRound(const llvm::Loop& loop) const;
  /// No more than the constant, where there is one.
  std::optional<std::int64_t> most() const;
  friend Count operator-(Count a, const Count& b);
};

/// What the blocks say of who comes where. Instructions that are counted lie outside of loops, or in a loop
/// that lies in no other.
class Ways {
public:
  Ways(const llvm::Function& function, const llvm::DominatorTree& dominators, const llvm::LoopInfo& loops);

  /// Some threads alone come there, by branches that hang on who they are: the block behind these, to which
  /// all others come too. What is said below is then said of those threads.
  void setJoin(const llvm::Instruction& instruction, const llvm::BasicBlock& join) {
    joins[&instruction] = &join;
  }
  bool isOfSome(const llvm::Instruction& instruction) const { return joins.count(&instruction) != 0; }
  /// The blocks to which the branch of the block leads all threads again; null where there is none in its
  /// loop.
  const llvm::BasicBlock* joinBehind(const llvm::BasicBlock& branch, const llvm::Instruction& inside) const;

  /// Whether each way to `to` leads past `from` first, in the same round.
  bool isPassed(const llvm::Instruction& from, const llvm::Instruction& to) const;
  bool mayCome(const llvm::Instruction& from, const llvm::Instruction& to) const;
  /// Whether no round of the loop that comes round leaves it out, nor comes to it twice.
  bool isInEveryRound(const llvm::Instruction& instruction) const;
  /// Whether the last round, which leaves the loop, has it too: all of them or none; nothing where some do.
  std::optional<bool> isInLastRound(const llvm::Instruction& instruction) const;
  const llvm::Loop* loopOf(const llvm::Instruction& instruction) const {
    return loops.getLoopFor(instruction.getParent());
  }

  /// Those before `here`. Nothing where that cannot be said.
  std::optional<Count> before(const llvm::Instruction& here,
                              const std::vector<const llvm::Instruction*>& counted) const;

private:
  bool isPassedBefore(const llvm::Instruction& from, const llvm::BasicBlock& block) const;
  bool mayComeInRound(const llvm::Instruction& from, const llvm::Instruction& to,
                      const llvm::BasicBlock& join) const;

  const llvm::DominatorTree& dominators;
  const llvm::LoopInfo& loops;
  llvm::PostDominatorTree behind;
  std::map<const llvm::Instruction*, const llvm::BasicBlock*> joins;
};

} // namespace kcheck::analyzer
