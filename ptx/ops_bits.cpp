// Logic, shifts and bit fields.
#include "ptx/arithmetic.h"

#include <llvm/IR/Intrinsics.h>

namespace kcheck::ptx {

namespace {

namespace in = llvm::Intrinsic;

std::optional<Type> typeOf(const Statement& s, std::size_t operands) {
  auto type = typeNamed(s.type());
  return type && s.operands.size() == operands ? type : std::nullopt;
}

const Type kWord{Type::Kind::Bits, 32, 1};

bool logic(Builder& p, const Statement& s) {
  bool isUnary = s.opcode[0] == "not" || s.opcode[0] == "cnot";
  auto type = typeOf(s, isUnary ? 2 : 3);
  if (!type) return false;
  auto* x = p.bits(s.operands[1], *type);
  llvm::Value* result = nullptr;
  if (s.opcode[0] == "not") result = p.b.CreateNot(x);
  if (s.opcode[0] == "cnot")
    result = p.b.CreateZExt(p.b.CreateICmpEQ(x, llvm::ConstantInt::get(x->getType(), 0)), x->getType());
  if (s.opcode[0] == "and") result = p.b.CreateAnd(x, p.bits(s.operands[2], *type));
  if (s.opcode[0] == "or") result = p.b.CreateOr(x, p.bits(s.operands[2], *type));
  if (s.opcode[0] == "xor") result = p.b.CreateXor(x, p.bits(s.operands[2], *type));
  p.write(s.operands[0], result);
  return true;
}

/// Amounts beyond the width are clamped, unlike in LLVM.
bool shift(Builder& p, const Statement& s) {
  auto type = typeOf(s, 3);
  if (!type) return false;
  auto* x = p.bits(s.operands[1], *type);
  auto* amount = p.bits(s.operands[2], kWord);
  auto* limit = p.b.getInt32(type->bits - 1);
  auto* inside = p.b.CreateBinaryIntrinsic(in::umin, amount, limit);
  auto* by = p.b.CreateZExtOrTrunc(inside, x->getType());
  if (s.opcode[0] == "shr" && type->isSigned()) {
    p.write(s.operands[0], p.b.CreateAShr(x, by), true);
    return true;
  }
  auto* shifted = s.opcode[0] == "shl" ? p.b.CreateShl(x, by) : p.b.CreateLShr(x, by);
  auto* tooFar = p.b.CreateICmpUGT(amount, limit);
  p.write(s.operands[0], p.b.CreateSelect(tooFar, llvm::ConstantInt::get(x->getType(), 0), shifted));
  return true;
}

/// shf.{l,r}.{clamp,wrap}.b32 d, low, high, amount
bool funnel(Builder& p, const Statement& s) {
  if (s.operands.size() != 4 || s.opcode.size() < 4) return false;
  auto* low = p.bits(s.operands[1], kWord);
  auto* high = p.bits(s.operands[2], kWord);
  auto* amount = p.bits(s.operands[3], kWord);
  bool left = s.opcode[1] == "l";
  amount = s.has("wrap") ? p.b.CreateAnd(amount, p.b.getInt32(31))
                         : p.b.CreateBinaryIntrinsic(in::umin, amount, p.b.getInt32(32));
  auto* wide = p.b.getInt64Ty();
  auto* both = p.b.CreateOr(p.b.CreateShl(p.b.CreateZExt(high, wide), 32), p.b.CreateZExt(low, wide));
  auto* by = p.b.CreateZExt(amount, wide);
  auto* result = left ? p.b.CreateLShr(p.b.CreateShl(both, by), 32) : p.b.CreateLShr(both, by);
  p.write(s.operands[0], p.b.CreateTrunc(result, p.b.getInt32Ty()));
  return true;
}

bool count(Builder& p, const Statement& s) {
  auto type = typeOf(s, 2);
  if (!type) return false;
  auto* x = p.bits(s.operands[1], *type);
  llvm::Value* result = nullptr;
  if (s.opcode[0] == "popc") result = p.b.CreateUnaryIntrinsic(in::ctpop, x);
  if (s.opcode[0] == "clz") result = p.b.CreateBinaryIntrinsic(in::ctlz, x, p.b.getFalse());
  if (s.opcode[0] == "brev") result = p.b.CreateUnaryIntrinsic(in::bitreverse, x);
  p.write(s.operands[0], result);
  return true;
}

/// bfind[.shiftamt].TYPE d, a: place of the highest bit that differs from the sign; all ones when there is
/// none.
bool findBit(Builder& p, const Statement& s) {
  auto type = typeOf(s, 2);
  if (!type) return false;
  auto* x = p.bits(s.operands[1], *type);
  if (type->isSigned()) x = p.b.CreateXor(x, p.b.CreateAShr(x, type->bits - 1));
  auto* zeros =
      p.b.CreateZExtOrTrunc(p.b.CreateBinaryIntrinsic(in::ctlz, x, p.b.getFalse()), p.b.getInt32Ty());
  auto* found = s.has("shiftamt") ? zeros : p.b.CreateSub(p.b.getInt32(type->bits - 1), zeros);
  auto* none = p.b.CreateICmpEQ(x, llvm::ConstantInt::get(x->getType(), 0));
  p.write(s.operands[0], p.b.CreateSelect(none, p.b.getInt32(~0u), found));
  return true;
}

/// Position and length operands of bit fields count modulo 256.
llvm::Value* byteOf(Builder& p, const Operand& operand, llvm::Type* type) {
  return p.b.CreateZExtOrTrunc(p.b.CreateAnd(p.bits(operand, kWord), p.b.getInt32(255)), type);
}

/// A mask of `length` low bits; all of them from `bits` on. The arithmetic is one step wider than the value.
llvm::Value* lowMask(Builder& p, llvm::Value* length, unsigned bits) {
  auto* wide = p.b.getIntNTy(2 * bits);
  auto* clamped =
      p.b.CreateBinaryIntrinsic(in::umin, length, llvm::ConstantInt::get(length->getType(), bits));
  auto* one = llvm::ConstantInt::get(wide, 1);
  return p.b.CreateSub(p.b.CreateShl(one, p.b.CreateZExt(clamped, wide)), one);
}

/// bfe.TYPE d, a, position, length
bool extractField(Builder& p, const Statement& s) {
  auto type = typeOf(s, 4);
  if (!type) return false;
  auto* x = p.bits(s.operands[1], *type);
  auto* narrow = x->getType();
  auto* wide = p.b.getIntNTy(2 * type->bits);
  auto* limit = llvm::ConstantInt::get(narrow, type->bits);
  auto* position = p.b.CreateBinaryIntrinsic(in::umin, byteOf(p, s.operands[2], narrow), limit);
  auto* length = byteOf(p, s.operands[3], narrow);
  auto* extended = type->isSigned() ? p.b.CreateSExt(x, wide) : p.b.CreateZExt(x, wide);
  auto* shifted = p.b.CreateLShr(extended, p.b.CreateZExt(position, wide));
  if (type->isSigned()) shifted = p.b.CreateAShr(extended, p.b.CreateZExt(position, wide));
  llvm::Value* field = p.b.CreateAnd(shifted, lowMask(p, length, type->bits));
  if (type->isSigned()) {
    auto* clamped = p.b.CreateBinaryIntrinsic(in::umin, length, limit);
    auto* up = p.b.CreateSub(llvm::ConstantInt::get(wide, 2 * type->bits), p.b.CreateZExt(clamped, wide));
    auto* nothing = p.b.CreateICmpEQ(length, llvm::ConstantInt::get(narrow, 0));
    auto* safe = p.b.CreateSelect(nothing, llvm::ConstantInt::get(wide, 0), up);
    field = p.b.CreateSelect(nothing, llvm::ConstantInt::get(wide, 0),
                             p.b.CreateAShr(p.b.CreateShl(field, safe), safe));
  }
  p.write(s.operands[0], p.b.CreateTrunc(field, narrow), type->isSigned());
  return true;
}

/// bfi.TYPE d, a, b, position, length: a's low bits into b
bool insertField(Builder& p, const Statement& s) {
  auto type = typeOf(s, 5);
  if (!type) return false;
  auto* from = p.bits(s.operands[1], *type);
  auto* into = p.bits(s.operands[2], *type);
  auto* narrow = from->getType();
  auto* wide = p.b.getIntNTy(2 * type->bits);
  auto* position = p.b.CreateBinaryIntrinsic(in::umin, byteOf(p, s.operands[3], narrow),
                                             llvm::ConstantInt::get(narrow, type->bits));
  auto* mask =
      p.b.CreateShl(lowMask(p, byteOf(p, s.operands[4], narrow), type->bits), p.b.CreateZExt(position, wide));
  auto* narrowMask = p.b.CreateTrunc(mask, narrow);
  auto* moved =
      p.b.CreateTrunc(p.b.CreateShl(p.b.CreateZExt(from, wide), p.b.CreateZExt(position, wide)), narrow);
  p.write(s.operands[0],
          p.b.CreateOr(p.b.CreateAnd(into, p.b.CreateNot(narrowMask)), p.b.CreateAnd(moved, narrowMask)));
  return true;
}

/// bmsk.{clamp,wrap}.b32 d, position, length
bool makeMask(Builder& p, const Statement& s) {
  if (s.operands.size() != 3) return false;
  auto* position = p.bits(s.operands[1], kWord);
  auto* length = p.bits(s.operands[2], kWord);
  auto* limit = p.b.getInt32(s.has("wrap") ? 31 : 32);
  if (s.has("wrap")) {
    position = p.b.CreateAnd(position, limit);
    length = p.b.CreateAnd(length, limit);
  } else {
    position = p.b.CreateBinaryIntrinsic(in::umin, position, limit);
  }
  auto* mask = p.b.CreateShl(lowMask(p, length, 32), p.b.CreateZExt(position, p.b.getInt64Ty()));
  p.write(s.operands[0], p.b.CreateTrunc(mask, p.b.getInt32Ty()));
  return true;
}

/// szext.{clamp,wrap}.{u32,s32} d, a, length: the low bits of a, extended.
bool extendField(Builder& p, const Statement& s) {
  auto type = typeOf(s, 3);
  if (!type || type->bits != 32 || s.has("wrap") == s.has("clamp")) return false;
  auto* x = p.bits(s.operands[1], kWord);
  auto* length = p.bits(s.operands[2], kWord);
  length = s.has("wrap") ? p.b.CreateAnd(length, p.b.getInt32(31))
                         : p.b.CreateBinaryIntrinsic(in::umin, length, p.b.getInt32(32));
  auto* wide = p.b.getInt64Ty(); // in which a shift by 32 is one
  auto* up = p.b.CreateZExt(p.b.CreateSub(p.b.getInt32(32), length), wide);
  auto* high = p.b.CreateTrunc(p.b.CreateShl(p.b.CreateZExt(x, wide), up), p.b.getInt32Ty());
  auto* extended = type->isSigned() ? p.b.CreateSExt(high, wide) : p.b.CreateZExt(high, wide);
  auto* field = type->isSigned() ? p.b.CreateAShr(extended, up) : p.b.CreateLShr(extended, up);
  p.write(s.operands[0], p.b.CreateTrunc(field, p.b.getInt32Ty()), type->isSigned());
  return true;
}

/// fns.b32 d, mask, base, offset
bool findNthSet(Builder& p, const Statement& s) {
  if (s.operands.size() != 4) return false;
  p.write(s.operands[0], nthSetBit(p.b, p.bits(s.operands[1], kWord), p.bits(s.operands[2], kWord),
                                   p.bits(s.operands[3], kWord)));
  return true;
}

/// lop3.b32 d, a, b, c, table; lop3.{and,or}.b32 d|p, a, b, c, table, q: p says whether d has bits, and or or
/// q
bool threeInputs(Builder& p, const Statement& s) {
  const bool tests = s.has("and") || s.has("or");
  if (s.type() != "b32" || s.opcode.size() != (tests ? 3 : 2) || s.operands.size() != (tests ? 6 : 5))
    return false;
  if ((s.operands[0].kind == Operand::Kind::Pair) != tests) return false;
  auto* given = llvm::dyn_cast<llvm::ConstantInt>(p.bits(s.operands[4], kWord));
  if (!given) return false;
  auto table = given->getZExtValue();
  llvm::Value* in[] = {p.bits(s.operands[1], kWord), p.bits(s.operands[2], kWord),
                       p.bits(s.operands[3], kWord)};
  llvm::Value* result = p.b.getInt32(0);
  for (unsigned row = 0; row < 8; ++row) {
    if (!(table >> row & 1)) continue;
    llvm::Value* term = p.b.getInt32(~0u);
    for (unsigned i = 0; i < 3; ++i)
      term = p.b.CreateAnd(term, row >> (2 - i) & 1 ? in[i] : p.b.CreateNot(in[i]));
    result = p.b.CreateOr(result, term);
  }
  if (!tests) {
    p.write(s.operands[0], result);
    return true;
  }
  auto* any = p.b.CreateICmpNE(result, p.b.getInt32(0));
  auto* other = p.predicate(s.operands[5]);
  p.write(s.operands[0].parts[0], result);
  p.write(s.operands[0].parts[1], s.has("and") ? p.b.CreateAnd(any, other) : p.b.CreateOr(any, other));
  return true;
}

/// Which of the eight bytes goes to place `i` of the result in the modes of prmt that have a name; `from`
/// counts 0 to 3. Null when there is no such mode.
llvm::Value* permutedByte(llvm::IRBuilder<>& b, const std::string& mode, llvm::Value* from, unsigned i) {
  auto* place = b.getInt32(i);
  if (mode == "f4e") return b.CreateAdd(from, place);
  if (mode == "b4e") return b.CreateAnd(b.CreateSub(from, place), b.getInt32(7));
  if (mode == "rc8") return from;
  if (mode == "ecl") return b.CreateBinaryIntrinsic(in::umax, from, place);
  if (mode == "ecr") return b.CreateBinaryIntrinsic(in::umin, from, place);
  if (mode != "rc16") return nullptr;
  return b.CreateOr(b.CreateShl(b.CreateAnd(from, b.getInt32(1)), 1), b.getInt32(i & 1));
}

/// prmt.b32{.MODE} d, a, b, selector: four bytes of the eight in {b,a}; without a mode four bits of the
/// selector choose each, of which the highest spreads the byte's sign.
bool permuteBytes(Builder& p, const Statement& s) {
  if (s.operands.size() != 4 || s.opcode.size() > 3 || s.opcode.size() < 2 || s.opcode[1] != "b32")
    return false;
  auto* wide = p.b.getInt64Ty();
  auto* low = p.b.CreateZExt(p.bits(s.operands[1], kWord), wide);
  auto* both = p.b.CreateOr(p.b.CreateShl(p.b.CreateZExt(p.bits(s.operands[2], kWord), wide), 32), low);
  auto* selector = p.bits(s.operands[3], kWord);
  llvm::Value* result = p.b.getInt32(0);
  for (unsigned i = 0; i < 4; ++i) {
    llvm::Value* choice = s.opcode.size() == 2
                              ? p.b.CreateAnd(p.b.CreateLShr(selector, 4 * i), p.b.getInt32(15))
                              : permutedByte(p.b, s.opcode[2], p.b.CreateAnd(selector, p.b.getInt32(3)), i);
    if (!choice) return false;
    auto* at = p.b.CreateZExt(p.b.CreateShl(p.b.CreateAnd(choice, p.b.getInt32(7)), 3), wide);
    auto* byte = p.b.CreateTrunc(p.b.CreateLShr(both, at), p.b.getInt8Ty());
    auto* spreads = p.b.CreateICmpUGE(choice, p.b.getInt32(8));
    auto* chosen = p.b.CreateSelect(spreads, p.b.CreateAShr(byte, 7), byte);
    result = p.b.CreateOr(result, p.b.CreateShl(p.b.CreateZExt(chosen, p.b.getInt32Ty()), 8 * i));
  }
  p.write(s.operands[0], result);
  return true;
}

} // namespace

llvm::Value* nthSetBit(llvm::IRBuilder<>& b, llvm::Value* mask, llvm::Value* base, llvm::Value* offset) {
  auto* zero = b.getInt32(0);
  auto* none = b.getInt32(~0u);
  auto* backwards = b.CreateICmpSLT(offset, zero);
  auto* start = b.CreateSelect(backwards, b.CreateSub(b.getInt32(31), base), base);
  auto* bits = b.CreateSelect(backwards, b.CreateUnaryIntrinsic(in::bitreverse, mask), mask);
  auto* ahead = b.CreateShl(none, b.CreateAnd(start, b.getInt32(31)));
  llvm::Value* left = b.CreateAnd(bits, ahead);
  auto* wanted = b.CreateBinaryIntrinsic(in::abs, offset, b.getFalse());
  // Drops the lowest bit as long as others are to come before the wanted one.
  for (unsigned i = 1; i < 32; ++i) {
    auto* fewer = b.CreateAnd(left, b.CreateSub(left, b.getInt32(1)));
    left = b.CreateSelect(b.CreateICmpUGT(wanted, b.getInt32(i)), fewer, left);
  }
  left = b.CreateSelect(b.CreateICmpUGT(wanted, b.getInt32(32)), zero, left);
  auto* at = b.CreateBinaryIntrinsic(in::cttz, left, b.getFalse());
  auto* found = b.CreateSelect(backwards, b.CreateSub(b.getInt32(31), at), at);
  found = b.CreateSelect(b.CreateICmpEQ(left, zero), none, found);
  auto* isSet = b.CreateTrunc(b.CreateLShr(mask, b.CreateAnd(base, b.getInt32(31))), b.getInt1Ty());
  return b.CreateSelect(b.CreateICmpEQ(offset, zero), b.CreateSelect(isSet, base, none), found);
}

void addBits(Rules& rules) {
  for (const char* op : {"and", "or", "xor", "not", "cnot"}) rules[op] = logic;
  rules["shl"] = rules["shr"] = shift;
  rules["shf"] = funnel;
  rules["popc"] = rules["clz"] = rules["brev"] = count;
  rules["bfind"] = findBit;
  rules["bfe"] = extractField;
  rules["bfi"] = insertField;
  rules["bmsk"] = makeMask;
  rules["szext"] = extendField;
  rules["fns"] = findNthSet;
  rules["lop3"] = threeInputs;
  rules["prmt"] = permuteBytes;
}

} // namespace kcheck::ptx
