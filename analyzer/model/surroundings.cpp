#include "analyzer/model/surroundings.h"

#include "analyzer/model/barriers.h"
#include "analyzer/model/fences.h"

#include "llvm/IR/CFG.h"
#include "llvm/IR/Instructions.h"

#include <algorithm>
#include <functional>
#include <vector>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

/// Visits the blocks before this one, up to those where `goesOn` says no.
void walkBack(const BasicBlock* from, const std::function<bool(const BasicBlock&)>& goesOn) {
  std::vector<const BasicBlock*> todo{from};
  std::set<const BasicBlock*> seen;
  while (!todo.empty()) {
    const BasicBlock* block = todo.back();
    todo.pop_back();
    if (seen.insert(block).second && goesOn(*block))
      todo.insert(todo.end(), pred_begin(block), pred_end(block));
  }
}

void closeForward(std::set<const BasicBlock*>& blocks, std::vector<const BasicBlock*> todo) {
  while (!todo.empty()) {
    const BasicBlock* block = todo.back();
    todo.pop_back();
    if (!blocks.insert(block).second) continue;
    todo.insert(todo.end(), succ_begin(block), succ_end(block));
  }
}

/// Whether a thread may leave the kernel from here without another barrier: then nothing orders what it has
/// done before the rest of its block goes on.
bool mayLeave(const BasicBlock* from) {
  std::vector<const BasicBlock*> todo{from};
  std::set<const BasicBlock*> seen;
  while (!todo.empty()) {
    const BasicBlock* block = todo.back();
    todo.pop_back();
    if (!seen.insert(block).second) continue;
    if (succ_empty(block)) return true;
    for (const BasicBlock* next : successors(block))
      if (!beginsWithBarrier(*next)) todo.push_back(next);
  }
  return false;
}

/// What comes behind `from` before the fence or, where they count, barrier on some way.
std::set<const Instruction*> reachedUnfenced(const Instruction& from, bool barriersCount,
                                             const std::function<bool(const Instruction&)>& isFence) {
  std::set<const Instruction*> result;
  std::vector<const Instruction*> todo{from.getNextNode()};
  std::set<const BasicBlock*> seen;
  while (!todo.empty()) {
    const Instruction* at = todo.back();
    todo.pop_back();
    const BasicBlock* block = at->getParent();
    if (barriersCount && beginsWithBarrier(*block) && at != from.getNextNode()) continue;
    while (at && !isFence(*at)) result.insert(at), at = at->getNextNode();
    if (at) continue;
    for (const BasicBlock* next : successors(block))
      if (seen.insert(next).second) todo.push_back(&next->front());
  }
  return result;
}

} // namespace

Surroundings::Surroundings(const Instruction& signal, unsigned reach) : signal(signal), reach(reach) {
  const BasicBlock* home = signal.getParent();
  closeForward(after, {succ_begin(home), succ_end(home)});
  const bool releases = releaseReach(signal) >= reach;
  lookBack(releases);
  lookForBarriers();
  if (acquireReach(signal) < reach) {
    const auto isFence = [&](const Instruction& at) { return fenceReach(at) >= reach; };
    unpartedAfter = reachedUnfenced(signal, true, isFence);
    unfencedAfter = reachedUnfenced(signal, false, isFence);
  }
  unorderedAfter = reachedUnfenced(
      signal, false, [&](const Instruction& at) { return fenceReach(at) >= reach && isInOneOrder(at); });
  walkBack(home, [&](const BasicBlock& block) {
    for (const Instruction& instruction : block) {
      if (&instruction == &signal) break; // what comes behind it
      hasFence = hasFence || (fenceReach(instruction) >= reach && !after.count(&block));
    }
    return true;
  });
  hasFence = hasFence || releases;
}

/// Up to fences. A signal that releases is its own.
void Surroundings::lookBack(bool releases) {
  bool reachesBarrier = false, reachesEntry = false;
  if (!releases)
    walkBack(signal.getParent(), [&](const BasicBlock& block) {
      const Instruction* at = &block == signal.getParent() ? signal.getPrevNode() : &block.back();
      while (at && fenceReach(*at) < reach) unfenced.insert(at), at = at->getPrevNode();
      if (at) return false;
      reachesBarrier = reachesBarrier || beginsWithBarrier(block);
      reachesEntry = reachesEntry || pred_empty(&block);
      return true;
    });
  afterBarrier = !reachesBarrier && !reachesEntry;
}

void Surroundings::lookForBarriers() {
  std::vector<const BasicBlock*> starts;
  behindBarrier = true;
  walkBack(signal.getParent(), [&](const BasicBlock& block) {
    if (beginsWithBarrier(block)) {
      starts.push_back(&block);
      return false;
    }
    behindBarrier = behindBarrier && !pred_empty(&block);
    return true;
  });
  closeForward(sinceBarrier, starts);
  afterBarrier = afterBarrier && behindBarrier;
}

/// Whether the thread that has done this comes to no barrier before it has fenced.
bool Surroundings::fencesBeforeBarrier(const Instruction& access) const {
  const auto reached = reachedUnfenced(
      access, false, [&](const Instruction& at) { return fenceReach(at) >= reach && isInOneOrder(at); });
  return std::none_of(reached.begin(), reached.end(),
                      [](const Instruction* at) { return barrierOf(*at).kind != BarrierKind::None; });
}

SignalSide Surroundings::sideOf(const Instruction& access) const {
  const BasicBlock *block = access.getParent(), *home = signal.getParent();
  if (after.count(block) || (block == home && signal.comesBefore(&access))) return SignalSide::None;
  if (afterBarrier && !sinceBarrier.count(block) && !mayLeave(block)) return SignalSide::InBlock;
  if (behindBarrier && !sinceBarrier.count(block) && !mayLeave(block) && fencesBeforeBarrier(access))
    return SignalSide::Carried;
  if (!unfenced.count(&access)) return SignalSide::InThread;
  return hasFence ? SignalSide::Unclear : SignalSide::None;
}

} // namespace kcheck::analyzer
