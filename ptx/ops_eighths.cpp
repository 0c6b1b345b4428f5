// cvt between pairs of eight-bit floats (e4m3x2, e5m2x2) and floats or pairs of halves.
#include "ptx/arithmetic.h"

#include <llvm/IR/Intrinsics.h>

namespace kcheck::ptx {

namespace {

namespace in = llvm::Intrinsic;

struct Format {
  int mantissa, least; ///< bits; exponent of the smallest normal number
  float most;
};

std::optional<Format> formatNamed(const std::string& name) {
  if (name == "e4m3x2") return Format{3, -6, 448};
  if (name == "e5m2x2") return Format{2, -14, 57344};
  return std::nullopt;
}

/// Eight bits of a float: rounded to nearest, at most the largest number.
llvm::Value* narrowed(llvm::IRBuilder<>& b, llvm::Value* value, const Format& format) {
  auto constant = [&](double number) { return llvm::ConstantFP::get(b.getFloatTy(), number); };
  auto* size =
      b.CreateBinaryIntrinsic(in::minnum, b.CreateUnaryIntrinsic(in::fabs, value), constant(format.most));
  auto* exponent = b.CreateSub(b.CreateLShr(b.CreateBitCast(size, b.getInt32Ty()), 23), b.getInt32(127));
  auto* least = b.getInt32(std::uint32_t(format.least));
  exponent = b.CreateBinaryIntrinsic(in::smax, exponent, least);
  // The number in units of its last place, which may carry into the exponent above.
  auto* scale = b.CreateShl(b.CreateSub(b.getInt32(127 + std::uint32_t(format.mantissa)), exponent), 23);
  auto* units =
      b.CreateUnaryIntrinsic(in::roundeven, b.CreateFMul(size, b.CreateBitCast(scale, b.getFloatTy())));
  auto* above = b.CreateShl(b.CreateSub(exponent, least), std::uint64_t(format.mantissa));
  auto* bits = b.CreateAdd(above, b.CreateFPToUI(units, b.getInt32Ty()));
  bits = b.CreateSelect(b.CreateFCmpUNO(value, value), b.getInt32(0x7f), bits);
  auto* sign = b.CreateAnd(b.CreateLShr(b.CreateBitCast(value, b.getInt32Ty()), 24), b.getInt32(0x80));
  sign = b.CreateSelect(b.CreateFCmpUNO(value, value), b.getInt32(0), sign);
  return b.CreateTrunc(b.CreateOr(bits, sign), b.getInt8Ty());
}

/// The half that eight bits stand for.
llvm::Value* widened(llvm::IRBuilder<>& b, llvm::Value* bits, const Format& format) {
  auto* wide = b.CreateZExt(bits, b.getInt16Ty());
  if (format.mantissa == 2) return b.CreateShl(wide, 8);
  auto* sign = b.CreateShl(b.CreateAnd(wide, b.getInt16(0x80)), 8);
  auto* size = b.CreateAnd(wide, b.getInt16(0x7f));
  auto* normal = b.CreateAdd(b.CreateShl(size, 7), b.getInt16((15 - 7) << 10));
  const Type half{Type::Kind::Float, 16, 1};
  auto* units =
      b.CreateFMul(b.CreateUIToFP(size, b.getFloatTy()), llvm::ConstantFP::get(b.getFloatTy(), 0x1p-9));
  auto* chosen = b.CreateSelect(b.CreateICmpULT(size, b.getInt16(8)), toBits(b, units, half), normal);
  chosen = b.CreateSelect(b.CreateICmpEQ(size, b.getInt16(0x7f)), b.getInt16(0x7fff), chosen);
  return b.CreateOr(chosen, sign);
}

} // namespace

bool isEighths(const std::string& type) { return formatNamed(type).has_value(); }

bool convertEighths(Builder& p, const Statement& s) {
  llvm::IRBuilder<>& b = p.b;
  const std::string &toName = s.opcode[s.opcode.size() - 2], &fromName = s.type();
  const Type pair{Type::Kind::Float, 16, 2}, half = pair.element(), single{Type::Kind::Float, 32, 1};
  const Type eighths{Type::Kind::Bits, 8, 2};
  for (std::size_t i = 1; i + 2 < s.opcode.size(); ++i)
    if (s.opcode[i] != "rn" && s.opcode[i] != "relu" && s.opcode[i] != "satfinite") return false;
  auto part = [&](llvm::Value* word, unsigned i, unsigned bits) {
    return b.CreateTrunc(b.CreateLShr(word, i * bits), b.getIntNTy(bits));
  };
  llvm::Value* result = nullptr;
  auto place = [&](llvm::Value* value, unsigned i, unsigned bits) {
    auto* moved = b.CreateShl(b.CreateZExt(value, b.getInt32Ty()), i * bits);
    result = result ? b.CreateOr(result, moved) : moved;
  };
  if (auto from = formatNamed(fromName)) {
    if (toName != "f16x2" || s.operands.size() != 2 || s.has("satfinite")) return false;
    auto* word = p.bits(s.operands[1], eighths);
    for (unsigned i : {0, 1}) {
      auto* wide = widened(b, part(word, i, 8), *from);
      place(s.has("relu") ? toBits(b, rectified(b, toValue(b, wide, half)), half) : wide, i, 16);
    }
    p.write(s.operands[0], result);
    return true;
  }
  const Format to = *formatNamed(toName);
  const bool isPair = fromName == "f16x2";
  if ((!isPair && fromName != "f32") || s.operands.size() != (isPair ? 2 : 3) || !s.has("satfinite"))
    return false;
  for (unsigned i : {0, 1}) { // the first operand is the upper one
    auto* value = isPair ? toValue(b, part(p.bits(s.operands[1], pair), i, 16), half)
                         : p.value(s.operands[2 - i], single);
    place(narrowed(b, s.has("relu") ? rectified(b, value) : value, to), i, 8);
  }
  p.write(s.operands[0], b.CreateTrunc(result, b.getInt16Ty()));
  return true;
}

} // namespace kcheck::ptx
