#include "instrument/pass/address_sum.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>

#include <algorithm>
#include <optional>

namespace kcheck::instrument {

namespace {

constexpr unsigned kDeepest = 12;
constexpr std::size_t kMostTerms = 16, kMostFactors = 4;

AddressSum sumOf(llvm::Value* value, Extension extension, const llvm::DataLayout& layout, unsigned depth);

AddressSum constantSum(std::uint64_t constant) {
  AddressSum sum;
  sum.constant = std::int64_t(constant);
  return sum;
}

AddressSum plainSum(llvm::Value* value, Extension extension) {
  AddressSum sum;
  sum.terms[{{value, extension}}] = 1;
  return sum;
}

/// Nothing where the product grows out of hand.
std::optional<AddressSum> product(const AddressSum& left, const AddressSum& right) {
  if ((left.terms.size() + 1) * (right.terms.size() + 1) > kMostTerms) return std::nullopt;
  AddressSum result;
  result.add(left, std::uint64_t(right.constant));
  AddressSum rest = right;
  rest.constant = 0;
  result.add(rest, std::uint64_t(left.constant));
  for (const auto& [a, timesA] : left.terms)
    for (const auto& [b, timesB] : right.terms) {
      if (a.size() + b.size() > kMostFactors) return std::nullopt;
      AddressSum both;
      AddressProduct factors(a.size() + b.size());
      std::merge(a.begin(), a.end(), b.begin(), b.end(), factors.begin());
      both.terms[factors] = timesA * timesB;
      result.add(both);
    }
  return result;
}

/// Whether extending the operands comes to the same as extending the result.
bool keepsValue(const llvm::BinaryOperator& operation, Extension extension, const llvm::DataLayout& layout) {
  if (extension == Extension::None) return true;
  bool isSigned = extension == Extension::Sign;
  if (isSigned ? operation.hasNoSignedWrap() : operation.hasNoUnsignedWrap()) return true;
  const llvm::Value *left = operation.getOperand(0), *right = operation.getOperand(1);
  const llvm::SimplifyQuery query(layout, &operation);
  auto never = llvm::OverflowResult::NeverOverflows;
  switch (operation.getOpcode()) {
  case llvm::Instruction::Add:
    return (isSigned ? llvm::computeOverflowForSignedAdd(left, right, query)
                     : llvm::computeOverflowForUnsignedAdd(left, right, query)) == never;
  case llvm::Instruction::Sub:
    return (isSigned ? llvm::computeOverflowForSignedSub(left, right, query)
                     : llvm::computeOverflowForUnsignedSub(left, right, query)) == never;
  case llvm::Instruction::Mul:
    return (isSigned ? llvm::computeOverflowForSignedMul(left, right, query)
                     : llvm::computeOverflowForUnsignedMul(left, right, query)) == never;
  default: return false;
  }
}

std::optional<AddressSum> sumOfOperation(const llvm::BinaryOperator& operation, Extension extension,
                                         const llvm::DataLayout& layout, unsigned depth) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(operation.getOperand(1));
  auto side = [&](unsigned number) { return sumOf(operation.getOperand(number), extension, layout, depth); };
  switch (operation.getOpcode()) {
  case llvm::Instruction::Add:
  case llvm::Instruction::Sub:
  case llvm::Instruction::Mul:
    if (!keepsValue(operation, extension, layout)) return std::nullopt;
    break;
  case llvm::Instruction::Or:
    if (!llvm::cast<llvm::PossiblyDisjointInst>(operation).isDisjoint()) return std::nullopt;
    if (extension == Extension::Sign && (!constant || constant->isNegative())) return std::nullopt;
    break;
  case llvm::Instruction::Shl:
    if (!constant || constant->getZExtValue() > 31 || !keepsValue(operation, extension, layout))
      return std::nullopt;
    return product(side(0), constantSum(1ull << constant->getZExtValue()));
  default: return std::nullopt;
  }
  AddressSum left = side(0), right = side(1);
  if (operation.getOpcode() == llvm::Instruction::Mul) return product(left, right);
  left.add(right, operation.getOpcode() == llvm::Instruction::Sub ? ~0ull : 1);
  if (left.terms.size() > kMostTerms) return std::nullopt;
  return left;
}

/// Of the value extended to 64 bits.
AddressSum sumOf(llvm::Value* value, Extension extension, const llvm::DataLayout& layout, unsigned depth) {
  if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(value))
    return constantSum(extension == Extension::Zero ? number->getZExtValue()
                                                    : std::uint64_t(number->getSExtValue()));
  if (depth == kDeepest) return plainSum(value, extension);
  if (extension == Extension::None) {
    if (auto* cast = llvm::dyn_cast<llvm::SExtInst>(value))
      return sumOf(cast->getOperand(0), Extension::Sign, layout, depth + 1);
    if (auto* cast = llvm::dyn_cast<llvm::ZExtInst>(value))
      return sumOf(cast->getOperand(0), cast->hasNonNeg() ? Extension::Sign : Extension::Zero, layout,
                   depth + 1);
  }
  if (const auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(value))
    if (std::optional<AddressSum> sum = sumOfOperation(*operation, extension, layout, depth + 1)) return *sum;
  return plainSum(value, extension);
}

} // namespace

void AddressSum::add(const AddressSum& other, std::uint64_t times) {
  constant = std::int64_t(std::uint64_t(constant) + times * std::uint64_t(other.constant));
  for (const auto& [factors, coefficient] : other.terms)
    if (!(terms[factors] += times * coefficient)) terms.erase(factors);
}

AddressSum addressSum(llvm::Value* address, const llvm::DataLayout& layout) {
  AddressSum result;
  while (auto* step = llvm::dyn_cast<llvm::GEPOperator>(address)) {
    llvm::MapVector<llvm::Value*, llvm::APInt> variable;
    llvm::APInt constant(64, 0);
    if (!step->collectOffset(layout, 64, variable, constant)) break;
    result.constant += constant.getSExtValue();
    // Indices are sign-extended to the width of a pointer.
    for (auto& [value, scale] : variable)
      result.add(sumOf(value, value->getType()->getIntegerBitWidth() < 64 ? Extension::Sign : Extension::None,
                       layout, 0),
                 scale.getZExtValue());
    address = step->getPointerOperand();
  }
  result.add(plainSum(address, Extension::None));
  return result;
}

} // namespace kcheck::instrument
