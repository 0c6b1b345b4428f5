// Questions about unwritten variables (track_locals.cpp) that have the answer "written" on every path cost
// nothing: they are taken out.
#include "instrument/pass/abi_calls.h"
#include "instrument/pass/shuffled_locals.h"
#include "instrument/pass/stages.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <set>

namespace kcheck::instrument {

namespace {

bool saysWritten(llvm::Value* marks, std::set<llvm::Value*>& seen);

/// Whether a question has the same answer, "written", on every path.
bool neverMissing(llvm::Value* question, std::set<llvm::Value*>& seen) {
  bool isReceived = false;
  llvm::Value* offered = offeredMissing(question, isReceived);
  if (isReceived) return !offered || neverMissing(offered, seen);
  auto* compare = llvm::dyn_cast<llvm::ICmpInst>(question);
  auto* constant = llvm::dyn_cast<llvm::ConstantInt>(question);
  return (constant && constant->isZero()) || (compare && saysWritten(compare->getOperand(0), seen));
}

/// Whether every value that may come here says "written". Cycles are taken to, until one value says
/// otherwise.
bool saysWritten(llvm::Value* marks, std::set<llvm::Value*>& seen) {
  if (auto* constant = llvm::dyn_cast<llvm::ConstantInt>(marks))
    return constant->getValue() == llvm::APInt::getSplat(constant->getBitWidth(), llvm::APInt(8, 1));
  if (!seen.insert(marks).second) return true;
  if (auto* phi = llvm::dyn_cast<llvm::PHINode>(marks))
    return llvm::all_of(phi->incoming_values(), [&](llvm::Value* value) { return saysWritten(value, seen); });
  auto* select = llvm::dyn_cast<llvm::SelectInst>(marks);
  if (select && neverMissing(select->getCondition(), seen)) return saysWritten(select->getFalseValue(), seen);
  return select && saysWritten(select->getTrueValue(), seen) && saysWritten(select->getFalseValue(), seen);
}

} // namespace

void settleUnwritten(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    if (!isCallTo(instruction, Call::kcUnwritten)) continue;
    llvm::Value* missing = llvm::cast<llvm::CallInst>(instruction).getArgOperand(1);
    std::set<llvm::Value*> seen;
    if (neverMissing(missing, seen)) instruction.eraseFromParent();
  }
}

} // namespace kcheck::instrument
