#include "analyzer/model/block_locks.h"

#include "analyzer/model/broadcasts.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {

BlockLocks::BlockLocks(const llvm::Function& kernel, const TakenLocks& locks, const OneThreads& ones,
                       const Flow& flow)
    : ones(ones), flow(flow) {
  if (ones.empty()) return;
  for (const auto& [edge, taken] : locks.onEdges) {
    const Loop* loop = flow.loops.getLoopFor(edge.first);
    const bool isWayOut = loop && loop->getExitingBlock() == edge.first && !loop->contains(edge.second);
    const BasicBlock* before = isWayOut ? loop->getLoopPreheader() : nullptr;
    const auto one = before ? ones.find(before) : ones.end();
    if (one == ones.end() || !one->second.isSure) continue;
    for (TakenLock lock : taken)
      if (!locks.ambiguous.count(lock)) waits[lock] = {before, edge.first, edge.second, one->second};
  }
  for (const auto& [lock, wait] : waits) notePassing(lock, wait);
  if (!waits.empty()) intervals = intervalsOf(kernel);
}

void BlockLocks::notePassing(TakenLock taken, const Wait& wait) {
  for (auto* node = flow.dominators.getNode(wait.before); node; node = node->getIDom()) {
    for (const BasicBlock* next : successors(node->getBlock()))
      if (node->getBlock() != wait.before && !flow.dominators.dominates(next, wait.before))
        passed[{node->getBlock(), next}].insert(taken);
    if (node->getBlock() == wait.one.parting) return;
  }
}

bool BlockLocks::hasTaken(TakenLock taken, const BasicBlock* here) const {
  const Wait& wait = waits.at(taken);
  return flow.dominators.dominates(BasicBlockEdge(wait.leaves, wait.behind), here);
}

bool BlockLocks::isTakenFor(TakenLock taken, const BasicBlock* here) const {
  const Wait& wait = waits.at(taken);
  return flow.broadcasts.areParted(wait.before, wait.behind, wait.one.parting, here);
}

bool BlockLocks::isApartFrom(const BasicBlock* release, const BasicBlock* here) const {
  const bool mayMeet = std::ranges::any_of(
      intervals, [&](const auto& entry) { return entry.second.count(release) && entry.second.count(here); });
  if (!mayMeet) return true;
  const auto one = ones.find(release), other = ones.find(here);
  return one != ones.end() && other != ones.end() && one->second.thread == other->second.thread;
}

} // namespace kcheck::analyzer
