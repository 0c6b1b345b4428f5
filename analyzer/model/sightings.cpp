#include "analyzer/model/sightings.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;

namespace kcheck::analyzer {
namespace {

bool leavesAsItIs(const AtomicRMWInst& update) {
  using namespace PatternMatch;
  switch (update.getOperation()) {
  case AtomicRMWInst::Add:
  case AtomicRMWInst::Sub:
  case AtomicRMWInst::Or:
  case AtomicRMWInst::Xor:
  case AtomicRMWInst::UMax: return match(update.getValOperand(), m_Zero());
  case AtomicRMWInst::And: return match(update.getValOperand(), m_AllOnes());
  default: return false;
  }
}

/// Whether the value is computed, of this round, from what the look has found.
bool follows(const Value* v, const Instruction& look, unsigned depth = 8) {
  if (v == &look) return true;
  auto* instruction = dyn_cast<Instruction>(v);
  const bool computes = instruction && (isa<CmpInst>(instruction) || isa<CastInst>(instruction) ||
                                        isa<BinaryOperator>(instruction) || isa<SelectInst>(instruction) ||
                                        isa<ExtractValueInst>(instruction));
  return computes && depth > 0 && any_of(instruction->operands(), [&](const Use& operand) {
           return follows(operand, look, depth - 1);
         });
}

const Loop* waitsThere(const BranchInst& branch, unsigned way, const LoopInfo& loops) {
  const Loop* loop = loops.getLoopFor(branch.getParent());
  return loop && loop->getExitingBlock() == branch.getParent() && !loop->contains(branch.getSuccessor(way)) &&
                 loop->getLoopPreheader()
             ? loop
             : nullptr;
}

} // namespace

const Value* lookedAt(const Instruction& instruction) {
  if (auto* load = dyn_cast<LoadInst>(&instruction))
    return load->isVolatile() || load->isAtomic() ? load->getPointerOperand() : nullptr;
  if (auto* update = dyn_cast<AtomicRMWInst>(&instruction))
    return leavesAsItIs(*update) ? update->getPointerOperand() : nullptr;
  auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction);
  return exchange && exchange->getCompareOperand() == exchange->getNewValOperand()
             ? exchange->getPointerOperand()
             : nullptr;
}

const BasicBlock* Sighting::target() const { return branch->getSuccessor(way); }

Sightings::Sightings(const Function& kernel, const LoopInfo& loops, const DominatorTree& dominators)
    : dominators(dominators) {
  for (const Instruction& look : instructions(kernel)) {
    const Value* pointer = lookedAt(look);
    if (!pointer) continue;
    for (const BasicBlock& block : kernel) {
      auto* branch = dyn_cast<BranchInst>(block.getTerminator());
      if (!branch || !branch->isConditional() || branch->getSuccessor(0) == branch->getSuccessor(1) ||
          loops.getLoopFor(&block) != loops.getLoopFor(look.getParent()) ||
          !dominators.dominates(&look, branch) || !follows(branch->getCondition(), look))
        continue;
      for (unsigned way : {0u, 1u})
        found.push_back({&look, pointer, branch, way, waitsThere(*branch, way, loops)});
    }
  }
}

bool Sightings::isBehind(const BasicBlock* block, const Sighting& sighting) const {
  return dominators.dominates(BasicBlockEdge(sighting.branch->getParent(), sighting.target()), block);
}

} // namespace kcheck::analyzer
