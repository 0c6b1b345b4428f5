// cvt between integers, floats, half and bfloat16, and cvt.pack.
#include "ptx/arithmetic.h"

#include <llvm/IR/Intrinsics.h>

namespace kcheck::ptx {

namespace {

struct Modifiers {
  std::optional<Rounding> rounding;
  bool toInteger = false; ///< rni, rzi, ...: round to an integral value
  bool saturate = false, relu = false, awayFromZero = false;
  bool finite = false; ///< what is too large becomes the largest number
  bool flush = false;
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
    } else if (word == "satfinite") {
      m.finite = true;
    } else if (word == "ftz") {
      m.flush = true;
    } else {
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

/// What a float of type `to` may be, before it is rounded; NaN stays.
llvm::Value* limited(Builder& p, llvm::Value* value, const Type& to, const Modifiers& m) {
  if (m.relu) value = rectified(p.b, value);
  if (m.saturate) value = saturated(p.b, value);
  if (!m.finite) return value;
  const double most = to.kind == Type::Kind::BFloat ? 0x1.fep127
                      : to.bits == 16               ? 65504.0
                                                    : 0x1.ffcp127; // tf32
  auto* limit = llvm::ConstantFP::get(value->getType(), most);
  auto* size = p.b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value);
  return p.b.CreateSelect(p.b.CreateFCmpOGT(size, limit),
                          p.b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, limit, value), value);
}

/// Bits of the converted value.
llvm::Value* convertOne(Builder& p, llvm::Value* source, const Type& to, const Type& from,
                        const Modifiers& m) {
  if (from.isFloat()) {
    llvm::Value* value = toValue(p.b, source, from);
    if (m.flush && from.bits == 32) value = flushed(p.b, value, from);
    if (!to.isFloat()) return floatToInteger(p, value, to, m);
    if (m.toInteger) value = toIntegral(p, value, *m.rounding);
    if (m.flush && to.bits == 32) value = flushed(p.b, value, to);
    return toBits(p.b, limited(p, value, to, m), to,
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
  return toBits(p.b, limited(p, value, to, m), to, m.rounding.value_or(Rounding::Nearest));
}

/// cvt.{rna,rn,rz}{.relu}{.satfinite}.tf32.f32: ten bits of mantissa are kept.
bool convertToTensorFloat(Builder& p, const Statement& s, const Modifiers& m) {
  if (s.type() != "f32" || s.operands.size() != 2 || m.toInteger || m.saturate || m.flush) return false;
  if (!m.awayFromZero && m.rounding != Rounding::Nearest && m.rounding != Rounding::Zero) return false;
  const Type single{Type::Kind::Float, 32, 1};
  llvm::Value* value = limited(p, p.value(s.operands[1], single), single, m);
  auto* bits = toBits(p.b, value, single);
  auto* odd = p.b.CreateAnd(p.b.CreateLShr(bits, 13), p.b.getInt32(1));
  llvm::Value* ahead = m.awayFromZero                 ? p.b.getInt32(0x1000)
                       : m.rounding == Rounding::Zero ? p.b.getInt32(0)
                                                      : p.b.CreateAdd(odd, p.b.getInt32(0xfff));
  auto* kept = p.b.CreateAnd(p.b.CreateAdd(bits, ahead), p.b.getInt32(~0x1fffu));
  p.write(s.operands[0], p.b.CreateSelect(p.b.CreateFCmpUNO(value, value), p.b.getInt32(0x7fffffff), kept));
  return true;
}

/// cvt.pack.sat.TYPE.s32{.b32} d, a, b{, c}: b, above it a, above them c's low bits.
bool pack(Builder& p, const Statement& s) {
  const bool appends = s.type() == "b32";
  if (s.opcode.size() != (appends ? 6 : 5) || s.operands.size() != (appends ? 4 : 3)) return false;
  static const std::map<std::string, Type> types = {
      {"u2", {Type::Kind::Unsigned, 2, 1}},   {"s2", {Type::Kind::Signed, 2, 1}},
      {"u4", {Type::Kind::Unsigned, 4, 1}},   {"s4", {Type::Kind::Signed, 4, 1}},
      {"u8", {Type::Kind::Unsigned, 8, 1}},   {"s8", {Type::Kind::Signed, 8, 1}},
      {"u16", {Type::Kind::Unsigned, 16, 1}}, {"s16", {Type::Kind::Signed, 16, 1}}};
  auto to = types.find(s.opcode[3]);
  if (s.opcode[2] != "sat" || to == types.end() || (to->second.bits == 16) == appends || s.opcode[4] != "s32")
    return false;
  const Type word{Type::Kind::Signed, 32, 1};
  auto part = [&](std::size_t i) {
    auto* cut = integerToInteger(p, p.bits(s.operands[i], word), to->second, word, true);
    return p.b.CreateZExt(cut, p.b.getInt32Ty());
  };
  const unsigned bits = to->second.bits;
  llvm::Value* result = p.b.CreateOr(part(2), p.b.CreateShl(part(1), bits));
  if (appends) result = p.b.CreateOr(result, p.b.CreateShl(p.bits(s.operands[3], word), 2 * bits));
  p.write(s.operands[0], result);
  return true;
}

bool convert(Builder& p, const Statement& s) {
  if (s.opcode.size() < 3) return false;
  if (s.opcode[1] == "pack") return pack(p, s);
  if (isEighths(s.type()) || isEighths(s.opcode[s.opcode.size() - 2])) return convertEighths(p, s);
  auto to = typeNamed(s.opcode[s.opcode.size() - 2]), from = typeNamed(s.type());
  Modifiers m;
  if (!to || !from || !readModifiers(s, m)) return false;
  if (s.opcode[s.opcode.size() - 2] == "tf32") return convertToTensorFloat(p, s, m);
  if (m.awayFromZero || ((m.finite || m.relu) && (!from->isFloat() || !to->isNarrowFloat()))) return false;
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
