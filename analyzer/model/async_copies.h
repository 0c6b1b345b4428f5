// Copies that a thread starts and that run on by themselves (`cp.async`), until it waits for them: where each
// of them may be under way. Works on LLVM's code, along all paths.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

namespace llvm {
class BasicBlock;
class CallInst;
class DominatorTree;
class Function;
class Instruction;
class Loop;
class LoopInfo;
} // namespace llvm

namespace kcheck::analyzer {

/// A copy that may be under way, started so many rounds ago of a loop around it; in any round of those within
/// that one, or of all where there is none.
struct CopyUnderWay {
  const llvm::CallInst* copy = nullptr;
  const llvm::Loop* loop = nullptr;
  unsigned rounds = 0;
  /// The outermost loop that was entered since, if any, and in which round of it the thread is.
  const llvm::Loop* entered = nullptr;
  std::optional<unsigned> round;
  friend auto operator<=>(const CopyUnderWay&, const CopyUnderWay&) = default;
};

bool startsCopy(const llvm::Instruction& instruction);

class AsyncCopies {
public:
  AsyncCopies(llvm::Function& kernel, llvm::DominatorTree& dominators, llvm::LoopInfo& loops);

  /// At the barrier that the block begins with.
  std::vector<CopyUnderWay> at(const llvm::BasicBlock* barrier) const;
  /// The thread's own copies, where it accesses memory.
  const std::map<const llvm::Instruction*, std::vector<CopyUnderWay>>& besides() const { return accesses; }
  /// Copies of which it is not followed how long they run.
  const std::set<const llvm::CallInst*>& lost() const { return notFollowed; }

private:
  /// `mostRounds`: how often the loop of the copy can go round after it.
  void follow(const llvm::CallInst& copy, const llvm::LoopInfo& loops, std::optional<unsigned> mostRounds);

  std::map<const llvm::BasicBlock*, std::vector<CopyUnderWay>> barriers;
  std::map<const llvm::Instruction*, std::vector<CopyUnderWay>> accesses;
  std::set<const llvm::CallInst*> notFollowed;
};

} // namespace kcheck::analyzer
