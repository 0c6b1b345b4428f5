// Float forms of opcodes that integers and floats share.
#pragma once

#include "ptx/builder.h"

namespace kcheck::ptx {

/// add, sub, mul, fma, div, neg, abs, min, max on f16, bf16, their pairs, f32 and f64.
bool arithmeticFloat(Builder& p, const Statement& s, const Type& type);

/// Runs `body(lane's operands as values)` for each lane and writes the result.
template <typename Body>
void forLanes(Builder& p, const Statement& s, const Type& type, Rounding rounding, Body body) {
  const Type element = type.element();
  llvm::Value* all = nullptr;
  for (unsigned lane = 0; lane < type.lanes; ++lane) {
    std::vector<llvm::Value*> values;
    for (std::size_t i = 1; i < s.operands.size(); ++i) {
      llvm::Value* word = p.bits(s.operands[i], type);
      auto* part = p.b.CreateTrunc(p.b.CreateLShr(word, lane * type.bits), p.b.getIntNTy(type.bits));
      values.push_back(toValue(p.b, part, element));
    }
    auto* result = p.b.CreateZExt(toBits(p.b, body(values), element, rounding), p.b.getIntNTy(type.width()));
    auto* placed = p.b.CreateShl(result, lane * type.bits);
    all = all ? p.b.CreateOr(all, placed) : placed;
  }
  p.write(s.operands[0], all);
}

} // namespace kcheck::ptx
