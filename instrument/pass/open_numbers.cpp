// What the language leaves open and GPUs define: shifts by the width and more, conversions of floats that
// no integer holds, and division by zero. PTX clamps the distance of a shift, and a converted number to the
// type; both would be another value here, with which a program's indices and masks (`(1u << n) - 1`) go
// astray. A division by zero would end the program.
#include "instrument/pass/stages.h"
#include "ptx/division.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>

namespace kcheck::instrument {

namespace {

using Builder = llvm::IRBuilder<>;

/// Null where the distance is known.
llvm::Value* clampedShift(Builder& b, llvm::BinaryOperator& shift) {
  if (llvm::isa<llvm::Constant>(shift.getOperand(1))) return nullptr;
  llvm::Value *value = shift.getOperand(0), *distance = shift.getOperand(1);
  const std::uint64_t width = value->getType()->getScalarSizeInBits();
  auto number = [&](std::uint64_t n) { return llvm::ConstantInt::get(value->getType(), n); };
  auto* isWhole = b.CreateICmpUGE(distance, number(width));
  if (shift.getOpcode() == llvm::Instruction::AShr) // as far as the sign
    return b.CreateAShr(value, b.CreateSelect(isWhole, number(width - 1), distance));
  auto* shifted = b.CreateBinOp(shift.getOpcode(), value, b.CreateSelect(isWhole, number(0), distance));
  return b.CreateSelect(isWhole, number(0), shifted);
}

/// Null for what is no conversion from float. Narrow types are cut off from 32 bits. NaN is 0, or the sign
/// alone where either side has 64 bits.
llvm::Value* clampedConversion(Builder& b, llvm::CastInst& cast) {
  const bool isSigned = cast.getOpcode() == llvm::Instruction::FPToSI;
  if (!isSigned && cast.getOpcode() != llvm::Instruction::FPToUI) return nullptr;
  llvm::Value* value = cast.getOperand(0);
  const unsigned wanted = cast.getType()->getScalarSizeInBits();
  if (wanted > 64) return nullptr;
  const unsigned width = wanted > 32 ? 64 : 32;
  llvm::Type* word = cast.getType()->getWithNewBitWidth(width);
  llvm::Value* result =
      b.CreateIntrinsic(isSigned ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat,
                        {word, value->getType()}, {value});
  if (width == 64 || value->getType()->getScalarType()->isDoubleTy())
    result = b.CreateSelect(b.CreateFCmpUNO(value, value),
                            llvm::ConstantInt::get(word, llvm::APInt::getSignMask(width)), result);
  return b.CreateTrunc(result, cast.getType());
}

/// Null where the divisor is known.
llvm::Value* settledDivision(Builder& b, llvm::BinaryOperator& division) {
  if (!division.isIntDivRem() || division.getType()->isVectorTy() ||
      !ptx::isOpenDivision(division.getOpcode(), division.getOperand(1)))
    return nullptr;
  return ptx::divided(b, division.getOpcode(), division.getOperand(0), division.getOperand(1));
}

llvm::Value* settled(Builder& b, llvm::Instruction& instruction) {
  if (auto* cast = llvm::dyn_cast<llvm::CastInst>(&instruction)) return clampedConversion(b, *cast);
  auto& operation = llvm::cast<llvm::BinaryOperator>(instruction);
  return operation.isShift() ? clampedShift(b, operation) : settledDivision(b, operation);
}

} // namespace

void settleOpenNumbers(DeviceCode& code) {
  for (llvm::Function& function : code.module) {
    std::vector<llvm::Instruction*> open;
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (llvm::isa<llvm::BinaryOperator, llvm::CastInst>(instruction)) open.push_back(&instruction);
    for (llvm::Instruction* instruction : open) {
      Builder b(instruction);
      llvm::Value* result = settled(b, *instruction);
      if (!result) continue;
      instruction->replaceAllUsesWith(result);
      instruction->eraseFromParent();
    }
  }
}

} // namespace kcheck::instrument
