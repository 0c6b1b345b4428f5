// What a warp's operations hand from lane to lane.
#pragma once

#include "analyzer/expr/expr.h"

#include <functional>
#include <optional>

namespace llvm {
class CallInst;
class Instruction;
class Value;
} // namespace llvm

namespace kcheck::analyzer {

struct KernelState;

/// A ballot of all lanes of a warp: how this one voted, and which warp and round it was.
struct Ballot {
  Expr vote = nullptr;
  std::vector<Expr> keys;
  /// Of lanes that happen to come to a place together, which is their vote: tells them from others of the
  /// warp; the last key.
  const Symbol* group = nullptr;
  /// Of lanes that have the same value of something: that value; the last key. Others of the warp have
  /// another one, and are other lanes.
  Expr value = nullptr;
  /// How many keys lanes share that are not of this ballot.
  unsigned commonKeys() const { return unsigned(keys.size()) - (group ? 1 : 0) - (value ? 1 : 0); }
};

/// What tells a call that gives all lanes of a warp one value from those of other warps and rounds. Nothing
/// where not all of them surely come to it together.
std::optional<std::vector<Expr>> wholeWarp(KernelState& state, const llvm::CallInst& call,
                                           const llvm::Value* mask, const std::vector<Expr>& identity);

/// What tells a ballot from those of other warps and rounds. Nothing where it is not one of all lanes, or the
/// lanes do not surely come to it together. `identity`: that of the thread at the call.
std::optional<Ballot> ballotOf(KernelState& state, const llvm::CallInst& call, Expr vote,
                               const std::vector<Expr>& identity);

/// Those of a warp that are active at a place together, where this thread comes under `condition`.
Ballot activeLanes(KernelState& state, Expr condition, const std::vector<Expr>& identity,
                   const Symbol* group);

/// Those that `__match_any_sync` tells this thread: they have the same `matched`. Its mask names all lanes,
/// or those of a ballot or together, this one among them.
std::optional<Ballot> matchOf(KernelState& state, const llvm::CallInst& call, Expr mask, Expr matched,
                              Expr condition, const std::vector<Expr>& identity);

/// What a shuffle from a lane of all 32 gives that the thread's own number leads to, or from the first lane
/// that votes for something, for the lanes that do: the same as what the thread itself sends, as that lane
/// has it. `argument` gives the call's operands. Null where it is another operation, where the lane may stay
/// away while this thread comes, which is so under `condition`, or where either hangs on more of the thread
/// than its index.
Expr valueOfLane(KernelState& state, const llvm::CallInst& call,
                 const std::function<Expr(unsigned)>& argument, Expr condition);

/// `e` as that lane of the thread's warp has it, at an operation where all its lanes meet; `lane` may hang on
/// the thread. Null where `e` hangs on more of the thread than its index.
Expr asLaneHas(KernelState& state, const llvm::Instruction& meeting, Expr lane, Expr e);

/// What another lane of the thread's warp has, at a barrier or an operation where all its lanes meet.
class WordsOfLane {
public:
  WordsOfLane(KernelState& state, const llvm::Instruction& meeting, std::int64_t lane);
  /// `e` as that lane has it; null where it hangs on more of the thread than its index.
  Expr of(Expr e);
  /// Of a condition: what remains of it for that lane wherever this thread comes, which is so under `here`.
  /// Null where that is not known.
  Expr ofAll(Expr condition, Expr here);

private:
  KernelState& state;
  const llvm::Instruction& meeting;
  Substitution other;
};
/// Nothing where not every warp has that lane, or its lanes do not surely meet there together.
std::optional<WordsOfLane> wordsOfLane(KernelState& state, const llvm::Instruction& meeting,
                                       std::int64_t lane);
/// What a shuffle reads.
struct LaneRead {
  Expr lane = nullptr;    ///< of 32; null where it is not followed
  Expr segment = nullptr; ///< the mask of the lanes that may be read from here; null where it is not
};
/// The lane that a shuffle reads, which keeps to the own one's segment: a power of two of lanes. `named` is
/// what the third operand says.
LaneRead laneRead(KernelState& state, const llvm::CallInst& call, Expr named);
/// Whether it is the own lane or one before it: all that are before one are there.
bool isFirstOfSegment(KernelState& state, Expr lane);
/// The number of the thread's warp in its block, in the words that programs find for it.
std::vector<Expr> warpNumbers(KernelState& state);
/// The lane's number, in the words that programs find for it.
bool isLane(KernelState& state, Expr e);

/// `x & y`, where that looks for the lane's own bit in a ballot: what the thread itself has voted. Else null.
Expr ownVote(KernelState& state, Expr x, Expr y);

/// The lanes that voted for something, where a mask names these; nothing where it is no ballot's.
std::optional<Ballot> votersOf(KernelState& state, Expr mask);
/// Whether `condition` says that the thread has voted for what the ballot asks.
bool isVoter(const Ballot& ballot, Expr condition);
/// Whether it says that some lane has: this one, or whichever left a bit in `votes`.
bool hasVoters(ExprContext& exprs, Expr votes, const Ballot& ballot, Expr condition);

/// The bits of the thread's own lane and of those below it.
Expr ownLane(KernelState& state);
Expr lanesBelow(KernelState& state, bool withOwn);
/// The lanes whose bits are set in `mask`, which may name some that are not there: what ballots of one warp
/// and round make together, or any mask. Two lanes that have the same mask count among the same lanes.
Ballot lanesIn(KernelState& state, Expr mask);

} // namespace kcheck::analyzer
