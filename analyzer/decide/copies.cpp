// Renaming of what is private to a thread.
#include "analyzer/decide/copies.h"

namespace kcheck::analyzer {

const Symbol* Copies::copy(const Symbol* symbol, unsigned thread) {
  Symbol* made = kernel->context.symbol(symbol->name + "#" + std::to_string(thread), symbol->width,
                                        symbol->kind, symbol->lo, symbol->hi);
  made->lo = symbol->lo;
  made->hi = symbol->hi;
  made->axis = symbol->axis;
  made->varies = symbol->varies;
  made->exact = symbol->exact;
  made->cause = symbol->cause;
  origins[made] = {symbol, thread};
  return made;
}

const Function* Copies::copy(const Function* function, unsigned thread) {
  Function* made = kernel->context.function(function->name + "#" + std::to_string(thread), function->width);
  made->varies = function->varies;
  made->injective = function->injective;
  made->keys = function->keys;
  made->ascends = function->ascends;
  made->isRoom = function->isRoom;
  made->isBallot = function->isBallot;
  made->isLeader = function->isLeader;
  made->exact = function->exact;
  made->cause = function->cause;
  return made;
}

Expr Copies::of(Expr e, Relation relation, unsigned thread) {
  auto& known = memo[relation == Relation::DifferentBlocks][thread - 1];
  Varies least = relation == Relation::DifferentBlocks ? Varies::ByBlock : Varies::ByThread;
  bottomUp(
      e, [&](Expr n) { return known.count(n) != 0; },
      [&](Expr n) {
        Expr made = n;
        if (kernel->variesOf(n) >= least) {
          std::vector<Expr> operands;
          for (Expr o : n->operands) operands.push_back(known.at(o));
          if (n->op == Op::Symbol)
            made = kernel->context.of(copy(n->symbol, thread));
          else if (n->op == Op::Apply && n->function->varies >= least)
            made = kernel->context.apply(copy(n->function, thread), std::move(operands));
          else
            made = kernel->context.rebuild(n, std::move(operands));
        }
        known.emplace(n, made);
      });
  return known.at(e);
}

const Symbol* Copies::original(const Symbol* symbol) const {
  auto found = origins.find(symbol);
  return found == origins.end() ? symbol : found->second.symbol;
}

unsigned Copies::threadOf(const Symbol* symbol) const {
  auto found = origins.find(symbol);
  return found == origins.end() ? 0 : found->second.thread;
}

Expr namesLane(Copies& copies, KernelView& kernel, Expr mask, unsigned whose, unsigned lane) {
  ExprContext& c = kernel.context;
  Expr number =
      c.binary(Op::And, copies.of(kernel.linearThread, Relation::SameWarp, lane), c.constant(32, 31));
  Expr bit = c.binary(Op::LShr, copies.of(mask, Relation::SameWarp, whose), number);
  return c.eq(c.binary(Op::And, bit, c.constant(32, 1)), c.constant(32, 1));
}

/// That some mask does not name both lanes, or is not the same for both.
static Expr parted(Copies& copies, KernelView& kernel) {
  ExprContext& c = kernel.context;
  Expr result = c.boolean(false);
  for (Expr mask : kernel.model.laneMasks) {
    Expr same = c.eq(copies.of(mask, Relation::SameWarp, 1), copies.of(mask, Relation::SameWarp, 2));
    Expr both = c.logicalAnd(namesLane(copies, kernel, mask, 1, 1), namesLane(copies, kernel, mask, 1, 2));
    result = c.logicalOr(result, c.logicalNot(c.logicalAnd(same, both)));
  }
  return kernel.model.laneDoubt ? c.logicalAnd(result, kernel.model.laneDoubt) : result;
}

Expr different(Copies& copies, KernelView& kernel, Relation relation) {
  ExprContext& c = kernel.context;
  auto equal = [&](Expr e) { return c.eq(copies.of(e, relation, 1), copies.of(e, relation, 2)); };
  if (relation == Relation::DifferentWarps) return c.logicalNot(equal(kernel.warp));
  Expr same = c.boolean(true);
  for (int i = 0; i < 3; ++i) {
    Expr index = relation == Relation::DifferentBlocks ? kernel.model.blockIdx[i] : kernel.model.threadIdx[i];
    if (index) same = c.logicalAnd(same, equal(index));
  }
  Expr result = c.logicalNot(same);
  if (relation == Relation::SameWarp || relation == Relation::LanesApart)
    result = c.logicalAnd(result, equal(kernel.warp));
  if (relation == Relation::SameGroup || relation == Relation::GroupsApart) {
    Expr together = c.boolean(true);
    for (Expr group : kernel.model.groups) together = c.logicalAnd(together, equal(group));
    result = c.logicalAnd(result, relation == Relation::SameGroup ? together : c.logicalNot(together));
    result = c.logicalAnd(result, c.logicalNot(equal(kernel.warp)));
  }
  if (relation == Relation::LanesApart) result = c.logicalAnd(result, parted(copies, kernel));
  return result;
}

} // namespace kcheck::analyzer
