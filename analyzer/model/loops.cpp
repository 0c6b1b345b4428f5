// Loops. A loop runs as one symbolic iteration whose values are functions of an iteration counter: first with
// an unknown per header value to see what an iteration does to it, then with the closed forms found
// (recurrences.cpp), last for the record. What leaves the loop is the same with the counter of the last
// iteration, which is defined by the exit condition.
#include "analyzer/model/loop_work.h"

#include "llvm/IR/CFG.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {

/// Whether the loop can come round without crossing a barrier that stops this run.
bool Execution::canCycle(const Loop* loop) const {
  std::vector<const BasicBlock*> todo{loop->getHeader()};
  std::set<const BasicBlock*> seen;
  if (stopsAt(loop->getHeader())) return false;
  while (!todo.empty()) {
    const BasicBlock* block = todo.back();
    todo.pop_back();
    if (!seen.insert(block).second) continue;
    for (const BasicBlock* next : successors(block)) {
      if (next == loop->getHeader()) return true;
      if (loop->contains(next) && !stopsAt(next)) todo.push_back(next);
    }
  }
  return false;
}

bool Execution::backEdgePossible(const Loop* loop) const {
  for (const BasicBlock* from : predecessors(loop->getHeader())) {
    if (!loop->contains(from)) continue;
    auto edge = edges.find({from, loop->getHeader()});
    if (edge != edges.end() && !isFalse(edge->second)) return true;
  }
  return false;
}

/// What any iteration writes counts as written before every load of the loop.
void Execution::markStored(const Loop* loop) {
  for (const BasicBlock* block : loop->blocks()) {
    auto written = state.writtenIn.find(block);
    if (written != state.writtenIn.end()) stored.insert(written->second.begin(), written->second.end());
  }
}

void Execution::runOnce(const Loop* loop, Expr entry, const PhiValues& values) {
  for (auto& [phi, v] : values) env[phi] = v;
  for (auto it = edges.begin(); it != edges.end();)
    it = loop->contains(it->first.first) ? edges.erase(it) : std::next(it);
  left.erase(loop);
  exitSymbols.erase(loop);
  auto base = iterationBase.find(loop);
  iterations[loop] = base != iterationBase.end() ? base->second : exprs.constant(32, 0);
  bool wasActive = !active.insert(loop).second;
  bool counted = before && base != iterationBase.end() && before->knownTrips.count(loop);
  if (counted)
    setStayCondition(
        loop, exprs.binary(Op::Slt, iterations[loop], exprs.constant(32, before->knownTrips.at(loop))));
  runBlock(loop->getHeader(), entry);
  runScope(loop);
  stayConditions.erase(loop->getHeader());
  if (!wasActive) active.erase(loop);
}

/// A loop whose header alone leaves it goes on where `goesOn`.
void Execution::setStayCondition(const Loop* loop, Expr goesOn) {
  const BasicBlock* inside = loop->getHeader()->getTerminator()->getSuccessor(0);
  stayConditions[loop->getHeader()] = loop->contains(inside) ? goesOn : exprs.logicalNot(goesOn);
}

void Execution::runBody(LoopWork& work, bool recordAccesses) {
  const Loop* loop = work.loop;
  for (auto it = edges.begin(); it != edges.end();)
    it = loop->contains(it->first.first) ? edges.erase(it) : std::next(it);
  for (const PHINode* phi : work.phis) {
    auto closed = work.closed.find(phi);
    if (closed != work.closed.end())
      env[phi] = closed->second;
    else if (auto open = work.open.find(phi); open != work.open.end())
      env[phi] = open->second;
    else
      env[phi] = exprs.of(work.inside[phi]);
  }
  left.erase(loop);
  auto base = iterationBase.find(loop);
  iterations[loop] = base != iterationBase.end() ? exprs.add(base->second, work.k) : work.k;
  bool wasRecording = recording;
  recording = recording && recordAccesses;
  auto storedBefore = stored;
  runBlock(loop->getHeader(), work.bodyEntry);
  runScope(loop);
  if (!recordAccesses) stored = std::move(storedBefore);
  recording = wasRecording;
}

/// Few iterations, no barrier among them, and values without closed form: these run one by one.
bool Execution::canUnroll(const LoopWork& work) const {
  constexpr std::int64_t kMostTrips = 32;
  constexpr unsigned kMostRounds = 256;
  if (!work.trips || !work.headerExit || work.closed.size() == work.phis.size()) return false;
  if (*work.trips > kMostTrips || rounds * unsigned(*work.trips + 1) > kMostRounds) return false;
  for (const BasicBlock* block : work.loop->blocks())
    if (barrierOf(*block->getFirstNonPHIOrDbg()).kind != BarrierKind::None) return false;
  return true;
}

void Execution::runUnrolled(LoopWork& work) {
  const Loop* loop = work.loop;
  const BasicBlock* header = loop->getHeader();
  unsigned outerRound = id.round, outerRounds = rounds;
  rounds *= unsigned(*work.trips) + 1;
  Expr condition = work.entry;
  PhiValues values;
  for (const PHINode* phi : work.phis) values[phi] = work.start[phi];
  for (std::int64_t j = 0; j <= *work.trips; ++j) {
    for (auto it = edges.begin(); it != edges.end();)
      it = loop->contains(it->first.first) ? edges.erase(it) : std::next(it);
    for (auto& [phi, v] : values) env[phi] = v;
    left.erase(loop);
    iterations[loop] = exprs.constant(32, j);
    id.round = outerRound * 40 + unsigned(j) + 1;
    setStayCondition(loop, exprs.binary(Op::Slt, iterations[loop], exprs.constant(32, *work.trips)));
    runBlock(header, condition);
    if (j < *work.trips) runScope(loop);
    stayConditions.erase(header);
    if (j == *work.trips || !backEdgePossible(loop)) break;
    readLatches(work);
    values = work.latch;
    condition = exprs.boolean(false);
    for (const BasicBlock* from : predecessors(header))
      if (auto edge = edges.find({from, header}); loop->contains(from) && edge != edges.end())
        condition = exprs.logicalOr(condition, edge->second);
  }
  id.round = outerRound;
  rounds = outerRounds;
}

void Execution::readLatches(LoopWork& work) {
  work.latch.clear();
  const BasicBlock* header = work.loop->getHeader();
  for (const PHINode* phi : work.phis) {
    Expr merged = nullptr;
    for (const BasicBlock* from : predecessors(header)) {
      if (!work.loop->contains(from)) continue;
      auto edge = edges.find({from, header});
      if (edge == edges.end() || isFalse(edge->second)) continue;
      Expr v = atExit(from, header, value(phi->getIncomingValueForBlock(from)));
      merged = merged ? exprs.ite(edge->second, v, merged) : v;
    }
    if (merged) work.latch[phi] = merged;
  }
}

void Execution::runLoop(const Loop* loop, Expr entry, const PhiValues& start) {
  loopEntries[loop] = entry;
  if (!canCycle(loop)) return runOnce(loop, entry, start);
  bool wasActive = !active.insert(loop).second;
  markStored(loop);
  LoopWork work;
  work.loop = loop;
  work.entry = work.bodyEntry = entry;
  work.start = start;
  work.counter = state.loopCounter(loop, id);
  state.homes[work.counter] = {loop, id};
  work.counter->lo = 0;
  work.counter->hi = (Int(1) << 31) - 1;
  work.k = exprs.of(work.counter);
  std::string line = state.lineText(*loop->getHeader()->getTerminator());
  work.exitCounter = state.symbols.get(loop->getHeader(), "exit", id, "last iteration (" + line + ")", 32,
                                       SymbolKind::LoopCounter);
  work.exitCounter->lo = 0;
  work.exitCounter->isOutcome = true;
  state.homes[work.exitCounter] = {loop->getParentLoop(), id};
  for (auto& [phi, v] : start) {
    if (!v) continue;
    work.phis.push_back(phi);
    unsigned width = widthOf(phi->getType(), state.layout);
    Cause cause{CauseKind::Loop,
                "a value that the loop at " + line + " changes in a way without closed form"};
    Symbol* inside = local(*phi, "inside", "loop value (" + line + ")", width);
    Symbol* after = state.symbols.get(phi, "after", id, "value after the loop (" + line + ")", width,
                                      SymbolKind::Unknown);
    state.homes[after] = {loop->getParentLoop(), id};
    for (Symbol* symbol : {inside, after}) {
      symbol->exact = false;
      symbol->cause = cause;
    }
    work.inside[phi] = inside;
    work.after[phi] = after;
  }
  SmallVector<BasicBlock*> exiting;
  loop->getExitingBlocks(exiting);
  auto* branch = dyn_cast<BranchInst>(loop->getHeader()->getTerminator());
  if (exiting.size() == 1 && exiting[0] == loop->getHeader() && branch && branch->isConditional())
    work.headerExit = branch;

  runBody(work, false);
  bool comesRound = backEdgePossible(loop);
  for (unsigned pass = 0; comesRound && pass < 4; ++pass) {
    std::size_t closedBefore = work.closed.size();
    readLatches(work);
    closeForms(work);
    if (work.closed.size() == work.phis.size() || work.closed.size() == closedBefore) break;
    runBody(work, false);
    comesRound = backEdgePossible(loop);
  }
  if (comesRound) {
    bindStates(work);
    bindPointers(work);
    findTripCount(work);
    stepThrough(work);
    boundOpen(work);
    if (stops && state.barrierLoops.count(loop)) comesRound = comesRoundPastBarriers(work);
    if (work.mostRounds && !(work.trips && *work.trips <= *work.mostRounds))
      work.facts.push_back(exprs.binary(Op::Slt, work.k, exprs.constant(32, *work.mostRounds)));
    for (Expr fact : work.facts) work.bodyEntry = exprs.logicalAnd(work.bodyEntry, fact);
    if (work.trips && *work.trips == 0) comesRound = false;
  }
  if (!comesRound) {
    if (!wasActive) active.erase(loop);
    return runOnce(loop, entry, start);
  }
  if (canUnroll(work)) {
    runUnrolled(work);
    if (!wasActive) active.erase(loop);
    return;
  }
  if (!work.trips && !work.isCounted) work.assumptions.insert("no loop runs 2^31 times or more");
  for (auto& assumption : work.assumptions) state.assume(assumption);
  if (work.trips && work.headerExit) {
    setStayCondition(loop, exprs.binary(Op::Slt, work.k, exprs.constant(32, *work.trips)));
    if (recording) knownTrips[loop] = *work.trips;
  } else if (work.order && work.headerExit) {
    setStayCondition(loop, work.order);
  }
  runBody(work, true);
  stayConditions.erase(loop->getHeader());
  readLatches(work);
  leaveLoop(work);
  if (!wasActive) active.erase(loop);
}

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

  work.counter->exact = work.exitCounter->exact = work.stayIsExact;
  if (!work.stayIsExact)
    work.counter->cause = work.exitCounter->cause = {
        CauseKind::Loop,
        "how often the loop at " + state.lineText(*loop->getHeader()->getTerminator()) + " runs"};

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
  auto& leaving = exitSymbols[loop];
  if (rounds == 1) leaving.clear(); // else those of all rounds run one by one
  leaving.insert(leaving.end(), exits.begin(), exits.end());
  SmallVector<std::pair<BasicBlock*, BasicBlock*>> exitEdgeList;
  loop->getExitEdges(exitEdgeList);
  for (auto& [from, to] : exitEdgeList) {
    auto edge = edges.find({from, to});
    if (edge == edges.end()) continue;
    Expr relative = withoutPrefix(exprs, edge->second, work.bodyEntry);
    record.exitConditions.push_back(relative ? relative : edge->second);
  }
  if (recording) noteTallies(work);
  leaveEdges(work, final);
  left.insert_or_assign(loop, final);
  if (recording) state.loops.push_back(std::move(record));
}

void Execution::notePolled(Expr leaving) {
  anyNode(leaving, [&](Expr n) {
    if (n->op != Op::Symbol || !state.synchronizing.count(n->symbol)) return false;
    auto origin = state.origins.find(n->symbol);
    if (origin == state.origins.end()) return false;
    auto* field = dyn_cast<ExtractValueInst>(origin->second); // what a compare-and-swap found
    polled.insert(field ? dyn_cast<Instruction>(field->getAggregateOperand()) : origin->second);
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
        return work.latch.count(phi) && state.isSignalled(work.latch.at(phi)) && !isWalk(*phi, *work.loop);
    return isSignalled && n->symbol->kind != SymbolKind::LoopCounter &&
           n->symbol->cause.kind == CauseKind::Loop; // what an inner loop has found
  };
  return anyNode(relative, isFoundHere) || anyNode(relative, isFoundBefore);
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
  if (isSignalled && recording) {
    waitingLoops.push_back(work.loop);
    for (const Edge& edge : present) {
      notePolled(edges[edge]);
      for (auto& [phi, symbol] : work.inside) // found in the round before
        if (work.latch.count(phi) && anyNode(edges[edge], [&](Expr n) { return n == exprs.of(symbol); }))
          notePolled(work.latch[phi]);
    }
  }
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
  if (!mayStop && !work.trips) {
    if (Expr last = lastIteration(work)) state.lastIterations[work.exitCounter] = last;
    Expr definition =
        exprs.logicalOr(exprs.logicalNot(work.entry), some); // nothing holds of a loop not reached
    state.definitions[work.exitCounter] = definition;
    for (auto& [phi, symbol] : work.after)
      if (!work.closed.count(phi)) state.definitions[symbol] = definition;
    for (auto& guard : work.guards) state.definitions[guard.after] = definition;
  }
  for (std::size_t i = 0; i < present.size(); ++i) {
    exitEdges[present[i]] = exprs.logicalAnd(work.entry, outside[i]);
    bool simple = !mayStop && !synchronizing && i + 1 == present.size();
    edges[present[i]] = exprs.logicalAnd(work.entry, simple ? others : outside[i]);
    others = exprs.logicalAnd(others, exprs.logicalNot(outside[i]));
  }
}

} // namespace kcheck::analyzer
