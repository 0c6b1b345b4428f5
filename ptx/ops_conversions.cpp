// cvt and cvt.pack's simple relatives: between integers, floats, half and bfloat16.
#include "ptx/builder.h"

#include <llvm/IR/Intrinsics.h>

namespace kcheck::ptx {

namespace {

struct Modifiers {
  std::optional<Rounding> rounding;
  bool toInteger = false; ///< rni, rzi, ...: round to an integral value
  bool saturate = false, relu = false, awayFromZero = false;
};

bool readModifiers(const Statement& s, Modifiers& m) {
  for (std::size_t i = 1; i + 2 < s.opcode.size(); ++i) {
    const std::string& word = s.opcode[i];
    if (auto rounding = roundingNamed(word)) {
      m.rounding = rounding;
      m.toInteger = word.size() == 3;
    } else if (word == "rna") {
      m.awayFromZero = true;
    } else if (word == "sat") {
      m.saturate = true;
    } else if (word == "relu") {
      m.relu = true;
    } else if (word != "ftz" && word != "satfinite") {
      return false;
    } else if (word == "satfinite") {
      return false;
    }
  }
  return true;
}

llvm::Value* toIntegral(Builder& p, llvm::Value* value, Rounding rounding) {
  namespace Intrinsic = llvm::Intrinsic;
  Intrinsic::ID id = rounding == Rounding::Nearest ? Intrinsic::roundeven
                     : rounding == Rounding::Zero  ? Intrinsic::trunc
                     : rounding == Rounding::Down  ? Intrinsic::floor
                                                   : Intrinsic::ceil;
  return p.b.CreateUnaryIntrinsic(id, value);
}

llvm::Value* floatToInteger(Builder& p, llvm::Value* value, const Type& to, const Modifiers& m) {
  value = toIntegral(p, value, m.rounding.value_or(Rounding::Zero));
  auto id = to.isSigned() ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
  return p.b.CreateIntrinsic(id, {p.b.getIntNTy(to.bits), value->getType()}, {value});
}

llvm::Value* integerToInteger(Builder& p, llvm::Value* value, const Type& to, const Type& from,
                              bool saturate) {
  unsigned wide = std::max(to.bits, from.bits) + 1;
  auto* type = p.b.getIntNTy(wide);
  llvm::Value* extended = from.isSigned() ? p.b.CreateSExt(value, type) : p.b.CreateZExt(value, type);
  if (saturate) {
    auto least = to.isSigned() ? llvm::APInt::getSignedMinValue(to.bits).sext(wide) : llvm::APInt(wide, 0);
    auto most = to.isSigned() ? llvm::APInt::getSignedMaxValue(to.bits).sext(wide)
                              : llvm::APInt::getMaxValue(to.bits).zext(wide);
    extended = p.b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, extended, p.b.getInt(least));
    extended = p.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, extended, p.b.getInt(most));
  }
  return p.b.CreateTrunc(extended, p.b.getIntNTy(to.bits));
}

llvm::Value* limited(Builder& p, llvm::Value* value, const Modifiers& m) {
  auto* zero = llvm::ConstantFP::get(value->getType(), 0.0);
  if (m.saturate || m.relu) value = p.b.CreateBinaryIntrinsic(llvm::Intrinsic::maxnum, value, zero);
  if (m.saturate)
    value = p.b.CreateBinaryIntrinsic(llvm::Intrinsic::minnum, value,
                                      llvm::ConstantFP::get(value->getType(), 1.0));
  return value;
}

/// Bits of the converted value.
llvm::Value* convertOne(Builder& p, llvm::Value* source, const Type& to, const Type& from,
                        const Modifiers& m) {
  if (from.isFloat()) {
    llvm::Value* value = toValue(p.b, source, from);
    if (!to.isFloat()) return floatToInteger(p, value, to, m);
    if (m.toInteger) value = toIntegral(p, value, *m.rounding);
    return toBits(p.b, limited(p, value, m), to,
                  m.toInteger ? Rounding::Nearest : m.rounding.value_or(Rounding::Nearest));
  }
  if (!to.isFloat()) return integerToInteger(p, source, to, from, m.saturate);
  if (to.bits >= 32 && m.rounding.value_or(Rounding::Nearest) != Rounding::Nearest) {
    // The library has the directed forms: __nv_int2float_rd and so on, from 32 or 64 bits.
    static const char* const names[] = {"rn", "rz", "rd", "ru"};
    bool wide = from.bits == 64;
    auto* type = p.b.getIntNTy(wide ? 64 : 32);
    llvm::Value* widened = from.isSigned() ? p.b.CreateSExt(source, type) : p.b.CreateZExt(source, type);
    std::string name = std::string("__nv_") + (from.isSigned() ? "" : "u") + (wide ? "ll" : "int") + "2" +
                       (to.bits == 64 ? "double_" : "float_") +
                       (to.bits == 64 && !wide ? "rn" : names[unsigned(*m.rounding)]);
    return toBits(p.b, p.library(name, to.bits == 64 ? p.b.getDoubleTy() : p.b.getFloatTy(), {widened}), to);
  }
  llvm::Type* through = to.bits == 32 ? p.b.getFloatTy() : p.b.getDoubleTy();
  llvm::Value* value =
      from.isSigned() ? p.b.CreateSIToFP(source, through) : p.b.CreateUIToFP(source, through);
  return toBits(p.b, limited(p, value, m), to, m.rounding.value_or(Rounding::Nearest));
}

bool convert(Builder& p, const Statement& s) {
  if (s.opcode.size() < 3) return false;
  auto to = typeNamed(s.opcode[s.opcode.size() - 2]), from = typeNamed(s.type());
  Modifiers m;
  if (!to || !from || !readModifiers(s, m)) return false;
  if (m.awayFromZero) { // cvt.rna.tf32.f32: ten bits of mantissa are kept
    if (s.opcode[s.opcode.size() - 2] != "tf32") return false;
    auto* bits = p.bits(s.operands[1], *from);
    p.write(s.operands[0], p.b.CreateAnd(p.b.CreateAdd(bits, p.b.getInt32(0x1000)), p.b.getInt32(~0x1fffu)));
    return true;
  }
  if (s.opcode[s.opcode.size() - 2] == "tf32") return false;
  if (to->lanes == 2) { // d = {high: a, low: b}
    if (s.operands.size() != 3 || from->lanes != 1) return false;
    auto* high = convertOne(p, p.bits(s.operands[1], *from), to->element(), *from, m);
    auto* low = convertOne(p, p.bits(s.operands[2], *from), to->element(), *from, m);
    p.write(s.operands[0], p.b.CreateOr(p.b.CreateShl(p.b.CreateZExt(high, p.b.getInt32Ty()), 16),
                                        p.b.CreateZExt(low, p.b.getInt32Ty())));
    return true;
  }
  if (s.operands.size() != 2 || from->lanes != 1) return false;
  p.write(s.operands[0], convertOne(p, p.bits(s.operands[1], *from), *to, *from, m), to->isSigned());
  return true;
}

} // namespace

void addConversions(Rules& rules) { rules["cvt"] = convert; }

} // namespace kcheck::ptx
