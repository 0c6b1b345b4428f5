// The backward slice of addresses, branch conditions, integers written and numbers copied. The rest (most
// floating-point arithmetic) needs no expressions.
#include "analyzer/model/relevance.h"
#include "analyzer/model/kernel_state.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace kcheck::analyzer {

void findRelevant(KernelState& state) {
  std::vector<const Value*> todo;
  auto need = [&](const Value* v) {
    if (isa<Instruction>(v) && state.relevant.insert(v).second) todo.push_back(v);
  };
  for (auto& instruction : instructions(state.function)) {
    if (const Value* pointer = getLoadStorePointerOperand(&instruction)) need(pointer);
    if (auto* write = dyn_cast<StoreInst>(&instruction)) {
      // Of floating-point numbers, what is copied: whether several threads copy the same one.
      const Value* written = write->getValueOperand();
      const bool isNumber = written->getType()->isFPOrFPVectorTy();
      if (!isNumber || (isa<LoadInst>(written) && !written->getType()->isVectorTy())) need(written);
    } else if (auto* update = dyn_cast<AtomicRMWInst>(&instruction)) {
      need(update->getPointerOperand());
      need(update->getValOperand());
    } else if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
      need(exchange->getPointerOperand());
    } else if (auto* branch = dyn_cast<BranchInst>(&instruction)) {
      if (branch->isConditional()) need(branch->getCondition());
    } else if (auto* choice = dyn_cast<SwitchInst>(&instruction)) {
      need(choice->getCondition());
    } else if (auto* call = dyn_cast<CallBase>(&instruction)) {
      bool isAssume = isa<AssumeInst>(call);
      for (auto& operand : call->args())
        if (isAssume || operand->getType()->isPointerTy() || operand->getType()->isIntegerTy()) need(operand);
    }
  }
  while (!todo.empty()) {
    auto* instruction = cast<Instruction>(todo.back());
    todo.pop_back();
    for (const Use& operand : instruction->operands()) need(operand);
  }
}

} // namespace kcheck::analyzer
