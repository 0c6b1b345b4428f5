// The backward slice of addresses, branch conditions, integers written and numbers that short formulas give.
// The rest (sums of loops, matrices) needs no expressions.
#include "analyzer/model/relevance.h"
#include "analyzer/model/kernel_state.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace kcheck::analyzer {

namespace {

bool isArithmetic(const CallBase& call) {
  const llvm::Function* callee = call.getCalledFunction();
  const bool isOfMathLibrary = callee && callee->getName().starts_with("__nv_");
  return call.doesNotAccessMemory() || (isOfMathLibrary && none_of(call.args(), [](const Use& one) {
                                          return one->getType()->isPointerTy();
                                        }));
}

/// Few instructions, each a function of the ones before it, between what is loaded and a number: that of two
/// threads is the same where what they begin from is.
bool isShortFormula(const Value* number, const LoopInfo& loops) {
  constexpr std::size_t kMost = 32;
  SmallPtrSet<const Value*, 16> seen;
  std::vector<const Value*> open{number};
  while (!open.empty()) {
    auto* instruction = dyn_cast<Instruction>(open.back());
    open.pop_back();
    if (!instruction || !instruction->getType()->isFPOrFPVectorTy() || !seen.insert(instruction).second)
      continue;
    if (seen.size() > kMost || instruction->getType()->isVectorTy()) return false;
    if (isa<LoadInst>(instruction)) continue;
    if (isa<PHINode>(instruction) && loops.isLoopHeader(instruction->getParent())) return false;
    if (auto* call = dyn_cast<CallBase>(instruction); call && !isArithmetic(*call)) return false;
    open.insert(open.end(), instruction->op_begin(), instruction->op_end());
  }
  return true;
}

} // namespace

void findRelevant(KernelState& state) {
  std::vector<const Value*> todo;
  auto need = [&](const Value* v) {
    if (isa<Instruction>(v) && state.relevant.insert(v).second) todo.push_back(v);
  };
  for (auto& instruction : instructions(state.function)) {
    if (const Value* pointer = getLoadStorePointerOperand(&instruction)) need(pointer);
    if (auto* write = dyn_cast<StoreInst>(&instruction)) {
      const Value* written = write->getValueOperand();
      if (!written->getType()->isFPOrFPVectorTy() || isShortFormula(written, state.loopInfo)) need(written);
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
