#include "analyzer/model/prepare/unreachable.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace kcheck::analyzer {
namespace {

/// A block that does nothing but not to be come to; what traps does something.
bool isNeverReached(const BasicBlock& block) {
  return isa<UnreachableInst>(block.getTerminator()) && none_of(block, [](const Instruction& instruction) {
           return instruction.mayHaveSideEffects() && !isa<DbgInfoIntrinsic>(instruction);
         });
}

void goAlways(BranchInst& branch, unsigned way) {
  BasicBlock *block = branch.getParent(), *never = branch.getSuccessor(1 - way);
  IRBuilder<> builder(&branch);
  Value* holds = way == 0 ? branch.getCondition() : builder.CreateNot(branch.getCondition());
  builder.CreateAssumption(holds);
  builder.CreateBr(branch.getSuccessor(way));
  never->removePredecessor(block);
  branch.eraseFromParent();
}

bool chooseOthers(SwitchInst& choice) {
  BasicBlock* block = choice.getParent();
  bool changed = false;
  for (auto option = choice.case_begin(); option != choice.case_end();) {
    if (!isNeverReached(*option->getCaseSuccessor())) {
      ++option;
      continue;
    }
    option->getCaseSuccessor()->removePredecessor(block);
    option = choice.removeCase(option);
    changed = true;
  }
  BasicBlock* otherwise = choice.getDefaultDest();
  if (isNeverReached(*otherwise) && choice.getNumCases() > 0) { // one of the others is as good
    auto last = std::prev(choice.case_end());
    BasicBlock* next = last->getCaseSuccessor();
    choice.removeCase(last);
    otherwise->removePredecessor(block);
    choice.setDefaultDest(next);
    changed = true;
  }
  return changed;
}

} // namespace

void dropUnreachableWays(llvm::Function& kernel) {
  for (bool changed = true; changed;) {
    changed = false;
    for (BasicBlock& block : kernel) {
      Instruction* end = block.getTerminator();
      if (auto* branch = dyn_cast<BranchInst>(end)) {
        if (branch->isUnconditional()) {
          if (!isNeverReached(*branch->getSuccessor(0))) continue;
          changeToUnreachable(branch);
          changed = true;
          continue;
        }
        const bool first = isNeverReached(*branch->getSuccessor(0)),
                   second = isNeverReached(*branch->getSuccessor(1));
        if (first == second) continue;
        goAlways(*branch, first ? 1 : 0);
        changed = true;
      } else if (auto* choice = dyn_cast<SwitchInst>(end)) {
        changed = chooseOthers(*choice) || changed;
      }
    }
  }
  EliminateUnreachableBlocks(kernel);
}

} // namespace kcheck::analyzer
