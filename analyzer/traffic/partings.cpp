#include "analyzer/traffic/partings.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/IntrinsicInst.h"

#include <set>
#include <vector>

namespace kcheck::analyzer {
namespace {

bool hasWarpOperations(const llvm::Function& kernel) {
  for (const llvm::Instruction& instruction : llvm::instructions(kernel)) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    if (!call) continue;
    if (call->isInlineAsm()) return true;
    const llvm::Function* callee = call->getCalledFunction();
    const llvm::StringRef name = callee ? callee->getName() : "";
    for (const char* kind : {"shfl", "vote", "match", "redux", "bar.warp", "activemask"})
      if (name.starts_with("llvm.nvvm.") && name.contains(kind)) return true;
  }
  return false;
}

/// Whether the value is computed from what memory holds.
bool followsMemory(const llvm::Value& value) {
  std::vector<const llvm::Value*> open{&value};
  std::set<const llvm::Value*> seen;
  while (!open.empty()) {
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(open.back());
    open.pop_back();
    if (!instruction || !seen.insert(instruction).second) continue;
    if (instruction->mayReadFromMemory()) return true;
    if (llvm::isa<llvm::CallBase>(instruction) && !llvm::isa<llvm::IntrinsicInst>(instruction)) return true;
    for (const llvm::Value* operand : instruction->operands()) open.push_back(operand);
  }
  return false;
}

bool memoryDecidesRounds(const llvm::Function& kernel) {
  const llvm::DominatorTree dominators(const_cast<llvm::Function&>(kernel));
  const llvm::LoopInfo loops(dominators);
  for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
    llvm::SmallVector<llvm::BasicBlock*, 4> exiting;
    loop->getExitingBlocks(exiting);
    for (const llvm::BasicBlock* block : exiting)
      for (const llvm::Value* operand : block->getTerminator()->operands())
        if (followsMemory(*operand)) return true;
  }
  return false;
}

} // namespace

bool lanesMayPart(const llvm::Function& kernel) {
  return hasWarpOperations(kernel) || memoryDecidesRounds(kernel);
}

} // namespace kcheck::analyzer
