// Scalar video instructions (vadd, vabsdiff, vshl, vmad, vset, ...): on words, halves or bytes of their
// operands, with a second operation or a merge into the third. 33-bit numbers there are 64 bits wide here.
#include "ptx/builder.h"

#include <llvm/IR/Intrinsics.h>

namespace kcheck::ptx {

namespace {

namespace in = llvm::Intrinsic;

const Type kWord{Type::Kind::Bits, 32, 1};

/// Of `h1`: 16 bits at 16.
struct Part {
  unsigned bits = 32, at = 0;
  explicit Part(const Operand& operand) {
    if (operand.part.empty()) return;
    bits = operand.part[0] == 'b' ? 8 : 16;
    at = bits * unsigned(operand.part[1] - '0');
  }
};

Operand whole(Operand operand) {
  operand.part.clear();
  return operand;
}

llvm::Value* extended(Builder& p, llvm::Value* value, bool isSigned) {
  return isSigned ? p.b.CreateSExt(value, p.b.getInt64Ty()) : p.b.CreateZExt(value, p.b.getInt64Ty());
}

llvm::Value* source(Builder& p, const Operand& operand, bool isSigned) {
  const Part part(operand);
  auto* moved = p.b.CreateLShr(p.bits(whole(operand), kWord), part.at);
  return extended(p, p.b.CreateTrunc(moved, p.b.getIntNTy(part.bits)), isSigned);
}

/// Within what `bits` hold.
llvm::Value* clamped(Builder& p, llvm::Value* value, bool isSigned, unsigned bits) {
  unsigned width = value->getType()->getIntegerBitWidth();
  auto least = isSigned ? llvm::APInt::getSignedMinValue(bits).sext(width) : llvm::APInt(width, 0);
  auto most = isSigned ? llvm::APInt::getSignedMaxValue(bits).sext(width)
                       : llvm::APInt::getMaxValue(bits).zext(width);
  value = p.b.CreateBinaryIntrinsic(in::smax, value, p.b.getInt(least));
  return p.b.CreateBinaryIntrinsic(in::smin, value, p.b.getInt(most));
}

/// d or d.part, from the result and c.
bool finish(Builder& p, const Statement& s, llvm::Value* result, bool isSigned) {
  const Operand& target = s.operands[0];
  const Part part(target);
  const bool merges = !target.part.empty(), hasThird = s.operands.size() == 4;
  const bool adds = s.has("add"), least = s.has("min"), most = s.has("max");
  if ((merges || adds || least || most) != hasThird || (merges && (adds || least || most))) return false;
  if (s.has("sat")) result = clamped(p, result, isSigned, part.bits);
  if (merges) {
    const std::uint32_t mask = ((1u << part.bits) - 1) << part.at;
    auto* placed = p.b.CreateShl(p.b.CreateTrunc(result, p.b.getInt32Ty()), part.at);
    auto* kept = p.b.CreateAnd(p.bits(s.operands[3], kWord), p.b.getInt32(~mask));
    p.write(whole(target), p.b.CreateOr(kept, p.b.CreateAnd(placed, p.b.getInt32(mask))));
    return true;
  }
  if (hasThird) {
    auto* third = extended(p, p.bits(s.operands[3], kWord), isSigned);
    result = adds    ? p.b.CreateAdd(result, third)
             : least ? p.b.CreateBinaryIntrinsic(in::smin, result, third)
                     : p.b.CreateBinaryIntrinsic(in::smax, result, third);
  }
  p.write(target, p.b.CreateTrunc(result, p.b.getInt32Ty()));
  return true;
}

/// Three types of 32 bits: of d, a and b; nothing where one is missing.
bool readTypes(const Statement& s, bool (&isSigned)[3]) {
  if (s.opcode.size() < 4 || s.operands.size() < 3) return false;
  for (unsigned i = 0; i < 3; ++i) {
    if (s.opcode[1 + i] != "u32" && s.opcode[1 + i] != "s32") return false;
    isSigned[i] = s.opcode[1 + i] == "s32";
  }
  return true;
}

/// vop.DTYPE.ATYPE.BTYPE{.sat}{.OP2} d{.part}, a{.part}, b{.part}{, c}
bool arithmetic(Builder& p, const Statement& s) {
  bool isSigned[3];
  if (!readTypes(s, isSigned)) return false;
  auto* x = source(p, s.operands[1], isSigned[1]);
  auto* y = source(p, s.operands[2], isSigned[2]);
  const std::string& op = s.opcode[0];
  llvm::Value* result = op == "vadd"   ? p.b.CreateAdd(x, y)
                        : op == "vsub" ? p.b.CreateSub(x, y)
                        : op == "vabsdiff"
                            ? p.b.CreateBinaryIntrinsic(in::abs, p.b.CreateSub(x, y), p.b.getFalse())
                            : p.b.CreateBinaryIntrinsic(op == "vmin" ? in::smin : in::smax, x, y);
  return finish(p, s, result, isSigned[0]);
}

/// vshl and vshr.DTYPE.ATYPE.u32{.sat}.{clamp,wrap}{.OP2}
bool shift(Builder& p, const Statement& s) {
  bool isSigned[3];
  if (!readTypes(s, isSigned) || isSigned[2] || s.has("clamp") == s.has("wrap")) return false;
  auto* wide = p.b.getInt128Ty();
  auto* x = p.b.CreateSExt(source(p, s.operands[1], isSigned[1]), wide);
  auto* by = source(p, s.operands[2], false);
  by = s.has("wrap") ? p.b.CreateAnd(by, p.b.getInt64(31))
                     : p.b.CreateBinaryIntrinsic(in::umin, by, p.b.getInt64(32));
  by = p.b.CreateZExt(by, wide);
  auto* moved = s.opcode[0] == "vshl" ? p.b.CreateShl(x, by) : p.b.CreateAShr(x, by);
  // With a second operation, what the word does not hold would count.
  if (s.opcode[0] == "vshl" && s.operands[0].part.empty() && s.operands.size() == 4 && !s.has("sat") &&
      !s.has("add"))
    return false;
  if (s.has("sat")) moved = clamped(p, moved, isSigned[0], Part(s.operands[0]).bits);
  return finish(p, s, p.b.CreateTrunc(moved, p.b.getInt64Ty()), isSigned[0]);
}

/// vset.ATYPE.BTYPE.CMP{.OP2}: 1 where it holds
bool compare(Builder& p, const Statement& s) {
  if (s.opcode.size() < 4 || s.operands.size() < 3 || s.has("sat")) return false;
  using Predicate = llvm::CmpInst::Predicate;
  static const std::map<std::string, Predicate> comparisons = {
      {"eq", Predicate::ICMP_EQ},  {"ne", Predicate::ICMP_NE},  {"lt", Predicate::ICMP_SLT},
      {"le", Predicate::ICMP_SLE}, {"gt", Predicate::ICMP_SGT}, {"ge", Predicate::ICMP_SGE}};
  auto found = comparisons.find(s.opcode[3]);
  for (unsigned i : {1, 2})
    if (s.opcode[i] != "u32" && s.opcode[i] != "s32") return false;
  if (found == comparisons.end()) return false;
  auto* x = source(p, s.operands[1], s.opcode[1] == "s32");
  auto* y = source(p, s.operands[2], s.opcode[2] == "s32");
  return finish(p, s, p.b.CreateZExt(p.b.CreateICmp(found->second, x, y), p.b.getInt64Ty()), false);
}

/// vmad.DTYPE.ATYPE.BTYPE{.po}{.sat}{.shr7,.shr15} d, a{.part}, b{.part}, c; without negation
bool multiplyAdd(Builder& p, const Statement& s) {
  bool isSigned[3];
  if (!readTypes(s, isSigned) || s.operands.size() != 4 || !s.operands[0].part.empty()) return false;
  const bool result = isSigned[1] || isSigned[2];
  auto* wide = p.b.getIntNTy(128);
  auto widen = [&](llvm::Value* value) { return p.b.CreateSExt(value, wide); };
  llvm::Value* sum = p.b.CreateMul(widen(source(p, s.operands[1], isSigned[1])),
                                   widen(source(p, s.operands[2], isSigned[2])));
  sum = p.b.CreateAdd(sum, widen(extended(p, p.bits(s.operands[3], kWord), result)));
  if (s.has("po")) sum = p.b.CreateAdd(sum, llvm::ConstantInt::get(wide, 1));
  if (s.has("shr7") || s.has("shr15")) sum = p.b.CreateAShr(sum, s.has("shr7") ? 7 : 15);
  if (s.has("sat")) sum = clamped(p, sum, result, 32);
  p.write(s.operands[0], p.b.CreateTrunc(sum, p.b.getInt32Ty()));
  return true;
}

} // namespace

void addScalarVideo(Rules& rules) {
  for (const char* op : {"vadd", "vsub", "vabsdiff", "vmin", "vmax"}) rules[op] = arithmetic;
  rules["vshl"] = rules["vshr"] = shift;
  rules["vset"] = compare;
  rules["vmad"] = multiplyAdd;
}

} // namespace kcheck::ptx
