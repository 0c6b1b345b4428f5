// Float arithmetic and the approximate functions. Half and bfloat16 are computed in double and rounded once,
// which is exact for sums and products.
#include "ptx/arithmetic.h"

#include <llvm/IR/Intrinsics.h>

namespace kcheck::ptx {

namespace {

namespace in = llvm::Intrinsic;

Rounding roundingOf(const Statement& s) {
  for (std::size_t i = 1; i < s.opcode.size(); ++i)
    if (auto rounding = roundingNamed(s.opcode[i])) return *rounding;
  return Rounding::Nearest;
}

llvm::Value* constant(llvm::Value* like, double value) {
  return llvm::ConstantFP::get(like->getType(), value);
}

llvm::Value* limited(Builder& p, const Statement& s, llvm::Value* value) {
  if (s.has("relu")) value = rectified(p.b, value);
  return s.has("sat") ? saturated(p.b, value) : value;
}

using Values = std::vector<llvm::Value*>;

/// min and max{.NaN}{.xorsign.abs}; zeros are ordered by their sign.
llvm::Value* smallerOrLarger(llvm::IRBuilder<>& b, const Statement& s, const Values& v) {
  llvm::Value *x = v[0], *y = v[1], *sign = nullptr;
  if (s.has("xorsign")) {
    auto* word = b.getIntNTy(unsigned(x->getType()->getPrimitiveSizeInBits()));
    sign = b.CreateBitCast(b.CreateXor(b.CreateBitCast(x, word), b.CreateBitCast(y, word)), x->getType());
  }
  if (s.has("abs")) {
    x = b.CreateUnaryIntrinsic(in::fabs, x);
    y = b.CreateUnaryIntrinsic(in::fabs, y);
  }
  llvm::Value* result = b.CreateBinaryIntrinsic(s.opcode[0] == "min" ? in::minimum : in::maximum, x, y);
  if (!s.has("NaN")) { // what is no NaN, if either is none
    result = b.CreateSelect(b.CreateFCmpUNO(x, x), y, result);
    result = b.CreateSelect(b.CreateFCmpUNO(y, y), x, result);
  }
  return sign ? b.CreateBinaryIntrinsic(in::copysign, result, sign) : result;
}

/// x * y + z of bfloat16 in double, of which the product is exact: where the sum is not, its last bit is made
/// odd, so that rounding once more cannot take it for a tie.
llvm::Value* oddFma(llvm::IRBuilder<>& b, const Values& v) {
  auto* product = b.CreateFMul(v[0], v[1]);
  auto* sum = b.CreateFAdd(product, v[2]);
  auto* added = b.CreateFSub(sum, product);
  auto* lost = b.CreateFAdd(b.CreateFSub(product, b.CreateFSub(sum, added)), b.CreateFSub(v[2], added));
  auto* bits = b.CreateBitCast(sum, b.getInt64Ty());
  auto* zero = llvm::ConstantFP::get(sum->getType(), 0);
  auto* even = b.CreateICmpEQ(b.CreateAnd(bits, 1), b.getInt64(0));
  auto* away = b.CreateICmpEQ(b.CreateFCmpOGT(lost, zero), b.CreateFCmpOGT(sum, zero));
  auto* next = b.CreateAdd(bits, b.CreateSelect(away, b.getInt64(1), b.getInt64(~0ull)));
  auto* odd = b.CreateAnd(b.CreateFCmpONE(lost, zero), even);
  return b.CreateBitCast(b.CreateSelect(odd, next, bits), sum->getType());
}

llvm::Value* compute(Builder& p, const Statement& s, const Values& v) {
  const std::string& op = s.opcode[0];
  llvm::IRBuilder<>& b = p.b;
  if (op == "add") return b.CreateFAdd(v[0], v[1]);
  if (op == "sub") return b.CreateFSub(v[0], v[1]);
  if (op == "mul") return b.CreateFMul(v[0], v[1]);
  if (op == "div") return b.CreateFDiv(v[0], v[1]);
  if (op == "fma" || op == "mad") return b.CreateIntrinsic(in::fma, {v[0]->getType()}, {v[0], v[1], v[2]});
  if (op == "neg") return b.CreateFNeg(v[0]);
  if (op == "abs") return b.CreateUnaryIntrinsic(in::fabs, v[0]);
  if (op == "min" || op == "max") return smallerOrLarger(b, s, v);
  if (op == "sqrt") return b.CreateUnaryIntrinsic(in::sqrt, v[0]);
  if (op == "rcp") return b.CreateFDiv(constant(v[0], 1), v[0]);
  if (op == "rsqrt") return b.CreateFDiv(constant(v[0], 1), b.CreateUnaryIntrinsic(in::sqrt, v[0]));
  if (op == "ex2") return b.CreateUnaryIntrinsic(in::exp2, v[0]);
  if (op == "lg2") return b.CreateUnaryIntrinsic(in::log2, v[0]);
  if (op == "sin") return b.CreateUnaryIntrinsic(in::sin, v[0]);
  if (op == "cos") return b.CreateUnaryIntrinsic(in::cos, v[0]);
  if (op == "copysign") return b.CreateBinaryIntrinsic(in::copysign, v[1], v[0]);
  return nullptr;
}

std::size_t operandCount(const std::string& op) {
  if (op == "fma" || op == "mad") return 4;
  if (op == "add" || op == "sub" || op == "mul" || op == "div" || op == "min" || op == "max" ||
      op == "copysign")
    return 3;
  return 2;
}

/// add.rz.f32 and its like on float and double: the library has them.
bool directedByLibrary(Builder& p, const Statement& s, const Type& type, Rounding rounding) {
  static const char* const suffixes[] = {"rn", "rz", "rd", "ru"};
  std::string op = s.opcode[0] == "mad" ? "fma" : s.opcode[0];
  if (op != "add" && op != "sub" && op != "mul" && op != "div" && op != "fma" && op != "sqrt" && op != "rcp")
    return false;
  bool isDouble = type.bits == 64;
  std::string name = op == "fma" ? (isDouble ? "fma" : "fmaf") : (isDouble ? "d" : "f") + op;
  std::vector<llvm::Value*> values;
  for (std::size_t i = 1; i < s.operands.size(); ++i) {
    auto* value = p.value(s.operands[i], type);
    values.push_back(s.has("ftz") ? flushed(p.b, value, type) : value);
  }
  auto* result = p.library("__nv_" + name + "_" + suffixes[unsigned(rounding)],
                           isDouble ? p.b.getDoubleTy() : p.b.getFloatTy(), values);
  result = limited(p, s, result);
  p.writeValue(s.operands[0], s.has("ftz") ? flushed(p.b, result, type) : result, type);
  return true;
}

bool approximate(Builder& p, const Statement& s) {
  auto type = typeNamed(s.type());
  return type && type->isFloat() && arithmeticFloat(p, s, *type);
}

bool tangentHyperbolic(Builder& p, const Statement& s) {
  auto type = typeNamed(s.type());
  if (!type || !type->isFloat() || type->bits > 32) return false;
  forLanes(p, s, *type, Rounding::Nearest,
           [&](const Values& v) { return p.library("__nv_tanhf", p.b.getFloatTy(), {v[0]}); });
  return true;
}

/// testp.CLASS.TYPE p, a
bool testProperty(Builder& p, const Statement& s) {
  auto type = typeNamed(s.type());
  if (!type || !type->isFloat() || s.opcode.size() != 3 || s.operands.size() != 2) return false;
  static const std::map<std::string, unsigned> classes = {
      {"finite", llvm::fcFinite},  {"infinite", llvm::fcInf},  {"number", llvm::fcAllFlags & ~llvm::fcNan},
      {"notanumber", llvm::fcNan}, {"normal", llvm::fcNormal}, {"subnormal", llvm::fcSubnormal}};
  auto found = classes.find(s.opcode[1]);
  if (found == classes.end()) return false;
  p.write(s.operands[0], p.b.createIsFPClass(p.value(s.operands[1], *type), found->second));
  return true;
}

} // namespace

llvm::Value* flushed(llvm::IRBuilderBase& b, llvm::Value* value, const Type& type) {
  if (!value->getType()->isFloatingPointTy() || type.bits == 64) return value;
  const double least = type.kind == Type::Kind::Float && type.bits == 16 ? 0x1p-14 : 0x1p-126;
  auto* size = b.CreateUnaryIntrinsic(in::fabs, value);
  auto* zero = b.CreateBinaryIntrinsic(in::copysign, constant(value, 0), value);
  return b.CreateSelect(b.CreateFCmpOLT(size, constant(value, least)), zero, value);
}

llvm::Value* rectified(llvm::IRBuilderBase& b, llvm::Value* value) {
  return b.CreateSelect(b.CreateFCmpOLE(value, constant(value, 0)), constant(value, 0), value);
}

llvm::Value* saturated(llvm::IRBuilderBase& b, llvm::Value* value) {
  auto* positive = b.CreateSelect(b.CreateFCmpOGT(value, constant(value, 0)), value, constant(value, 0));
  return b.CreateSelect(b.CreateFCmpOLT(positive, constant(value, 1)), positive, constant(value, 1));
}

bool arithmeticFloat(Builder& p, const Statement& s, const Type& type) {
  if (s.operands.size() != operandCount(s.opcode[0])) return false;
  const Rounding rounding = roundingOf(s);
  if (!type.isNarrowFloat() && rounding != Rounding::Nearest) return directedByLibrary(p, s, type, rounding);
  if (type.isNarrowFloat() &&
      (s.opcode[0] == "neg" || s.opcode[0] == "abs")) { // on the bits: NaNs stay as they are
    auto* word = p.bits(s.operands[1], type);
    std::uint64_t signs = type.lanes == 2 ? 0x80008000u : 0x8000u;
    p.write(s.operands[0], s.opcode[0] == "neg" ? p.b.CreateXor(word, signs) : p.b.CreateAnd(word, ~signs));
    return true;
  }
  bool known = true;
  forLanes(p, s, type, rounding, [&](Values values) -> llvm::Value* {
    if (type.isNarrowFloat())
      for (llvm::Value*& value : values) value = p.b.CreateFPExt(value, p.b.getDoubleTy());
    const bool isOdd = type.kind == Type::Kind::BFloat && s.opcode[0] == "fma";
    llvm::Value* result = isOdd ? oddFma(p.b, values) : compute(p, s, values);
    known &= result != nullptr;
    return limited(p, s, result ? result : values[0]);
  });
  return known;
}

void addFloats(Rules& rules) {
  for (const char* op : {"sqrt", "rcp", "rsqrt", "ex2", "lg2", "sin", "cos", "copysign"})
    rules[op] = approximate;
  rules["tanh"] = tangentHyperbolic;
  rules["testp"] = testProperty;
}

} // namespace kcheck::ptx
