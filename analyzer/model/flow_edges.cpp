#include "analyzer/model/flow_edges.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace kcheck::analyzer {

bool isNeverGone(const BasicBlock* from, const BasicBlock* to) {
  auto* branch = dyn_cast<BranchInst>(from->getTerminator());
  auto* asked = branch && branch->isConditional() ? dyn_cast<ConstantInt>(branch->getCondition()) : nullptr;
  return asked && branch->getSuccessor(asked->isZero() ? 1 : 0) != to;
}

bool changes(const Value* value, const Loop& loop, unsigned depth) {
  auto* instruction = dyn_cast<Instruction>(value);
  if (!instruction || !loop.contains(instruction)) return false;
  if (depth == 0 || isa<PHINode>(instruction) || instruction->mayReadOrWriteMemory()) return true;
  return any_of(instruction->operands(),
                [&](const Use& operand) { return changes(operand, loop, depth - 1); });
}

} // namespace kcheck::analyzer
