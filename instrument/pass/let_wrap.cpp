// Sums and products of `int` that leave 32 bits wrap on a GPU, whose registers have no more. To the language
// that is an error of the program's, and the optimiser takes it not to happen: it would compute indices with
// 64 bits, and the access behind a wrap would be checked at a place where no GPU has it. Small distances keep
// what the language says of them, as in nvcc's code: there they go into the address (`a[i + 1]`), and so do
// they here, where accesses at constant distances share one logged address.
#include "instrument/pass/analyses.h"
#include "instrument/pass/stages.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

namespace kcheck::instrument {

namespace {

constexpr unsigned kMostTurns = 64; ///< of a loop that is written out; its counter is a constant then
constexpr std::int64_t kFarthest = 1 << 16;

/// A small constant, or the counter of a short loop.
bool isSmallStep(llvm::Value* value, llvm::ScalarEvolution& evolution) {
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value))
    return constant->getValue().abs().ule(kFarthest);
  if (!evolution.isSCEVable(value->getType())) return false;
  const auto* counter = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution.getSCEV(value));
  if (!counter || !llvm::isa<llvm::SCEVConstant>(counter->getStart())) return false;
  const unsigned turns = evolution.getSmallConstantTripCount(counter->getLoop());
  if (turns == 0 || turns > kMostTurns) return false;
  const llvm::ConstantRange range = evolution.getSignedRange(counter);
  return range.getSignedMin().sge(-kFarthest) && range.getSignedMax().sle(kFarthest);
}

/// Whether the operation may leave its type and is one that a GPU does in 32 bits.
bool wraps(llvm::Instruction& operation, llvm::ScalarEvolution& evolution) {
  const auto* flagged = llvm::dyn_cast<llvm::OverflowingBinaryOperator>(&operation);
  if (!flagged || !(flagged->hasNoSignedWrap() || flagged->hasNoUnsignedWrap())) return false;
  const bool isSum =
      operation.getOpcode() == llvm::Instruction::Add || operation.getOpcode() == llvm::Instruction::Sub;
  return !isSum || !(isSmallStep(operation.getOperand(0), evolution) ||
                     isSmallStep(operation.getOperand(1), evolution));
}

} // namespace

void letWrap(DeviceCode& code) {
  Analyses analyses;
  for (llvm::Function& function : code.module) {
    if (function.isDeclaration()) continue;
    auto& evolution = analyses.functions.getResult<llvm::ScalarEvolutionAnalysis>(function);
    std::vector<llvm::Instruction*> wrapping; // what is asked rests on what the others still say
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (wraps(instruction, evolution)) wrapping.push_back(&instruction);
    for (llvm::Instruction* operation : wrapping) {
      operation->setHasNoSignedWrap(false);
      operation->setHasNoUnsignedWrap(false);
    }
  }
}

} // namespace kcheck::instrument
