// Arithmetic that several rules share: float forms of opcodes that integers have as well, and the search for
// bits.
#pragma once

#include "ptx/builder.h"

namespace kcheck::ptx {

/// add, sub, mul, fma, div, neg, abs, min, max on f16, bf16, their pairs, f32 and f64.
bool arithmeticFloat(Builder& p, const Statement& s, const Type& type);

/// e4m3x2 and e5m2x2; cvt to or from them.
bool isEighths(const std::string& type);
bool convertEighths(Builder& p, const Statement& s);

/// fns: the place of the `offset`th bit of `mask` that is set, counted from `base` on, upwards or downwards;
/// all ones when there is none.
llvm::Value* nthSetBit(llvm::IRBuilder<>& b, llvm::Value* mask, llvm::Value* base, llvm::Value* offset);

/// `.ftz`: subnormal halves, bfloat16 and floats as zeros of their sign; values are those of toValue.
llvm::Value* flushed(llvm::IRBuilderBase& b, llvm::Value* value, const Type& type);
/// `.relu`: what is below zero as zero; NaN stays.
llvm::Value* rectified(llvm::IRBuilderBase& b, llvm::Value* value);
/// `.sat`: within 0 and 1; NaN becomes 0.
llvm::Value* saturated(llvm::IRBuilderBase& b, llvm::Value* value);

/// Runs `body(lane's operands as values)` for each lane and writes the result.
template <typename Body>
void forLanes(Builder& p, const Statement& s, const Type& type, Rounding rounding, Body body) {
  const Type element = type.element();
  llvm::Value* all = nullptr;
  for (unsigned lane = 0; lane < type.lanes; ++lane) {
    const bool flushes = s.has("ftz");
    std::vector<llvm::Value*> values;
    for (std::size_t i = 1; i < s.operands.size(); ++i) {
      llvm::Value* word = p.bits(s.operands[i], type);
      auto* part = p.b.CreateTrunc(p.b.CreateLShr(word, lane * type.bits), p.b.getIntNTy(type.bits));
      llvm::Value* value = toValue(p.b, part, element);
      values.push_back(flushes ? flushed(p.b, value, element) : value);
    }
    llvm::Value* computed = body(values);
    if (flushes) computed = flushed(p.b, computed, element);
    auto* result = p.b.CreateZExt(toBits(p.b, computed, element, rounding), p.b.getIntNTy(type.width()));
    auto* placed = p.b.CreateShl(result, lane * type.bits);
    all = all ? p.b.CreateOr(all, placed) : placed;
  }
  p.write(s.operands[0], all);
}

} // namespace kcheck::ptx
