// The kernel as the deciders see it, with what holds in all its executions.
#pragma once

#include "analyzer/decide/races.h"

#include <unordered_map>
#include <vector>

namespace kcheck::analyzer {

/// A kernel model with derived facts, shared by all questions about it.
class KernelView {
public:
  KernelView(const KernelModel& model, ExprContext& context);

  const KernelModel& model;
  ExprContext& context;
  /// Width 1, true in every execution: those of the model, indices below their dimensions, blocks of at most
  /// 1024 threads.
  std::vector<Expr> facts;
  Expr facts1 = nullptr;       ///< all of them in one
  Expr linearThread = nullptr; ///< index of the thread in its block, 32 bit
  Expr warp = nullptr;         ///< of the thread in its block, 32 bit

  Varies variesOf(Expr e);
  /// Whether two threads so related can see different values.
  bool isPrivate(Expr e, Relation relation);

private:
  void addLaunchFacts();
  std::unordered_map<Expr, Varies> varies;
};

} // namespace kcheck::analyzer
