#include "analyzer/model/arrivals.h"

#include "analyzer/model/barriers.h"
#include "analyzer/model/fences.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

constexpr unsigned kDevice = 2; ///< reach of a fence

bool isBarrier(const BasicBlock& block) {
  BarrierKind kind = barrierOf(*block.getFirstNonPHIOrDbg()).kind;
  return kind == BarrierKind::Block || kind == BarrierKind::Grid;
}

bool isOne(const Value* v) {
  auto* number = dyn_cast<ConstantInt>(v);
  return number && number->isOne();
}

bool countsUp(const Instruction& instruction) {
  if (auto* update = dyn_cast<AtomicRMWInst>(&instruction))
    return update->getOperation() == AtomicRMWInst::Add && isOne(update->getValOperand());
  auto* call = dyn_cast<IntrinsicInst>(&instruction);
  if (!call) return false;
  if (call->getIntrinsicID() == Intrinsic::nvvm_atomic_load_inc_32) return true;
  return call->getIntrinsicID() == Intrinsic::nvvm_atomic_add_gen_i_sys && isOne(call->getArgOperand(1));
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
      if (!isBarrier(*next)) todo.push_back(next);
  }
  return false;
}

bool isOrderingFence(const Instruction& at) { return fenceReach(at) >= kDevice && isInOneOrder(at); }

/// What comes behind `from` before the fence or, where they count, barrier on some way.
std::set<const Instruction*> reachedUnfenced(const Instruction& from, bool barriersCount,
                                             bool (*isFence)(const Instruction&)) {
  std::set<const Instruction*> result;
  std::vector<const Instruction*> todo{from.getNextNode()};
  std::set<const BasicBlock*> seen;
  while (!todo.empty()) {
    const Instruction* at = todo.back();
    todo.pop_back();
    const BasicBlock* block = at->getParent();
    if (barriersCount && isBarrier(*block) && at != from.getNextNode()) continue;
    while (at && !isFence(*at)) result.insert(at), at = at->getNextNode();
    if (at) continue;
    for (const BasicBlock* next : successors(block))
      if (seen.insert(next).second) todo.push_back(&next->front());
  }
  return result;
}

/// Whether the thread that has done this comes to no barrier before it has fenced.
bool fencesBeforeBarrier(const Instruction& access) {
  const auto reached = reachedUnfenced(access, false, isOrderingFence);
  return std::none_of(reached.begin(), reached.end(),
                      [](const Instruction* at) { return barrierOf(*at).kind != BarrierKind::None; });
}

} // namespace

Arrivals::Surroundings Arrivals::lookAround(const Instruction& atomic) {
  Surroundings result;
  const BasicBlock* home = atomic.getParent();
  closeForward(result.after, {succ_begin(home), succ_end(home)});
  // Backwards: first up to fences, then up to barriers, then all the way.
  bool barrierUnfenced = false, entryUnfenced = false;
  std::vector<const BasicBlock*> todo{home}, starts;
  std::set<const BasicBlock*> seen;
  while (!todo.empty()) {
    const BasicBlock* block = todo.back();
    todo.pop_back();
    if (!seen.insert(block).second) continue;
    const Instruction* at = block == home ? atomic.getPrevNode() : &block->back();
    while (at && fenceReach(*at) < kDevice) result.unfenced.insert(at), at = at->getPrevNode();
    if (at) continue;
    barrierUnfenced = barrierUnfenced || isBarrier(*block);
    entryUnfenced = entryUnfenced || pred_empty(block);
    todo.insert(todo.end(), pred_begin(block), pred_end(block));
  }
  result.unfencedAfter =
      reachedUnfenced(atomic, true, [](const Instruction& at) { return fenceReach(at) >= kDevice; });
  result.unorderedAfter = reachedUnfenced(atomic, false, isOrderingFence);
  bool reachesEntry = false;
  todo = {home};
  seen.clear();
  while (!todo.empty()) {
    const BasicBlock* block = todo.back();
    todo.pop_back();
    if (!seen.insert(block).second) continue;
    if (isBarrier(*block)) {
      starts.push_back(block);
      continue;
    }
    reachesEntry = reachesEntry || pred_empty(block);
    todo.insert(todo.end(), pred_begin(block), pred_end(block));
  }
  closeForward(result.sinceBarrier, starts);
  result.behindBarrier = !reachesEntry;
  result.afterBarrier = !reachesEntry && !barrierUnfenced && !entryUnfenced;
  todo = {home};
  seen.clear();
  while (!todo.empty()) {
    const BasicBlock* block = todo.back();
    todo.pop_back();
    if (!seen.insert(block).second) continue;
    for (const Instruction& instruction : *block) {
      if (&instruction == &atomic) break; // what comes behind it
      result.hasFence = result.hasFence || (fenceReach(instruction) >= kDevice && !result.after.count(block));
    }
    todo.insert(todo.end(), pred_begin(block), pred_end(block));
  }
  return result;
}

Arrivals::Arrivals(const llvm::Function& kernel, const LoopInfo& loops) {
  for (const Instruction& instruction : instructions(kernel)) {
    if (!countsUp(instruction) || loops.getLoopFor(instruction.getParent())) continue;
    atomics.push_back(&instruction);
    around[&instruction] = lookAround(instruction);
  }
}

bool Arrivals::isFencedBehind(const Instruction& access, const Instruction& arrival) const {
  return !around.at(&arrival).unfencedAfter.count(&access);
}

bool Arrivals::isOrderedBehind(const Instruction& access, const Instruction& arrival) const {
  return !around.at(&arrival).unorderedAfter.count(&access);
}

ArrivalSide Arrivals::sideOf(const Instruction& access, const Instruction& arrival) const {
  const Surroundings& s = around.at(&arrival);
  const BasicBlock *block = access.getParent(), *home = arrival.getParent();
  if (s.after.count(block) || (block == home && arrival.comesBefore(&access))) return ArrivalSide::None;
  if (s.afterBarrier && !s.sinceBarrier.count(block) && !mayLeave(block)) return ArrivalSide::InBlock;
  if (s.behindBarrier && !s.sinceBarrier.count(block) && !mayLeave(block) && fencesBeforeBarrier(access))
    return ArrivalSide::Carried;
  if (!s.unfenced.count(&access)) return ArrivalSide::InThread;
  return s.hasFence ? ArrivalSide::Unclear : ArrivalSide::None;
}

} // namespace kcheck::analyzer
