#include "analyzer/model/made_barriers/meeting.h"

#include "analyzer/model/handing_on.h"

#include "llvm/IR/CFG.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {

bool isDeviceFence(const Instruction& instruction) { return fenceReach(instruction) >= kDeviceReach; }

namespace {

bool isArrival(const Instruction& instruction) {
  if (auto* update = dyn_cast<AtomicRMWInst>(&instruction)) {
    auto* number = dyn_cast<ConstantInt>(update->getValOperand());
    return update->getOperation() == AtomicRMWInst::Add && number && number->isOne();
  }
  auto* call = dyn_cast<IntrinsicInst>(&instruction);
  return call && call->getIntrinsicID() == Intrinsic::nvvm_atomic_load_inc_32;
}

/// What takes time and does nothing.
bool isPause(const Instruction& instruction) {
  auto* call = dyn_cast<CallInst>(&instruction);
  if (!call) return false;
  if (auto* intrinsic = dyn_cast<IntrinsicInst>(call))
    return intrinsic->isAssumeLikeIntrinsic() || intrinsic->getIntrinsicID() == Intrinsic::nvvm_nanosleep;
  auto* assembly = dyn_cast<InlineAsm>(call->getCalledOperand());
  return assembly && StringRef(assembly->getAsmString()).trim().starts_with("nanosleep");
}

/// False for what has no business there.
bool take(Meeting& meeting, const Instruction& instruction, const LoopInfo& loops) {
  if (fenceReach(instruction) || isPause(instruction)) return true;
  if (lookedAt(instruction)) {
    meeting.looks.push_back(&instruction);
    return true;
  }
  const bool isRepeated = loops.getLoopFor(instruction.getParent()) != loops.getLoopFor(meeting.from);
  if (isArrival(instruction)) {
    // A word that is set by adding one is told from the counter by its place.
    if (isRepeated) return false;
    meeting.sets.push_back(&instruction);
    return true;
  }
  if (isa<StoreInst>(instruction) || isa<AtomicRMWInst>(instruction)) {
    meeting.sets.push_back(&instruction);
    return !isRepeated;
  }
  return !instruction.mayReadOrWriteMemory() && !instruction.mayThrow();
}

std::optional<Meeting> meetingFrom(const BasicBlock& from, const DominatorTree& dominators,
                                   const LoopInfo& loops) {
  Meeting meeting;
  meeting.from = &from;
  std::vector<const BasicBlock*> todo{&from};
  while (!todo.empty()) {
    const BasicBlock* block = todo.back();
    todo.pop_back();
    if (!meeting.blocks.insert(block).second) continue;
    if (succ_empty(block) || !dominators.dominates(&from, block)) return {};
    for (const Instruction& instruction : *block)
      if (!(block == &from && &instruction == from.getFirstNonPHIOrDbg()) &&
          !take(meeting, instruction, loops))
        return {};
    for (const BasicBlock* next : successors(block)) {
      if (!beginsWithBarrier(*next)) {
        todo.push_back(next);
        continue;
      }
      if (next == &from || (meeting.to && meeting.to != next)) return {};
      meeting.to = next;
    }
  }
  const auto kindOf = [](const BasicBlock& block) { return barrierOf(*block.getFirstNonPHIOrDbg()).kind; };
  if (!meeting.to || kindOf(from) != BarrierKind::Block || kindOf(*meeting.to) != BarrierKind::Block ||
      loops.getLoopFor(&from) != loops.getLoopFor(meeting.to) || !dominators.dominates(&from, meeting.to))
    return {};
  return meeting;
}

/// The one access of the instruction, where it reaches all blocks.
std::optional<WordPlace> placeOf(const Execution& run, const Instruction& instruction, bool isStrong) {
  std::optional<WordPlace> place;
  for (const RunAccess& access : run.accesses) {
    if (access.instruction != &instruction) continue;
    const ModelAccess& a = access.access;
    const bool reaches = !isStrong || a.isVolatile || a.scope >= AtomicScope::Device;
    if (place || !reaches || !isConst(a.offset) || !isConst(a.size)) return {};
    place = {a.object, a.offset->value, a.size->value};
  }
  return place;
}

} // namespace

std::vector<Meeting> findMeetings(const llvm::Function& kernel, const DominatorTree& dominators,
                                  const LoopInfo& loops) {
  std::vector<Meeting> result;
  for (const BasicBlock& block : kernel) {
    if (!beginsWithBarrier(block)) continue;
    auto meeting = meetingFrom(block, dominators, loops);
    if (meeting && !meeting->looks.empty() &&
        std::any_of(meeting->sets.begin(), meeting->sets.end(),
                    [](const Instruction* i) { return isArrival(*i); }))
      result.push_back(std::move(*meeting));
  }
  return result;
}

bool settleMeeting(KernelState& state, Execution& run, Meeting& meeting) {
  for (const Instruction* look : meeting.looks) {
    const auto place = placeOf(run, *look, true);
    if (!place) return false;
    meeting.places[look] = *place;
  }
  for (const Instruction* set : meeting.sets) {
    const auto place = placeOf(run, *set, !isa<StoreInst>(set));
    if (!place) return false;
    meeting.places[set] = *place;
  }
  // The arrival comes before all else that is set.
  const auto isFirst = [&](const Instruction* set) {
    return isArrival(*set) &&
           std::all_of(meeting.sets.begin(), meeting.sets.end(), [&](const Instruction* other) {
             return set == other || state.dominators.dominates(set, other);
           });
  };
  const auto first = std::find_if(meeting.sets.begin(), meeting.sets.end(), isFirst);
  if (first == meeting.sets.end()) return false;
  meeting.arrival = *first;
  meeting.sets.erase(first);
  meeting.counter = meeting.places[meeting.arrival];
  for (const Instruction* set : meeting.sets) // the counter itself is nobody's then
    if (meeting.places[set] != meeting.counter && !placeOf(run, *set, true)) return false;
  const MemoryObject& counter = state.objects[meeting.counter.object];
  if (counter.space != MemorySpace::Global || counter.isUnknown) return false;
  const auto one = oneComesTo(state, run, *meeting.arrival->getParent());
  return one && isTrue(one->condition) && meeting.blocks.count(one->parting);
}

bool Meeting::passesFrom(const Instruction& first, const Instruction* end, const Test& wanted) const {
  std::vector<const Instruction*> todo{&first};
  std::set<const Instruction*> seen;
  while (!todo.empty()) {
    const Instruction* at = todo.back();
    todo.pop_back();
    while (at && at != end && !wanted(*at) && seen.insert(at).second && !at->isTerminator())
      at = at->getNextNode();
    if (at == end) return false;
    if (!at->isTerminator() || wanted(*at)) continue;
    for (const BasicBlock* next : successors(at->getParent())) {
      if (next == to && !end) return false;
      if (next != to) todo.push_back(&next->front());
    }
  }
  return true;
}

bool Meeting::passes(const Instruction& start, const Instruction* end, const Test& wanted) const {
  return passesFrom(*start.getNextNode(), end, wanted);
}

bool Meeting::passes(const BranchWay& way, const Instruction* end, const Test& wanted) const {
  return way.target() == to ? end != nullptr : passesFrom(way.target()->front(), end, wanted);
}

std::vector<BranchWay> Meeting::ways() const {
  std::vector<BranchWay> result;
  for (const BasicBlock* block : blocks) {
    auto* branch = dyn_cast<BranchInst>(block->getTerminator());
    if (!branch || !branch->isConditional() || branch->getSuccessor(0) == branch->getSuccessor(1)) continue;
    result.push_back({branch, 0});
    result.push_back({branch, 1});
  }
  return result;
}

bool Meeting::goesRound(const std::vector<BranchWay>& ways) const {
  std::vector<const BasicBlock*> todo{arrival->getParent()};
  std::set<const BasicBlock*> seen;
  while (!todo.empty()) {
    const BasicBlock* block = todo.back();
    todo.pop_back();
    if (block == to) return true;
    if (!seen.insert(block).second) continue;
    auto* branch = dyn_cast<BranchInst>(block->getTerminator());
    for (const BasicBlock* next : successors(block)) {
      const bool isTaken = std::any_of(ways.begin(), ways.end(), [&](const BranchWay& way) {
        return way.branch == branch && way.target() == next;
      });
      if (!isTaken) todo.push_back(next);
    }
  }
  return false;
}

} // namespace kcheck::analyzer
