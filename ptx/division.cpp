#include "ptx/division.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>

namespace kcheck::ptx {

namespace {

bool isSigned(llvm::Instruction::BinaryOps operation) {
  return operation == llvm::Instruction::SDiv || operation == llvm::Instruction::SRem;
}

/// Of 64 bits a GPU divides the low halves where both numbers fit in them.
llvm::Value* quotientByZero(llvm::IRBuilderBase& b, llvm::Value* dividend) {
  llvm::Type* type = dividend->getType();
  auto* ones = llvm::ConstantInt::getAllOnesValue(type);
  if (type->getScalarSizeInBits() != 64) return ones;
  auto* isShort = b.CreateICmpULE(dividend, llvm::ConstantInt::get(type, 0xffffffff));
  return b.CreateSelect(isShort, llvm::ConstantInt::get(type, 0xffffffff), ones);
}

} // namespace

bool isOpenDivision(llvm::Instruction::BinaryOps operation, const llvm::Value* divisor) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(divisor);
  return !constant || constant->isZero() || (isSigned(operation) && constant->isMinusOne());
}

llvm::Value* divided(llvm::IRBuilderBase& b, llvm::Instruction::BinaryOps operation, llvm::Value* dividend,
                     llvm::Value* divisor) {
  if (!isOpenDivision(operation, divisor)) return b.CreateBinOp(operation, dividend, divisor);
  const bool isRemainder = operation == llvm::Instruction::URem || operation == llvm::Instruction::SRem;
  llvm::Type* type = divisor->getType();
  auto *none = llvm::ConstantInt::get(type, 0), *one = llvm::ConstantInt::get(type, 1);
  // What has no value must be the same one in each question.
  if (!llvm::isGuaranteedNotToBeUndefOrPoison(divisor)) divisor = b.CreateFreeze(divisor);
  auto* isZero = b.CreateICmpEQ(divisor, none);
  auto* isMinusOne = b.CreateICmpEQ(divisor, llvm::ConstantInt::getAllOnesValue(type));
  auto* isOpen = isSigned(operation) ? b.CreateOr(isZero, isMinusOne) : isZero;
  auto* result = b.CreateBinOp(operation, dividend, b.CreateSelect(isOpen, one, divisor));
  if (isSigned(operation) && !isRemainder) result = b.CreateSelect(isMinusOne, b.CreateNeg(dividend), result);
  return b.CreateSelect(isZero, isRemainder ? dividend : quotientByZero(b, dividend), result);
}

} // namespace kcheck::ptx
