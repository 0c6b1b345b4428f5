// Loops. A loop runs as one symbolic iteration whose values are functions of an iteration counter: first with
// an unknown per header value to see what an iteration does to it, then with the closed forms found
// (recurrences.cpp), last for the record. What leaves the loop is the same with the counter of the last
// iteration, which is defined by the exit condition (loop_exits.cpp).
#include "analyzer/model/loops/loop_work.h"

#include "llvm/IR/CFG.h"

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

/// Those within the loop, which another round takes anew.
void Execution::forgetEdges(const Loop* loop) {
  for (auto it = edges.begin(); it != edges.end();)
    it = loop->contains(it->first.first) ? edges.erase(it) : std::next(it);
}

void Execution::runOnce(const Loop* loop, Expr entry, const PhiValues& values) {
  for (auto& [phi, v] : values) env[phi] = v;
  forgetEdges(loop);
  left.erase(loop);
  exitSymbols.erase(loop);
  auto base = iterationBase.find(loop);
  iterations[loop] = base != iterationBase.end() ? base->second : exprs.constant(32, 0);
  bool wasActive = !active.insert(loop).second;
  bool counted = before && base != iterationBase.end() && before->knownTrips.count(loop);
  if (counted)
    setStayCondition(
        loop, exprs.binary(Op::Slt, iterations[loop], exprs.constant(32, before->knownTrips.at(loop))));
  const BasicBlock* header = loop->getHeader();
  runBlock(header, entry);
  for (const BasicBlock* next : successors(header))
    if (!loop->contains(next))
      if (Expr end = withoutPrefix(exprs, edges[{header, next}], entry)) state.model.loopEnds.insert(end);
  runScope(loop);
  stayConditions.erase(header);
  lastRounds[loop] = iterations[loop];
  if (!wasActive) active.erase(loop);
}

/// A loop whose header alone leaves it goes on where `goesOn`.
void Execution::setStayCondition(const Loop* loop, Expr goesOn) {
  const BasicBlock* inside = loop->getHeader()->getTerminator()->getSuccessor(0);
  stayConditions[loop->getHeader()] = loop->contains(inside) ? goesOn : exprs.logicalNot(goesOn);
}

void Execution::runBody(LoopWork& work, bool recordAccesses) {
  const Loop* loop = work.loop;
  forgetEdges(loop);
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

/// A loop and what stands for its values until their closed forms are known.
Execution::LoopWork Execution::workOn(const Loop* loop, Expr entry, const PhiValues& start) {
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
  return work;
}

/// Brings what it can into closed form and bounds the rest. False where the loop does not come round.
bool Execution::findForms(LoopWork& work) {
  const Loop* loop = work.loop;
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
  if (!comesRound) return false;
  bindStates(work);
  bindPointers(work);
  findTripCount(work);
  stepThrough(work);
  boundUsedUp(work);
  boundOpen(work);
  if (stops && state.barrierLoops.count(loop)) comesRound = comesRoundPastBarriers(work);
  if (work.mostRounds && !(work.trips && *work.trips <= *work.mostRounds))
    work.facts.push_back(exprs.binary(Op::Slt, work.k, exprs.constant(32, *work.mostRounds)));
  for (Expr fact : work.facts) work.bodyEntry = exprs.logicalAnd(work.bodyEntry, fact);
  return comesRound && !(work.trips && *work.trips == 0);
}

void Execution::runLoop(const Loop* loop, Expr entry, const PhiValues& start) {
  loopEntries[loop] = entry;
  if (!canCycle(loop)) return runOnce(loop, entry, start);
  bool wasActive = !active.insert(loop).second;
  markStored(loop);
  LoopWork work = workOn(loop, entry, start);
  if (!findForms(work)) {
    if (!wasActive) active.erase(loop);
    return runOnce(loop, entry, start);
  }
  if (canUnroll(work))
    runUnrolled(work);
  else
    runInClosedForm(work);
  if (!wasActive) active.erase(loop);
}

void Execution::runInClosedForm(LoopWork& work) {
  const Loop* loop = work.loop;
  if (!work.trips && !work.isCounted) work.assumptions.insert(kNoLongLoops);
  for (auto& assumption : work.assumptions) state.assume(assumption);
  if (work.trips && work.headerExit) {
    setStayCondition(loop, exprs.binary(Op::Slt, work.k, exprs.constant(32, *work.trips)));
    if (recording) knownTrips[loop] = *work.trips;
  } else if (work.order && work.headerExit) {
    setStayCondition(loop, work.order);
  }
  runBody(work, true);
  if (recording) noteSteps(work);
  if (recording && !work.trips && !(work.stay && work.stayIsExact)) leftByData.insert(loop);
  stayConditions.erase(loop->getHeader());
  readLatches(work);
  leaveLoop(work);
}

} // namespace kcheck::analyzer
