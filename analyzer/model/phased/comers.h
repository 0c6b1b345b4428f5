// Which threads of a block ever come to some places, as far as their own numbers say it.
#pragma once

#include "analyzer/model/execution.h"

namespace kcheck::analyzer {

class Comers {
public:
  Comers(KernelState& state, const Execution& run);

  /// The threads that may come, by number; empty where the block's shape is not known: then all may.
  std::vector<bool> of(const llvm::BasicBlock& block);
  /// Width 1: that the thread is one of them.
  Expr saysComes(const llvm::BasicBlock& block);
  /// Whether all lanes of a warp come there together, each time.
  bool comeAsWarps(const llvm::BasicBlock& block);
  bool isShapeKnown() const { return total > 0; }
  std::int64_t threads() const { return total; }
  /// `e` of that thread.
  Expr at(std::int64_t thread, Expr e);
  /// The parts of a condition that say more than that a barrier has let the thread go.
  std::vector<Expr> partsOf(Expr condition) const;
  /// Whether it follows from the thread's number.
  static bool isOfThread(Expr e);

private:
  bool isUniform(Expr e) const;
  bool isOfWarps(Expr e);

  KernelState& state;
  ExprContext& exprs;
  const Execution& run;
  std::int64_t total = 0;
};

} // namespace kcheck::analyzer
