// Arithmetic: integers here, floats through arithmeticFloat (ops_floats.cpp), which shares the opcodes.
#include "ptx/arithmetic.h"
#include "ptx/division.h"

#include <llvm/IR/Intrinsics.h>

namespace kcheck::ptx {

namespace {

llvm::Value* extend(Builder& p, llvm::Value* value, const Type& type, unsigned bits) {
  auto* wide = p.b.getIntNTy(bits);
  return type.isSigned() ? p.b.CreateSExt(value, wide) : p.b.CreateZExt(value, wide);
}

/// `body` of each lane of two operands, put together again.
template <typename Body> llvm::Value* byLanes(Builder& p, const Statement& s, const Type& type, Body body) {
  llvm::Value *x = p.bits(s.operands[1], type), *y = p.bits(s.operands[2], type);
  if (type.lanes == 1) return body(x, y);
  auto* lane = p.b.getIntNTy(type.bits);
  llvm::Value* all = llvm::ConstantInt::get(x->getType(), 0);
  for (unsigned at = 0; at < type.width(); at += type.bits) {
    auto part = [&](llvm::Value* whole) { return p.b.CreateTrunc(p.b.CreateLShr(whole, at), lane); };
    auto* result = p.b.CreateZExt(body(part(x), part(y)), x->getType());
    all = p.b.CreateOr(all, p.b.CreateShl(result, at));
  }
  return all;
}

/// x + y or x - y, with the thread's carry (a borrow, when subtracted) as the opcode says.
llvm::Value* carried(Builder& p, llvm::Value* x, llvm::Value* y, bool subtract, bool takes, bool gives) {
  llvm::IRBuilder<>& b = p.b;
  llvm::Value* result = subtract ? b.CreateSub(x, y) : b.CreateAdd(x, y);
  if (!takes && !gives) return result;
  llvm::Value* over = subtract ? b.CreateICmpULT(x, y) : b.CreateICmpULT(result, x);
  if (takes) {
    auto* carry = b.CreateZExt(p.target.carry(b), x->getType());
    auto* without = result;
    result = subtract ? b.CreateSub(without, carry) : b.CreateAdd(without, carry);
    over = b.CreateOr(over, subtract ? b.CreateICmpULT(without, carry) : b.CreateICmpULT(result, without));
  }
  if (gives) p.target.setCarry(b, over);
  return result;
}

bool addOrSubtract(Builder& p, const Statement& s, bool subtract, bool takesCarry) {
  auto type = typeNamed(s.type());
  if (!type || s.operands.size() != 3) return false;
  if (type->isFloat()) return arithmeticFloat(p, s, *type);
  if (type->lanes != 1) {
    if (subtract || takesCarry || s.has("cc") || s.has("sat")) return false;
    auto sum = [&](llvm::Value* x, llvm::Value* y) { return p.b.CreateAdd(x, y); };
    p.write(s.operands[0], byLanes(p, s, *type, sum));
    return true;
  }
  llvm::Value *x = p.bits(s.operands[1], *type), *y = p.bits(s.operands[2], *type);
  bool givesCarry = s.has("cc");
  if (s.has("sat")) {
    if (!type->isSigned()) return false;
    p.write(s.operands[0], p.b.CreateBinaryIntrinsic(
                               subtract ? llvm::Intrinsic::ssub_sat : llvm::Intrinsic::sadd_sat, x, y));
    return true;
  }
  p.write(s.operands[0], carried(p, x, y, subtract, takesCarry, givesCarry), type->isSigned());
  return true;
}

bool add(Builder& p, const Statement& s) { return addOrSubtract(p, s, false, false); }
bool subtract(Builder& p, const Statement& s) { return addOrSubtract(p, s, true, false); }
bool addCarry(Builder& p, const Statement& s) { return addOrSubtract(p, s, false, true); }
bool subtractBorrow(Builder& p, const Statement& s) { return addOrSubtract(p, s, true, true); }

/// mul and mad in their .lo, .hi and .wide forms; the product as bits of the result's width.
llvm::Value* product(Builder& p, const Statement& s, const Type& type, unsigned& width) {
  auto* x = extend(p, p.bits(s.operands[1], type), type, 2 * type.bits);
  auto* y = extend(p, p.bits(s.operands[2], type), type, 2 * type.bits);
  auto* full = p.b.CreateMul(x, y);
  width = s.has("wide") ? 2 * type.bits : type.bits;
  if (s.has("hi")) full = p.b.CreateLShr(full, type.bits);
  return p.b.CreateTrunc(full, p.b.getIntNTy(width));
}

bool multiply(Builder& p, const Statement& s) {
  auto type = typeNamed(s.type());
  if (!type || s.operands.size() != 3) return false;
  if (type->isFloat()) return arithmeticFloat(p, s, *type);
  unsigned width = 0;
  p.write(s.operands[0], product(p, s, *type, width), type->isSigned());
  return true;
}

/// Clamps to what 32 bits with a sign hold.
llvm::Value* addSaturated(Builder& p, llvm::Value* x, llvm::Value* y) {
  return p.b.CreateBinaryIntrinsic(llvm::Intrinsic::sadd_sat, x, y);
}

/// mad{c}{.hi,.lo,.wide}{.cc,.sat}.TYPE d, a, b, c
bool multiplyAdd(Builder& p, const Statement& s) {
  auto type = typeNamed(s.type());
  if (!type || s.operands.size() != 4) return false;
  const bool takesCarry = s.opcode[0] == "madc", givesCarry = s.has("cc");
  if (type->isFloat()) return !takesCarry && !givesCarry && arithmeticFloat(p, s, *type);
  if (s.opcode[0] == "fma" || type->lanes != 1) return false;
  unsigned width = 0;
  auto* high = product(p, s, *type, width);
  auto* addend = p.bits(s.operands[3], {type->kind, width, 1});
  if (takesCarry || givesCarry) {
    if (s.has("wide") || s.has("sat") || type->bits < 32) return false;
    p.write(s.operands[0], carried(p, high, addend, false, takesCarry, givesCarry), type->isSigned());
    return true;
  }
  if (s.has("sat") && (!s.has("hi") || !type->isSigned() || type->bits != 32)) return false;
  p.write(s.operands[0], s.has("sat") ? addSaturated(p, high, addend) : p.b.CreateAdd(high, addend),
          type->isSigned());
  return true;
}

/// mul24{.hi,.lo} and mad24{.hi,.lo}{.sat}: 32 of the 48 bits that the low 24 bits of the factors give.
bool multiply24(Builder& p, const Statement& s) {
  auto type = typeNamed(s.type());
  const bool adds = s.opcode[0] == "mad24";
  if (!type || type->bits != 32 || type->isFloat() || s.operands.size() != (adds ? 4 : 3)) return false;
  if (s.has("sat") && (!adds || !s.has("hi") || !type->isSigned())) return false;
  auto cut = [&](const Operand& operand) {
    auto* high = p.b.CreateShl(p.bits(operand, *type), 8);
    return extend(p, type->isSigned() ? p.b.CreateAShr(high, 8) : p.b.CreateLShr(high, 8), *type, 64);
  };
  auto* full = p.b.CreateMul(cut(s.operands[1]), cut(s.operands[2]));
  llvm::Value* result = p.b.CreateTrunc(s.has("hi") ? p.b.CreateLShr(full, 16) : full, p.b.getInt32Ty());
  if (adds) {
    auto* addend = p.bits(s.operands[3], *type);
    result = s.has("sat") ? addSaturated(p, result, addend) : p.b.CreateAdd(result, addend);
  }
  p.write(s.operands[0], result, type->isSigned());
  return true;
}

bool divide(Builder& p, const Statement& s) {
  using llvm::Instruction;
  auto type = typeNamed(s.type());
  if (!type || s.operands.size() != 3) return false;
  if (type->isFloat()) return arithmeticFloat(p, s, *type);
  const auto operation = s.opcode[0] == "rem" ? (type->isSigned() ? Instruction::SRem : Instruction::URem)
                                              : (type->isSigned() ? Instruction::SDiv : Instruction::UDiv);
  llvm::Value* divisor = p.bits(s.operands[2], *type);
  llvm::Value* result = divided(p.b, operation, p.bits(s.operands[1], *type), divisor);
  if (s.opcode[0] == "rem") // alone; what compilers make of `%` beside `/` gives the dividend
    result = p.b.CreateSelect(p.b.CreateIsNull(divisor), llvm::Constant::getAllOnesValue(result->getType()),
                              result);
  p.write(s.operands[0], result, type->isSigned());
  return true;
}

bool unary(Builder& p, const Statement& s) {
  auto type = typeNamed(s.type());
  if (!type || s.operands.size() != 2) return false;
  if (type->isFloat()) return arithmeticFloat(p, s, *type);
  auto* x = p.bits(s.operands[1], *type);
  p.write(s.operands[0],
          s.opcode[0] == "neg" ? p.b.CreateNeg(x)
                               : p.b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, p.b.getFalse()),
          type->isSigned());
  return true;
}

bool minimumOrMaximum(Builder& p, const Statement& s) {
  auto type = typeNamed(s.type());
  if (!type || s.operands.size() < 3) return false;
  if (type->isFloat()) return arithmeticFloat(p, s, *type);
  if (s.operands.size() != 3 || (s.has("relu") && !type->isSigned())) return false;
  bool isMin = s.opcode[0] == "min";
  auto id = type->isSigned() ? (isMin ? llvm::Intrinsic::smin : llvm::Intrinsic::smax)
                             : (isMin ? llvm::Intrinsic::umin : llvm::Intrinsic::umax);
  auto chosen = [&](llvm::Value* x, llvm::Value* y) -> llvm::Value* {
    auto* one = p.b.CreateBinaryIntrinsic(id, x, y);
    return s.has("relu") ? p.b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, one,
                                                     llvm::ConstantInt::get(one->getType(), 0))
                         : one;
  };
  p.write(s.operands[0], byLanes(p, s, *type, chosen), type->isSigned() && type->lanes == 1);
  return true;
}

/// sad d, a, b, c: c + |a - b|
bool absoluteDifference(Builder& p, const Statement& s) {
  auto type = typeNamed(s.type());
  if (!type || s.operands.size() != 4) return false;
  llvm::Value *x = p.bits(s.operands[1], *type), *y = p.bits(s.operands[2], *type);
  auto* less = type->isSigned() ? p.b.CreateICmpSLT(x, y) : p.b.CreateICmpULT(x, y);
  auto* difference = p.b.CreateSelect(less, p.b.CreateSub(y, x), p.b.CreateSub(x, y));
  p.write(s.operands[0], p.b.CreateAdd(difference, p.bits(s.operands[3], *type)), type->isSigned());
  return true;
}

/// dp4a.TYPE.TYPE and dp2a.{lo,hi}.TYPE.TYPE d, a, b, c
bool dotProduct(Builder& p, const Statement& s) {
  if (s.opcode.size() < 3 || s.operands.size() != 4) return false;
  auto left = typeNamed(s.opcode[s.opcode.size() - 2]), right = typeNamed(s.type());
  if (!left || !right) return false;
  bool isFour = s.opcode[0] == "dp4a";
  auto* a = p.bits(s.operands[1], *left);
  auto* b = p.bits(s.operands[2], *right);
  llvm::Value* sum = p.bits(s.operands[3], *left);
  auto lane = [&](llvm::Value* word, unsigned at, unsigned bits, const Type& type) {
    auto* part = p.b.CreateTrunc(p.b.CreateLShr(word, at), p.b.getIntNTy(bits));
    return extend(p, part, type, 32);
  };
  for (unsigned i = 0; i < (isFour ? 4 : 2); ++i) {
    unsigned byte = isFour ? i : i + (s.has("hi") ? 2 : 0);
    sum = p.b.CreateAdd(sum, p.b.CreateMul(lane(a, i * (isFour ? 8 : 16), isFour ? 8 : 16, *left),
                                           lane(b, byte * 8, 8, *right)));
  }
  p.write(s.operands[0], sum);
  return true;
}

} // namespace

void addIntegers(Rules& rules) {
  rules["add"] = add;
  rules["sub"] = subtract;
  rules["addc"] = addCarry;
  rules["subc"] = subtractBorrow;
  rules["mul"] = multiply;
  rules["mad"] = rules["madc"] = multiplyAdd;
  rules["fma"] = multiplyAdd;
  rules["mul24"] = rules["mad24"] = multiply24;
  rules["div"] = rules["rem"] = divide;
  rules["neg"] = rules["abs"] = unary;
  rules["min"] = rules["max"] = minimumOrMaximum;
  rules["sad"] = absoluteDifference;
  rules["dp4a"] = rules["dp2a"] = dotProduct;
}

} // namespace kcheck::ptx
