#include "instrument/pass/loop_counters.h"

#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include <set>
#include <vector>

namespace kcheck::instrument {

/// The same in every round, though it may be worked out anew: `gridDim.x * blockDim.x` stands inside its loop
/// here.
static bool isFixed(const llvm::Value* value, const llvm::Loop& loop, unsigned depth = 0) {
  constexpr unsigned kDeepest = 8;
  if (loop.isLoopInvariant(value)) return true;
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (!instruction || llvm::isa<llvm::PHINode>(instruction) || depth == kDeepest) return false;
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(instruction)) {
    const llvm::Function* callee = call->getCalledFunction();
    return callee && callee->getName().starts_with("llvm.nvvm.read.ptx.sreg.") &&
           !callee->getName().contains("clock") && !callee->getName().contains("timer");
  }
  if (instruction->mayReadOrWriteMemory()) return false;
  return llvm::all_of(instruction->operands(),
                      [&](const llvm::Use& operand) { return isFixed(operand, loop, depth + 1); });
}

bool isZero(llvm::Value* value, const llvm::DataLayout& layout) {
  auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  llvm::Constant* constant = instruction ? llvm::ConstantFoldInstruction(instruction, layout)
                                         : llvm::dyn_cast<llvm::Constant>(value);
  return constant && constant->isNullValue();
}

bool isCounter(const llvm::PHINode& phi, const llvm::Loop& loop) {
  if (phi.getParent() != loop.getHeader()) return false;
  for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
    if (!loop.contains(phi.getIncomingBlock(i))) continue;
    const llvm::Value* next = phi.getIncomingValue(i);
    if (const auto* step = llvm::dyn_cast<llvm::BinaryOperator>(next)) {
      if (step->getOperand(0) != &phi && step->getOperand(1) != &phi) return false;
      const llvm::Value* by = step->getOperand(step->getOperand(0) == &phi ? 1 : 0);
      if (!isFixed(by, loop)) return false;
      continue;
    }
    const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(next);
    if (!address || address->getPointerOperand() != &phi) return false;
  }
  return true;
}

std::set<llvm::Value*> nextValues(llvm::PHINode& number, const llvm::Loop& loop) {
  std::set<llvm::Value*> visited, result;
  std::vector<llvm::Value*> next;
  for (unsigned i = 0; i < number.getNumIncomingValues(); ++i)
    if (loop.contains(number.getIncomingBlock(i))) next.push_back(number.getIncomingValue(i));
  while (!next.empty()) {
    llvm::Value* value = next.back();
    next.pop_back();
    if (!visited.insert(value).second) continue;
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(value); phi && phi != &number)
      next.insert(next.end(), phi->op_begin(), phi->op_end());
    else if (auto* choice = llvm::dyn_cast<llvm::SelectInst>(value))
      next.insert(next.end(), {choice->getTrueValue(), choice->getFalseValue()});
    else
      result.insert(value);
  }
  return result;
}

bool mayCount(llvm::PHINode& number, const llvm::Loop& loop) {
  if (number.getParent() != loop.getHeader() || !number.getType()->isIntegerTy()) return false;
  std::set<llvm::Value*> steps = nextValues(number, loop);
  steps.erase(&number);
  return !steps.empty() && llvm::all_of(steps, [&](llvm::Value* value) {
    auto* step = llvm::dyn_cast<llvm::BinaryOperator>(value);
    return step && step->getOperand(0) == &number && isFixed(step->getOperand(1), loop);
  });
}

} // namespace kcheck::instrument
