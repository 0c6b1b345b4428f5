#include "instrument/pass/linear.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>

#include <algorithm>

namespace kcheck::instrument {

namespace {

constexpr unsigned kDeepest = 12;

class Collector {
public:
  explicit Collector(LinearAddress& result) : result(result) {}

  /// Adds scale * value, where value is extended to 64 bits as `extension` says.
  void add(const llvm::Value* value, std::uint64_t scale, unsigned extension, unsigned depth = 0) {
    if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(value)) {
      std::uint64_t wide = extension == 2 ? number->getZExtValue() : std::uint64_t(number->getSExtValue());
      result.constant = std::int64_t(std::uint64_t(result.constant) + scale * wide);
      return;
    }
    if (depth < kDeepest && lookThrough(value, scale, extension, depth + 1)) return;
    result.shape.terms.push_back({value, extension, scale});
  }

private:
  LinearAddress& result;

  bool lookThrough(const llvm::Value* value, std::uint64_t scale, unsigned extension, unsigned depth) {
    if (!extension) {
      if (const auto* cast = llvm::dyn_cast<llvm::SExtInst>(value))
        return add(cast->getOperand(0), scale, 1, depth), true;
      if (const auto* cast = llvm::dyn_cast<llvm::ZExtInst>(value))
        return add(cast->getOperand(0), scale, cast->hasNonNeg() ? 1 : 2, depth), true;
    }
    const auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(value);
    if (!operation) return false;
    const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(operation->getOperand(1));
    switch (operation->getOpcode()) {
    case llvm::Instruction::Add:
      if (!keepsSum(*operation, extension)) return false;
      break;
    case llvm::Instruction::Or:
      if (!llvm::cast<llvm::PossiblyDisjointInst>(operation)->isDisjoint() || (extension == 1 && !constant))
        return false;
      if (extension == 1 && constant->isNegative()) return false;
      break;
    case llvm::Instruction::Mul:
      if (!constant || !keepsSum(*operation, extension)) return false;
      return add(operation->getOperand(0), scale * factor(*constant, extension), extension, depth), true;
    case llvm::Instruction::Shl:
      if (!constant || constant->getZExtValue() > 31 || !keepsSum(*operation, extension)) return false;
      return add(operation->getOperand(0), scale << constant->getZExtValue(), extension, depth), true;
    default: return false;
    }
    add(operation->getOperand(0), scale, extension, depth);
    add(operation->getOperand(1), scale, extension, depth);
    return true;
  }

  static std::uint64_t factor(const llvm::ConstantInt& constant, unsigned extension) {
    return extension == 2 ? constant.getZExtValue() : std::uint64_t(constant.getSExtValue());
  }

  static bool keepsSum(const llvm::BinaryOperator& operation, unsigned extension) {
    return extension == 0 || (extension == 1 ? operation.hasNoSignedWrap() : operation.hasNoUnsignedWrap());
  }
};

} // namespace

LinearAddress linearAddress(const llvm::Value* address, const llvm::DataLayout& layout) {
  LinearAddress result;
  Collector collector(result);
  while (const auto* step = llvm::dyn_cast<llvm::GEPOperator>(address)) {
    llvm::MapVector<llvm::Value*, llvm::APInt> variable;
    llvm::APInt constant(64, 0);
    if (!step->collectOffset(layout, 64, variable, constant)) break;
    result.constant += constant.getSExtValue();
    // Indices are sign-extended to the width of a pointer.
    for (auto& [value, scale] : variable)
      collector.add(value, scale.getZExtValue(), value->getType()->getIntegerBitWidth() < 64 ? 1 : 0);
    address = step->getPointerOperand();
  }
  result.shape.base = address;
  auto& terms = result.shape.terms;
  std::sort(terms.begin(), terms.end());
  // Equal values are added up, so that x + x and 2 x have one shape.
  std::vector<AddressShape::Term> sums;
  for (const AddressShape::Term& term : terms)
    if (!sums.empty() && sums.back().value == term.value && sums.back().extension == term.extension)
      sums.back().scale += term.scale;
    else
      sums.push_back(term);
  terms = std::move(sums);
  return result;
}

} // namespace kcheck::instrument
