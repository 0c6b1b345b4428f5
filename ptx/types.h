// PTX's scalar types, and the conversions between them that LLVM's x86 back end does not have: half and
// bfloat16 are computed in wider formats and rounded here.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <optional>
#include <string>

namespace kcheck::ptx {

enum class Rounding { Nearest, Zero, Down, Up };

struct Type {
  enum class Kind { Bits, Unsigned, Signed, Float, BFloat, Predicate } kind = Kind::Bits;
  unsigned bits = 32; ///< of one element
  unsigned lanes = 1; ///< 2 for f16x2 and bf16x2

  bool isFloat() const { return kind == Kind::Float || kind == Kind::BFloat; }
  bool isSigned() const { return kind == Kind::Signed; }
  bool isNarrowFloat() const { return isFloat() && bits == 16; }
  unsigned width() const { return bits * lanes; } ///< of a register that holds it
  Type element() const { return {kind, bits, 1}; }
};

/// "u32", "f16x2", "b64", "pred", ...
std::optional<Type> typeNamed(const std::string& name);
std::optional<Rounding> roundingNamed(const std::string& name); ///< rn, rz, rm, rp

/// Register content (an integer of the type's width) to an LLVM value that can be computed with: float for
/// half and bfloat16, float and double, integers as they are; and back, rounded.
llvm::Value* toValue(llvm::IRBuilderBase& b, llvm::Value* bits, const Type& type);
llvm::Value* toBits(llvm::IRBuilderBase& b, llvm::Value* value, const Type& type,
                    Rounding rounding = Rounding::Nearest);

} // namespace kcheck::ptx
