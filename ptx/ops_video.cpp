// SIMD video instructions (vadd4, vset2, vabsdiff4, ...): lane by lane on 8 or 16 bits.
#include "ptx/builder.h"

#include <llvm/IR/Intrinsics.h>

namespace kcheck::ptx {

namespace {

struct Shape {
  std::string operation; ///< add, sub, avrg, min, max, absdiff, set
  unsigned lanes = 4;
  bool isSigned[2] = {}; ///< of a and b
  bool saturates = false, accumulates = false;
};

std::optional<Shape> shapeOf(const Statement& s) {
  const std::string& op = s.opcode[0];
  Shape shape;
  if (op.size() < 3 || (op.back() != '2' && op.back() != '4')) return std::nullopt;
  shape.operation = op.substr(1, op.size() - 2);
  shape.lanes = unsigned(op.back() - '0');
  if (s.opcode.size() < 3 || s.operands.size() != 4) return std::nullopt;
  const std::size_t first = shape.operation == "set" ? 1 : 2; // vset gives 0 or 1, of no type
  if (s.opcode.size() < first + 2) return std::nullopt;
  for (std::size_t i = 1; i < first + 2; ++i)
    if (s.opcode[i] != "u32" && s.opcode[i] != "s32") return std::nullopt;
  for (unsigned i : {0, 1}) shape.isSigned[i] = s.opcode[first + i] == "s32";
  shape.saturates = s.has("sat");
  shape.accumulates = s.has("add");
  return shape;
}

/// One lane in 32 bits; null when the operation is not known.
llvm::Value* compute(Builder& p, const Statement& s, const Shape& shape, llvm::Value* x, llvm::Value* y) {
  namespace in = llvm::Intrinsic;
  llvm::IRBuilder<>& b = p.b;
  if (shape.operation == "add") return b.CreateAdd(x, y);
  if (shape.operation == "sub") return b.CreateSub(x, y);
  if (shape.operation == "min") return b.CreateBinaryIntrinsic(in::smin, x, y);
  if (shape.operation == "max") return b.CreateBinaryIntrinsic(in::smax, x, y);
  if (shape.operation == "avrg") { // rounds away from zero
    auto* sum = b.CreateAdd(x, y);
    auto* up = b.CreateZExt(b.CreateICmpSGE(sum, b.getInt32(0)), b.getInt32Ty());
    return b.CreateAShr(b.CreateAdd(sum, up), 1);
  }
  if (shape.operation == "absdiff") return b.CreateBinaryIntrinsic(in::abs, b.CreateSub(x, y), b.getFalse());
  if (shape.operation != "set") return nullptr;
  using Predicate = llvm::CmpInst::Predicate;
  static const std::map<std::string, Predicate> comparisons = {
      {"eq", Predicate::ICMP_EQ},  {"ne", Predicate::ICMP_NE},  {"lt", Predicate::ICMP_SLT},
      {"le", Predicate::ICMP_SLE}, {"gt", Predicate::ICMP_SGT}, {"ge", Predicate::ICMP_SGE}};
  for (std::size_t i = 3; i < s.opcode.size(); ++i)
    if (auto found = comparisons.find(s.opcode[i]); found != comparisons.end())
      return b.CreateZExt(b.CreateICmp(found->second, x, y), b.getInt32Ty());
  return nullptr;
}

bool video(Builder& p, const Statement& s) {
  auto shape = shapeOf(s);
  if (!shape) return false;
  const Type word{Type::Kind::Bits, 32, 1};
  unsigned bits = 32 / shape->lanes;
  auto* x = p.bits(s.operands[1], word);
  auto* y = p.bits(s.operands[2], word);
  llvm::Value* result = shape->accumulates ? p.bits(s.operands[3], word) : p.b.getInt32(0);
  for (unsigned lane = 0; lane < shape->lanes; ++lane) {
    auto part = [&](llvm::Value* from, bool isSigned) {
      auto* narrow = p.b.CreateTrunc(p.b.CreateLShr(from, lane * bits), p.b.getIntNTy(bits));
      return isSigned ? p.b.CreateSExt(narrow, p.b.getInt32Ty()) : p.b.CreateZExt(narrow, p.b.getInt32Ty());
    };
    llvm::Value* value = compute(p, s, *shape, part(x, shape->isSigned[0]), part(y, shape->isSigned[1]));
    if (!value) return false;
    if (shape->saturates) {
      bool resultSigned = s.opcode[1][0] == 's';
      std::int64_t least = resultSigned ? -(1 << (bits - 1)) : 0;
      std::int64_t most = resultSigned ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
      value = p.b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, value, p.b.getInt32(std::uint32_t(least)));
      value = p.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, value, p.b.getInt32(std::uint32_t(most)));
    }
    if (shape->accumulates) {
      result = p.b.CreateAdd(result, value);
      continue;
    }
    auto* cut = p.b.CreateAnd(value, p.b.getInt32((std::uint64_t{1} << bits) - 1));
    result = p.b.CreateOr(result, p.b.CreateShl(cut, lane * bits));
  }
  p.write(s.operands[0], result);
  return true;
}

} // namespace

void addVideo(Rules& rules) {
  for (const char* op : {"vadd", "vsub", "vavrg", "vmin", "vmax", "vabsdiff", "vset"})
    for (const char* lanes : {"2", "4"}) rules[std::string(op) + lanes] = video;
}

} // namespace kcheck::ptx
