#include "analyzer/decide/kernel_view.h"

#include "analyzer/expr/fold.h"

#include <algorithm>

namespace kcheck::analyzer {

KernelView::KernelView(const KernelModel& model, ExprContext& context) : model(model), context(context) {
  facts = model.facts;
  addLaunchFacts();
  facts1 = context.boolean(true);
  for (Expr f : facts) facts1 = context.logicalAnd(facts1, f);
}

void KernelView::addLaunchFacts() {
  ExprContext& c = context;
  auto addFact = [&](Expr f) {
    if (!isTrue(f)) facts.push_back(f);
  };
  Expr zero = c.constant(32, 0), one = c.constant(32, 1);
  Expr tid[3], dim[3];
  unsigned freeDimensions = 0;
  for (int i = 0; i < 3; ++i) {
    tid[i] = model.threadIdx[i] ? model.threadIdx[i] : zero;
    dim[i] = model.blockDim[i] ? model.blockDim[i] : one;
    Expr bid = model.blockIdx[i] ? model.blockIdx[i] : zero, grid = model.gridDim[i] ? model.gridDim[i] : one;
    addFact(c.binary(Op::Slt, tid[i], dim[i]));
    addFact(c.binary(Op::Slt, bid, grid));
    freeDimensions += !isConst(dim[i]);
  }
  // A block has at most 1024 threads, so the index of a thread in its block never wraps.
  std::uint8_t flags = NoSignedWrap | NoUnsignedWrap;
  linearThread =
      c.add(tid[0], c.mul(dim[0], c.add(tid[1], c.mul(dim[1], tid[2], flags), flags), flags), flags);
  warp = c.binary(Op::LShr, linearThread, c.constant(32, 5));
  bool several = freeDimensions > 1 || (freeDimensions == 1 && !(isConst(dim[1], 1) && isConst(dim[2], 1)));
  if (several) {
    Expr volume = c.mul(dim[0], c.mul(dim[1], dim[2], flags), flags);
    addFact(c.binary(Op::Sle, volume, c.constant(32, 1024)));
    addFact(c.binary(Op::Slt, linearThread, c.constant(32, 1024)));
  }
}

Varies KernelView::variesOf(Expr e) {
  auto found = varies.find(e);
  if (found != varies.end()) return found->second;
  bottomUp(
      e, [&](Expr n) { return varies.count(n) != 0; },
      [&](Expr n) {
        Varies v = n->op == Op::Symbol  ? n->symbol->varies
                   : n->op == Op::Apply ? n->function->varies
                                        : Varies::Never;
        for (Expr o : n->operands) v = std::max(v, varies.at(o));
        varies.emplace(n, v);
      });
  return varies.at(e);
}

bool KernelView::isPrivate(Expr e, Relation relation) {
  return variesOf(e) >= (relation == Relation::DifferentBlocks ? Varies::ByBlock : Varies::ByThread);
}

} // namespace kcheck::analyzer
