// The two threads of a question, as expressions: what a thread has of its own gets a name of its own.
#pragma once

#include "analyzer/decide/view.h"

namespace kcheck::analyzer {

class Copies {
public:
  explicit Copies(KernelView& kernel) : kernel(&kernel) {}

  /// `e` as thread 1 or 2 of a pair so related computes it.
  Expr of(Expr e, Relation relation, unsigned thread);
  /// The symbol that a copy was made from; the symbol itself when it is none.
  const Symbol* original(const Symbol* symbol) const;
  /// Which thread a copied symbol belongs to; 0 when both share it.
  unsigned threadOf(const Symbol* symbol) const;

private:
  struct Origin {
    const Symbol* symbol;
    unsigned thread;
  };
  const Symbol* copy(const Symbol* symbol, unsigned thread);
  const Function* copy(const Function* function, unsigned thread);

  KernelView* kernel;
  std::unordered_map<Expr, Expr> memo[2][2]; ///< [between blocks][thread - 1]
  std::unordered_map<const Symbol*, Origin> origins;
};

/// That the mask of thread `whose` names the lane of thread `lane`.
Expr namesLane(Copies& copies, KernelView& kernel, Expr mask, unsigned whose, unsigned lane);

/// That two threads are so related and not the same.
Expr different(Copies& copies, KernelView& kernel, Relation relation);

} // namespace kcheck::analyzer
