#include "analyzer/model/made_barriers/sums.h"

#include "analyzer/model/kernel_state.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {

void Sum::add(std::vector<SumAtom> product, std::int64_t factor) {
  std::sort(product.begin(), product.end());
  const auto entry = terms.try_emplace(std::move(product), 0).first;
  entry->second = std::int64_t(std::uint64_t(entry->second) + std::uint64_t(factor));
  if (entry->second == 0) terms.erase(entry);
}

Sum Sum::plus(const Sum& other, std::int64_t factor) const {
  Sum result = *this;
  for (const auto& [product, count] : other.terms)
    result.add(product, std::int64_t(std::uint64_t(count) * std::uint64_t(factor)));
  result.inverted.insert(other.inverted.begin(), other.inverted.end());
  return result;
}

Sum Sum::times(const Sum& other) const {
  Sum result;
  result.inverted = inverted;
  result.inverted.insert(other.inverted.begin(), other.inverted.end());
  for (const auto& [product, count] : terms)
    for (const auto& [others, factor] : other.terms) {
      std::vector<SumAtom> both = product;
      both.insert(both.end(), others.begin(), others.end());
      result.add(std::move(both), std::int64_t(std::uint64_t(count) * std::uint64_t(factor)));
    }
  return result;
}

std::int64_t Sum::constant() const {
  const auto found = terms.find({});
  return found == terms.end() ? 0 : found->second;
}

SumAtom Sum::onlyAtom() const {
  SumAtom atom = nullptr;
  for (const auto& [product, count] : terms) {
    if (product.empty()) continue;
    if (atom || product.size() != 1) return nullptr;
    if (!(count == 1 && constant() == 0) && !(count == -1 && constant() == 1)) return nullptr;
    atom = product.front();
  }
  return atom;
}

Sum Sums::blocks() {
  Sum result(1);
  for (Expr extent : state.model.gridDim)
    result = result.times(isConst(extent) ? Sum(extent->value) : Sum::of(extent));
  return result;
}

bool Sums::isValue(SumAtom atom) const {
  return std::none_of(std::begin(state.model.gridDim), std::end(state.model.gridDim),
                      [&](Expr extent) { return extent == atom; });
}

Sum Sums::of(const Value* value) {
  constexpr std::size_t kMostTerms = 16;
  Sum result = compute(value);
  return result.terms.size() > kMostTerms ? Sum::of(value) : result;
}

/// `value` is `!of`.
Sum Sums::inverse(const Value* value, const Value* operand) {
  Sum known = of(operand);
  const SumAtom atom = known.onlyAtom();
  if (!atom && !(known.isConstant() && (known.constant() == 0 || known.constant() == 1)))
    return Sum::of(value);
  Sum result = Sum(1).plus(known, -1);
  if (atom) result.inverted.insert(atom);
  return result;
}

Sum Sums::compute(const Value* value) {
  using namespace PatternMatch;
  Value *a = nullptr, *b = nullptr;
  const APInt* number = nullptr;
  if (!value->getType()->isIntegerTy() || value->getType()->getIntegerBitWidth() > 64) return Sum::of(value);
  const bool isBit = value->getType()->isIntegerTy(1);
  if (auto* constant = dyn_cast<ConstantInt>(value))
    return Sum(isBit ? std::int64_t(constant->getZExtValue()) : constant->getSExtValue());
  if (auto* argument = dyn_cast<llvm::Argument>(value)) {
    Expr known = state.argumentValue(*argument);
    return isConst(known) ? Sum(known->value) : Sum::of(value);
  }
  if (auto* call = dyn_cast<IntrinsicInst>(value)) {
    const auto extent = [&](unsigned axis) {
      Expr known = state.model.gridDim[axis];
      return isConst(known) ? Sum(known->value) : Sum::of(known);
    };
    switch (call->getIntrinsicID()) {
    case Intrinsic::nvvm_read_ptx_sreg_nctaid_x: return extent(0);
    case Intrinsic::nvvm_read_ptx_sreg_nctaid_y: return extent(1);
    case Intrinsic::nvvm_read_ptx_sreg_nctaid_z: return extent(2);
    default: return Sum::of(value);
    }
  }
  if (isBit) {
    if (match(value, m_Not(m_Value(a)))) return inverse(value, a);
    if (auto* compare = dyn_cast<ICmpInst>(value); compare && compare->isEquality()) {
      if (!match(compare->getOperand(1), m_Zero())) return Sum::of(value);
      if (compare->getPredicate() == ICmpInst::ICMP_EQ) return inverse(value, compare->getOperand(0));
      const Sum known = of(compare->getOperand(0));
      const SumAtom atom = known.onlyAtom();
      if (!atom) return Sum::of(value);
      Sum result = known;
      result.inverted.insert(atom);
      return result;
    }
    if (match(value, m_Trunc(m_Value(a)))) {
      Sum result = of(a);
      const SumAtom atom = result.onlyAtom();
      if (!atom) return Sum::of(value);
      result.inverted.insert(atom);
      return result;
    }
    return Sum::of(value);
  }
  if (match(value, m_ZExt(m_Value(a)))) return of(a);
  if (match(value, m_Trunc(m_Value(a)))) // what is left of fewer bits may be another number
    return value->getType()->getIntegerBitWidth() < 32 ? Sum::of(value) : of(a);
  if (match(value, m_SExt(m_Value(a)))) return a->getType()->isIntegerTy(1) ? Sum::of(value) : of(a);
  if (match(value, m_Freeze(m_Value(a)))) return of(a);
  if (match(value, m_Add(m_Value(a), m_Value(b)))) return of(a).plus(of(b));
  if (match(value, m_Sub(m_Value(a), m_Value(b)))) return of(a).plus(of(b), -1);
  if (match(value, m_Mul(m_Value(a), m_Value(b)))) return of(a).times(of(b));
  if (match(value, m_Shl(m_Value(a), m_APInt(number))) && number->ult(31))
    return of(a).times(Sum(std::int64_t(1) << number->getZExtValue()));
  if (match(value, m_Xor(m_Value(a), m_One()))) return inverse(value, a);
  return Sum::of(value);
}

} // namespace kcheck::analyzer
