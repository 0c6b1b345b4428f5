// What leaves a loop: its values with the counter of the last iteration, the conditions of its exits, and
// whether it has waited for other threads.
#include "analyzer/model/loops/loop_work.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {

void Execution::leaveLoop(LoopWork& work) {
  const Loop* loop = work.loop;
  LoopRecord record;
  record.loop = loop;
  record.run = id;
  record.counter = work.counter;
  record.exitCounter = work.exitCounter;
  auto aligned = state.barrierLoops.find(loop);
  record.aligned = !stops && aligned != state.barrierLoops.end();
  if (record.aligned) record.alignedBy = aligned->second;

  const bool isExact = work.stayIsExact && work.pastIsExact;
  work.counter->exact = work.exitCounter->exact = isExact;
  if (!isExact)
    work.counter->cause = work.exitCounter->cause = {
        CauseKind::Loop,
        "how often the loop at " + state.lineText(*loop->getHeader()->getTerminator()) + " runs"};

  const bool isKnown =
      work.pastIsExact ? work.stayIsWhole : work.past && (work.stayIsWhole || work.stayIsExact);
  if (recording && !isExact && isKnown) {
    Expr goesOn = work.past ? work.past : work.stay;
    state.model.goingOn[work.counter] = {goesOn, work.k};
    state.model.goingOn[work.exitCounter] = {goesOn, work.k, true};
  }
  Substitution final(exprs);
  final.set(work.k, work.trips ? exprs.constant(32, *work.trips) : exprs.of(work.exitCounter));
  std::vector<Symbol*> exits;
  if (!work.trips) exits.push_back(work.exitCounter);
  for (const PHINode* phi : work.phis) {
    if (work.closed.count(phi)) continue;
    final.set(exprs.of(work.inside[phi]), exprs.of(work.after[phi]));
    exits.push_back(work.after[phi]);
    Expr latch = work.latch.count(phi) ? work.latch[phi] : nullptr;
    auto counted = work.counted.find(phi);
    if (counted == work.counted.end())
      record.open.push_back({work.inside[phi], work.after[phi], work.start[phi], latch});
    else // the symbol stands for how far the value has come
      record.open.push_back({counted->second.inside, counted->second.after,
                             exprs.constant(counted->second.inside->width, 0), latch});
  }
  for (auto& guard : work.guards) {
    final.set(exprs.of(guard.inside), exprs.of(guard.after));
    exits.push_back(guard.after);
    record.open.push_back({guard.inside, guard.after, guard.condition, guard.condition});
  }
  renameInner(work, record, final, exits);
  auto& leaving = exitSymbols[loop];
  if (rounds == 1) leaving.clear(); // else those of all rounds run one by one
  leaving.insert(leaving.end(), exits.begin(), exits.end());
  SmallVector<std::pair<BasicBlock*, BasicBlock*>> exitEdgeList;
  loop->getExitEdges(exitEdgeList);
  for (auto& [from, to] : exitEdgeList) {
    auto edge = edges.find({from, to});
    if (edge == edges.end()) continue;
    record.exitConditions.push_back(whereHolds(exprs, edge->second, work.bodyEntry));
  }
  if (recording) noteTallies(work);
  leaveEdges(work, final);
  lastRounds[loop] = final(iterations.at(loop));
  left.insert_or_assign(loop, final);
  if (recording) state.loops.push_back(std::move(record));
}

/// What inner loops left becomes what they left in the last round.
void Execution::renameInner(const LoopWork& work, LoopRecord& record, Substitution& final,
                            std::vector<Symbol*>& exits) {
  const Loop* loop = work.loop;
  for (const Loop* inner : loop->getLoopsInPreorder()) {
    if (inner == loop) continue;
    auto found = exitSymbols.find(inner);
    if (found == exitSymbols.end()) continue;
    for (Symbol* symbol : found->second) {
      Symbol* last = state.symbols.get(symbol, "last", id, symbol->name + " of the last round", symbol->width,
                                       symbol->kind);
      state.homes[last] = {loop->getParentLoop(), id};
      last->lo = symbol->lo;
      last->hi = symbol->hi;
      last->exact = false;
      last->cause = {{},
                     "what the inner loop left in the last round of the loop at " +
                         state.lineText(*loop->getHeader()->getTerminator())};
      final.set(exprs.of(symbol), exprs.of(last));
      record.renamed.push_back({symbol, last});
      exits.push_back(last);
    }
    exitSymbols.erase(found);
  }
}

/// Whether what is read leads to where the next round reads (`v = parent[v]`): that waits for nobody.
static bool isStepOfWalk(const Instruction& read, const Loop& loop) {
  SmallVector<const Value*> todo{read.getOperand(0)}; // the pointer
  SmallPtrSet<const Value*, 16> seen;
  while (!todo.empty()) {
    const auto* next = dyn_cast<Instruction>(todo.pop_back_val());
    if (!next || !loop.contains(next) || !seen.insert(next).second) continue;
    if (next == &read) return true;
    const auto* choice = dyn_cast<SelectInst>(next);
    for (const Value* operand : next->operands())
      if (!choice || operand != choice->getCondition()) todo.push_back(operand);
  }
  return false;
}

void Execution::notePolled(Expr leaving, const Loop& loop) {
  anyNode(leaving, [&](Expr n) {
    if (n->op != Op::Symbol || !state.synchronizing.count(n->symbol)) return false;
    auto origin = state.origins.find(n->symbol);
    if (origin == state.origins.end()) return false;
    auto* field = dyn_cast<ExtractValueInst>(origin->second); // what a compare-and-swap found
    const auto* read = field ? dyn_cast<Instruction>(field->getAggregateOperand()) : origin->second;
    if (read && !(isa<LoadInst, AtomicRMWInst, AtomicCmpXchgInst>(read) && isStepOfWalk(*read, loop)))
      polled.insert(read);
    return false;
  });
}

/// Whether each value of the phi says where the next one is found (`v = parent[v]`): a walk, which waits for
/// nobody.
static bool isWalk(const PHINode& phi, const Loop& loop) {
  const BasicBlock* latch = loop.getLoopLatch();
  if (!latch) return false;
  SmallVector<std::pair<const Value*, bool>> todo{{phi.getIncomingValueForBlock(latch), false}};
  SmallPtrSet<const Value*, 16> seen[2]; ///< as what is found, and as part of where to look
  while (!todo.empty()) {
    auto [value, isPlace] = todo.pop_back_val();
    if (value == &phi && isPlace) return true;
    auto* instruction = dyn_cast<Instruction>(value);
    if (!instruction || !loop.contains(instruction) || isa<CmpInst>(instruction)) continue;
    if (!seen[isPlace].insert(value).second) continue;
    if (isa<LoadInst, AtomicRMWInst, AtomicCmpXchgInst>(instruction)) {
      todo.push_back({instruction->getOperand(0), true}); // the pointer
      continue;
    }
    for (const Value* operand : instruction->operands()) todo.push_back({operand, isPlace});
  }
  return false;
}

/// Whether it is in the loop that a condition for leaving it looks at an atomic or a flag, in this round or
/// for the next one. What was found before, who may come here or how far to go, does not change while the
/// loop runs.
bool Execution::looksAgain(const LoopWork& work, Expr leaving) {
  Expr relative = withoutPrefix(exprs, leaving, work.entry);
  if (!relative) relative = leaving;
  const bool isSignalled = state.isSignalled(leaving);
  auto isFoundHere = [&](Expr n) {
    if (n->op == Op::Apply) return state.synchronizingFunctions.count(n->function) != 0;
    if (n->op != Op::Symbol || !state.isSignalled(n)) return false;
    auto origin = state.origins.find(n->symbol);
    return origin == state.origins.end() || work.loop->contains(origin->second);
  };
  auto isFoundBefore = [&](Expr n) {
    if (n->op != Op::Symbol) return false;
    for (auto& [phi, symbol] : work.inside)
      if (symbol == n->symbol)
        return work.latch.count(phi) && state.isSignalled(work.latch.lookup(phi)) &&
               !isWalk(*phi, *work.loop);
    return isSignalled && n->symbol->kind != SymbolKind::LoopCounter &&
           n->symbol->cause.kind == CauseKind::Loop; // what an inner loop has found
  };
  return anyNode(relative, isFoundHere) || anyNode(relative, isFoundBefore);
}

void Execution::noteWaiting(LoopWork& work, const std::vector<Edge>& present) {
  waitingLoops.push_back(work.loop);
  for (const Edge& edge : present) {
    notePolled(edges[edge], *work.loop);
    for (auto& [phi, symbol] : work.inside) // found in the round before
      if (work.latch.count(phi) && anyNode(edges[edge], [&](Expr n) { return n == exprs.of(symbol); }))
        notePolled(work.latch[phi], *work.loop);
  }
}

/// `some`: that one of the edges is taken, in terms of the exit counter.
void Execution::defineLastIteration(const LoopWork& work, Expr some) {
  if (Expr last = lastIteration(work)) state.lastIterations[work.exitCounter] = last;
  Expr definition =
      exprs.logicalOr(exprs.logicalNot(work.entry), some); // nothing holds of a loop not reached
  state.definitions[work.exitCounter] = definition;
  for (auto& [phi, symbol] : work.after)
    if (!work.closed.count(phi)) state.definitions[symbol] = definition;
  for (auto& guard : work.guards) state.definitions[guard.after] = definition;
}

/// The conditions of the edges that leave the loop, as seen from outside. A loop that is left for certain is
/// left by exactly one of them; when it is left by which iteration is the definition of the exit counter.
void Execution::leaveEdges(LoopWork& work, Substitution& final) {
  SmallVector<std::pair<BasicBlock*, BasicBlock*>> list;
  work.loop->getExitEdges(list);
  std::vector<Edge> present;
  bool synchronizing = false, isSignalled = false;
  for (auto& [from, to] : list) {
    auto edge = edges.find({from, to});
    if (edge == edges.end() || isFalse(edge->second)) continue;
    if (std::find(present.begin(), present.end(), Edge{from, to}) != present.end()) continue;
    present.push_back({from, to});
    synchronizing = synchronizing || state.isSynchronizing(edge->second);
    isSignalled = isSignalled || looksAgain(work, edge->second);
  }
  if (isSignalled && recording) noteWaiting(work, present);
  bool mayStop = stops && state.barrierLoops.count(work.loop) != 0;
  Expr some = exprs.boolean(false), others = exprs.boolean(true);
  std::vector<Expr> outside;
  for (const Edge& edge : present) {
    Expr relative = withoutPrefix(exprs, edges[edge], work.entry);
    Expr condition = final(relative ? relative : edges[edge]);
    outside.push_back(condition);
    some = exprs.logicalOr(some, condition);
  }
  if (work.stay && !work.trips) {
    Substitution previous(exprs);
    previous.set(work.k, exprs.add(exprs.of(work.exitCounter), exprs.constant(32, -1), NoSignedWrap));
    Expr isFirst = exprs.eq(exprs.of(work.exitCounter), exprs.constant(32, 0));
    some = exprs.logicalAnd(some, exprs.logicalOr(isFirst, previous(work.stay)));
  }
  if (!mayStop && !work.trips) defineLastIteration(work, some);
  for (std::size_t i = 0; i < present.size(); ++i) {
    exitEdges[present[i]] = exprs.logicalAnd(work.entry, outside[i]);
    bool simple = !mayStop && !synchronizing && i + 1 == present.size();
    edges[present[i]] = exprs.logicalAnd(work.entry, simple ? others : outside[i]);
    others = exprs.logicalAnd(others, exprs.logicalNot(outside[i]));
  }
}

/// Whether what leaves the loop asks for the phi's value in this round or the next one.
static bool decidesRounds(const PHINode& phi, const Loop& loop) {
  SmallVector<BasicBlock*> blocks;
  loop.getExitingBlocks(blocks);
  SmallVector<const Value*> todo;
  for (const BasicBlock* block : blocks) todo.push_back(block->getTerminator());
  SmallPtrSet<const Value*, 16> seen;
  while (!todo.empty()) {
    auto* value = dyn_cast<Instruction>(todo.pop_back_val());
    if (value == &phi) return true;
    if (!value || !loop.contains(value) || isa<LoadInst, CallBase>(value) || !seen.insert(value).second)
      continue;
    append_range(todo, value->operands());
    if (auto* merged = dyn_cast<PHINode>(value)) // `i < n && r < rounds`
      for (const BasicBlock* from : merged->blocks()) todo.push_back(from->getTerminator());
  }
  return false;
}

/// That the last round's step does not leave the number's type is in no access, and yet the loop would go on
/// if it did.
void Execution::noteSteps(const LoopWork& work) {
  for (const auto& [phi, step] : work.steps) {
    const auto form = work.closed.find(phi);
    if (form == work.closed.end() || !decidesRounds(*phi, *work.loop)) continue;
    LoopStep& noted = state.model.loopSteps[work.loop->getHeader()].emplace_back(step);
    noted.value = form->second;
    noted.line = locationOf(*work.loop->getHeader()->getTerminator()).line;
  }
}

} // namespace kcheck::analyzer
