#include "analyzer/model/phased/comers.h"

using namespace llvm;

namespace kcheck::analyzer {

Comers::Comers(KernelState& state, const Execution& run) : state(state), exprs(state.exprs), run(run) {
  constexpr std::int64_t kMostThreads = 1024;
  std::int64_t product = 1;
  for (Expr extent : state.model.blockDim) {
    if (!isConst(extent)) return;
    product *= extent->value;
  }
  if (product > 0 && product <= kMostThreads) total = product;
}

bool Comers::isOfThread(Expr e) {
  return !anyNode(e, [](Expr n) {
    return n->op == Op::Apply || (n->op == Op::Symbol && n->symbol->kind != SymbolKind::ThreadIdx);
  });
}

/// The same for all threads of the block that are in the same round of their loops.
bool Comers::isUniform(Expr e) const {
  return !anyNode(e, [&](Expr n) {
    if (n->op == Op::Apply) return n->function->varies == Varies::ByThread;
    return n->op == Op::Symbol && n->symbol->varies == Varies::ByThread &&
           (n->symbol->kind != SymbolKind::LoopCounter || n->symbol->isOutcome);
  });
}

std::vector<Expr> Comers::partsOf(Expr condition) const {
  Substitution past(exprs);
  for (const Symbol* symbol : state.pastBarriers) past.set(exprs.of(symbol), exprs.boolean(true));
  std::vector<Expr> parts = conjunctsOf(past(condition));
  erase_if(parts, isTrue);
  return parts;
}

Expr Comers::at(std::int64_t thread, Expr e) {
  Substitution numbers(exprs);
  for (int axis = 0; axis < 3; ++axis) {
    const std::int64_t extent = state.model.blockDim[axis]->value;
    if (!isConst(state.model.threadIdx[axis]))
      numbers.set(state.model.threadIdx[axis], exprs.constant(32, thread % extent));
    thread /= extent;
  }
  return numbers(e);
}

Expr Comers::saysComes(const BasicBlock& block) {
  Expr comes = exprs.boolean(true);
  if (!isShapeKnown()) return comes;
  for (Expr part : partsOf(run.conditions.at(&block)))
    if (isOfThread(part)) comes = exprs.logicalAnd(comes, part);
  return comes;
}

std::vector<bool> Comers::of(const BasicBlock& block) {
  std::vector<bool> result(std::size_t(total), true);
  Expr comes = saysComes(block);
  for (std::int64_t thread = 0; thread < total; ++thread)
    result[std::size_t(thread)] = !isFalse(at(thread, comes));
  return result;
}

/// Of a part that says something of the thread alone: whether it does so of whole warps.
bool Comers::isOfWarps(Expr e) {
  constexpr std::int64_t kLanes = 32;
  if (!isShapeKnown() || total % kLanes != 0) return false;
  for (std::int64_t first = 0; first < total; first += kLanes)
    for (std::int64_t lane = 1; lane < kLanes; ++lane)
      if (at(first, e) != at(first + lane, e)) return false;
  return true;
}

bool Comers::comeAsWarps(const BasicBlock& block) {
  const auto together = [&](Expr condition) {
    return all_of(partsOf(condition),
                  [&](Expr part) { return isUniform(part) || (isOfThread(part) && isOfWarps(part)); });
  };
  if (!together(run.conditions.at(&block))) return false;
  for (const Loop* loop = state.loopInfo.getLoopFor(&block); loop; loop = loop->getParentLoop()) {
    const auto entry = run.loopEntries.find(loop);
    if (entry == run.loopEntries.end() || !together(entry->second)) return false;
    for (const LoopRecord& record : state.loops)
      if (record.loop == loop && !all_of(record.exitConditions, together)) return false;
  }
  return true;
}

} // namespace kcheck::analyzer
