#include "ptx/types.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include <cstdlib>

namespace kcheck::ptx {

std::optional<Type> typeNamed(const std::string& name) {
  using enum Type::Kind;
  if (name == "pred") return Type{Predicate, 1, 1};
  if (name == "tf32") return Type{Float, 32, 1};
  std::string rest = name;
  unsigned lanes = 1;
  if (auto at = rest.find("x2"); at != std::string::npos && at + 2 == rest.size()) {
    lanes = 2;
    rest.resize(at);
  }
  std::size_t letters = rest.find_first_of("0123456789");
  if (letters == std::string::npos || letters == 0) return std::nullopt;
  unsigned bits = unsigned(std::strtoul(rest.c_str() + letters, nullptr, 10));
  if (rest != rest.substr(0, letters) + std::to_string(bits)) return std::nullopt;
  if (bits != 1 && bits != 8 && bits != 16 && bits != 32 && bits != 64 && bits != 128) return std::nullopt;
  std::string kind = rest.substr(0, letters);
  if (kind == "u") return Type{Unsigned, bits, lanes};
  if (kind == "s") return Type{Signed, bits, lanes};
  if (kind == "b") return Type{Bits, bits, lanes};
  if (kind == "f" && bits >= 16 && bits <= 64) return Type{Float, bits, lanes};
  if (kind == "bf" && bits == 16) return Type{BFloat, bits, lanes};
  return std::nullopt;
}

std::optional<Rounding> roundingNamed(const std::string& name) {
  if (name == "rn" || name == "rni") return Rounding::Nearest;
  if (name == "rz" || name == "rzi") return Rounding::Zero;
  if (name == "rm" || name == "rmi") return Rounding::Down;
  if (name == "rp" || name == "rpi") return Rounding::Up;
  return std::nullopt;
}

namespace {

llvm::Value* widenBFloat(llvm::IRBuilderBase& b, llvm::Value* bits) {
  return b.CreateBitCast(b.CreateShl(b.CreateZExt(bits, b.getInt32Ty()), 16), b.getFloatTy());
}

/// Round to nearest, ties to even, in integer arithmetic; NaN stays a quiet NaN.
llvm::Value* nearestBFloat(llvm::IRBuilderBase& b, llvm::Value* value) {
  auto* bits = b.CreateBitCast(value, b.getInt32Ty());
  auto* odd = b.CreateAnd(b.CreateLShr(bits, 16), b.getInt32(1));
  auto* rounded = b.CreateLShr(b.CreateAdd(b.CreateAdd(bits, b.getInt32(0x7fff)), odd), 16);
  auto* chosen = b.CreateSelect(b.CreateFCmpUNO(value, value), b.getInt32(0x7fff), rounded);
  return b.CreateTrunc(chosen, b.getInt16Ty());
}

/// A float that is to be rounded once more: what is lost shows in an odd last bit.
llvm::Value* oddFloat(llvm::IRBuilderBase& b, llvm::Value* value) {
  auto* nearest = b.CreateFPTrunc(value, b.getFloatTy());
  auto* back = b.CreateFPExt(nearest, value->getType());
  auto* bits = b.CreateBitCast(nearest, b.getInt32Ty());
  auto* size = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value);
  auto* tooFar = b.CreateFCmpOGT(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back), size);
  auto* towardsZero = b.CreateSub(bits, b.CreateZExt(tooFar, b.getInt32Ty()));
  auto* odd = b.CreateOr(towardsZero, b.CreateZExt(b.CreateFCmpONE(back, value), b.getInt32Ty()));
  return b.CreateBitCast(odd, b.getFloatTy());
}

llvm::Value* widen(llvm::IRBuilderBase& b, llvm::Value* bits, const Type& type) {
  if (type.kind == Type::Kind::BFloat) return widenBFloat(b, bits);
  return b.CreateFPExt(b.CreateBitCast(bits, b.getHalfTy()), b.getFloatTy());
}

/// One unit towards or away from zero, when the nearest value lies on the wrong side of the exact one.
llvm::Value* directed(llvm::IRBuilderBase& b, llvm::Value* nearest, llvm::Value* exact, const Type& type,
                      Rounding rounding) {
  llvm::Value* back = widen(b, nearest, type);
  if (exact->getType()->isDoubleTy()) back = b.CreateFPExt(back, exact->getType());
  auto* zero = llvm::ConstantFP::get(exact->getType(), 0.0);
  auto* tooHigh = b.CreateFCmpOGT(back, exact);
  auto* tooLow = b.CreateFCmpOLT(back, exact);
  auto* negative = b.CreateFCmpOLT(exact, zero);
  auto step = [&](int by) { return b.CreateAdd(nearest, b.getInt16(std::uint16_t(by))); };
  llvm::Value* down =
      b.CreateSelect(negative, step(1), step(-1)); // in value; the bits are sign and magnitude
  llvm::Value* up = b.CreateSelect(negative, step(-1), step(1));
  switch (rounding) {
  case Rounding::Down: return b.CreateSelect(tooHigh, down, nearest);
  case Rounding::Up: return b.CreateSelect(tooLow, up, nearest);
  case Rounding::Zero: return b.CreateSelect(b.CreateSelect(negative, tooLow, tooHigh), step(-1), nearest);
  case Rounding::Nearest: break;
  }
  return nearest;
}

} // namespace

llvm::Value* toValue(llvm::IRBuilderBase& b, llvm::Value* bits, const Type& type) {
  if (!type.isFloat()) return bits;
  if (type.isNarrowFloat()) return widen(b, bits, type);
  return b.CreateBitCast(bits, type.bits == 64 ? b.getDoubleTy() : b.getFloatTy());
}

llvm::Value* toBits(llvm::IRBuilderBase& b, llvm::Value* value, const Type& type, Rounding rounding) {
  auto* integer = b.getIntNTy(type.bits);
  if (!type.isFloat()) return value;
  if (!type.isNarrowFloat()) {
    auto* wanted = type.bits == 64 ? b.getDoubleTy() : b.getFloatTy();
    return b.CreateBitCast(b.CreateFPCast(value, wanted), integer);
  }
  if (type.kind == Type::Kind::BFloat) {
    llvm::Value* narrow = value->getType()->isDoubleTy() ? oddFloat(b, value) : value;
    return directed(b, nearestBFloat(b, narrow), narrow, type, rounding);
  }
  auto* half = b.CreateBitCast(b.CreateFPTrunc(value, b.getHalfTy()), integer);
  auto* number = directed(b, half, value, type, rounding);
  return b.CreateSelect(b.CreateFCmpUNO(value, value), b.getInt16(0x7fff), number);
}

} // namespace kcheck::ptx
