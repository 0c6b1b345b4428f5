// What is known of one loop while it is brought into closed form.
#pragma once

#include "analyzer/model/execution.h"

namespace kcheck::analyzer {

/// A named assumption.
inline constexpr const char* kNoLongLoops = "no loop runs 2^31 times or more";

/// What a value is the sum of.
struct Sum {
  std::vector<Expr> terms;
  unsigned headers = 0; ///< how often the header value is a term
  bool noSignedWrap = true;
};
Sum summands(Expr e, Expr header);

/// Whether the loop goes on only while its counter is less than something.
bool isBoundedAbove(const llvm::Loop& loop, const llvm::BranchInst& exit, const llvm::PHINode* counter);

struct Execution::LoopWork {
  const llvm::Loop* loop = nullptr;
  Expr entry = nullptr;     ///< the condition under which the loop is reached
  Expr bodyEntry = nullptr; ///< the same with what is known of every iteration
  PhiValues start;
  std::vector<const llvm::PHINode*> phis; ///< those that matter
  std::map<const llvm::PHINode*, Symbol*> inside, after;
  PhiValues latch;  ///< the values at the end of an iteration
  PhiValues closed; ///< the values as functions of the counter
  PhiValues open;   ///< what stands for the others
  /// Of some of these, the symbol that says how far the value has come: 0 in the first round.
  struct Way {
    Symbol *inside, *after;
  };
  std::map<const llvm::PHINode*, Way> counted;
  Symbol *counter = nullptr, *exitCounter = nullptr;
  Expr k = nullptr;
  /// The loop's only exit is its header's branch, and this is the branch.
  const llvm::BranchInst* headerExit = nullptr;
  Expr stay = nullptr;  ///< the condition for going on, as a function of the counter; null when not known
  Expr order = nullptr; ///< the same as an order, where the loop tells two numbers apart
  bool stayIsExact = false;
  /// Where the run stops at barriers in the loop: what takes a round past all of them, where the counter
  /// alone says it; and whether that held in all rounds before a counter that it held in last.
  Expr past = nullptr;
  bool pastIsExact = true;
  bool stayIsWhole = false; ///< nothing else than `stay` ends the loop, whichever rounds it holds in
  std::vector<Expr> facts;  ///< of the counter, in every iteration and at the exit
  std::optional<std::int64_t> trips;
  std::optional<std::int64_t> mostRounds; ///< it surely ends before that many
  struct Guard {
    Symbol *inside, *after;
    Expr condition;
  };
  std::vector<Guard> guards;
  bool isCounted = false; ///< a 32-bit counter that must not overflow bounds the number of iterations
  std::map<const llvm::PHINode*, LoopStep> steps; ///< of those of 32 bits that C++ keeps in their type
  std::set<std::string> assumptions;              ///< taken up when the loop is recorded

  /// The counter as a number of `width` bits.
  Expr counterAs(ExprContext& exprs, unsigned width) const {
    if (width == 32) return k;
    return exprs.extend(width > 32 ? Op::ZExt : Op::Trunc, width, k);
  }
};

} // namespace kcheck::analyzer
