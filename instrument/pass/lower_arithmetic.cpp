// nvvm intrinsics that compute. Most device arithmetic arrives as `__nv_` calls, which libkcheckrt supplies;
// these are the forms that headers and builtins use directly. Directed rounding goes to the library as well.
#include "instrument/pass/lowering.h"
#include "ptx/arithmetic.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

namespace kcheck::instrument {

namespace {

using llvm::Intrinsic::ID;

/// Drops modifiers that make no difference here: flushing of denormals, and `.f`/`.d` type letters.
std::string core(llvm::StringRef name) {
  llvm::SmallVector<llvm::StringRef, 8> parts;
  name.split(parts, '.');
  std::string result;
  for (llvm::StringRef part : parts) {
    if (part == "ftz" || part == "f" || part == "d" || part == "f16" || part == "f16x2" || part == "bf16" ||
        part == "bf16x2")
      continue;
    result += (result.empty() ? "" : ".") + part.str();
  }
  return result;
}

llvm::Value* unary(Lowering& l, ID id) { return l.b.CreateUnaryIntrinsic(id, l.operand(0)); }
llvm::Value* binary(Lowering& l, ID id) { return l.b.CreateBinaryIntrinsic(id, l.operand(0), l.operand(1)); }

llvm::Value* one(llvm::Type* type) { return llvm::ConstantFP::get(type, 1.0); }

llvm::Value* saturate(Lowering& l) {
  auto* zero = llvm::ConstantFP::get(l.type(), 0.0);
  auto* low = l.b.CreateBinaryIntrinsic(llvm::Intrinsic::maxnum, l.operand(0), zero);
  return l.b.CreateBinaryIntrinsic(llvm::Intrinsic::minnum, low, one(l.type()));
}

llvm::Value* multiplyHigh(Lowering& l, bool isSigned) {
  unsigned bits = l.type()->getIntegerBitWidth();
  auto* wide = l.b.getIntNTy(2 * bits);
  auto extend = [&](llvm::Value* v) { return isSigned ? l.b.CreateSExt(v, wide) : l.b.CreateZExt(v, wide); };
  auto* product = l.b.CreateMul(extend(l.operand(0)), extend(l.operand(1)));
  return l.b.CreateTrunc(l.b.CreateLShr(product, bits), l.type());
}

llvm::Value* simple(Lowering& l, const std::string& name) {
  namespace in = llvm::Intrinsic;
  llvm::IRBuilder<>& b = l.b;
  if (name == "fmin") return binary(l, in::minnum);
  if (name == "fmax") return binary(l, in::maxnum);
  if (name == "fmin.nan") return binary(l, in::minimum);
  if (name == "fmax.nan") return binary(l, in::maximum);
  if (name == "fabs") return unary(l, in::fabs);
  if (name == "floor") return unary(l, in::floor);
  if (name == "ceil") return unary(l, in::ceil);
  if (name == "trunc") return unary(l, in::trunc);
  if (name == "round") return unary(l, in::roundeven);
  if (name == "saturate") return saturate(l);
  if (name == "fma.rn")
    return b.CreateIntrinsic(in::fma, {l.type()}, {l.operand(0), l.operand(1), l.operand(2)});
  if (name == "add.rn") return b.CreateFAdd(l.operand(0), l.operand(1));
  if (name == "mul.rn") return b.CreateFMul(l.operand(0), l.operand(1));
  if (name == "div.rn" || name == "div.approx" || name == "div.full")
    return b.CreateFDiv(l.operand(0), l.operand(1));
  if (name == "rcp.rn" || name == "rcp.approx") return b.CreateFDiv(one(l.type()), l.operand(0));
  if (name == "sqrt" || name == "sqrt.rn" || name == "sqrt.approx") return unary(l, in::sqrt);
  if (name == "rsqrt.approx") return b.CreateFDiv(one(l.type()), unary(l, in::sqrt));
  if (name == "ex2.approx") return unary(l, in::exp2);
  if (name == "lg2.approx") return unary(l, in::log2);
  if (name == "sin.approx") return unary(l, in::sin);
  if (name == "cos.approx") return unary(l, in::cos);
  if (name == "mulhi.i" || name == "mulhi.ll" || name == "mulhi.s") return multiplyHigh(l, true);
  if (name == "mulhi.ui" || name == "mulhi.ull" || name == "mulhi.us") return multiplyHigh(l, false);
  return nullptr;
}

/// bitcast.f2i, lohi.i2d, d2i.lo, ...
llvm::Value* reinterpret(Lowering& l, llvm::StringRef name) {
  llvm::IRBuilder<>& b = l.b;
  if (name.starts_with("bitcast.")) return b.CreateBitCast(l.operand(0), l.type());
  if (name == "lohi.i2d") {
    auto* high = b.CreateShl(b.CreateZExt(l.operand(1), b.getInt64Ty()), 32);
    return b.CreateBitCast(b.CreateOr(high, b.CreateZExt(l.operand(0), b.getInt64Ty())), l.type());
  }
  if (name == "d2i.lo" || name == "d2i.hi") {
    auto* bits = b.CreateBitCast(l.operand(0), b.getInt64Ty());
    return b.CreateTrunc(name == "d2i.hi" ? b.CreateLShr(bits, 32) : bits, l.type());
  }
  if (name == "fns") return ptx::nthSetBit(b, l.operand(0), l.operand(1), l.operand(2));
  if (name == "prmt") return l.library("__nv_prmt", l.type(), {l.operand(0), l.operand(1), l.operand(2)});
  if (name == "sad.i" || name == "sad.ui")
    return l.library(name == "sad.i" ? "__nv_sad" : "__nv_usad", l.type(),
                     {l.operand(0), l.operand(1), l.operand(2)});
  return nullptr;
}

/// f2i.rz, ui2f.rn, d2f.ru, f2ll.rm.ftz, ...: the library has one function for each.
llvm::Value* convert(Lowering& l, llvm::StringRef name) {
  auto [types, mode] = name.split('.');
  auto [from, to] = types.split('2');
  auto longName = [](llvm::StringRef letter) -> llvm::StringRef {
    if (letter == "f") return "float";
    if (letter == "d") return "double";
    if (letter == "i") return "int";
    if (letter == "ui") return "uint";
    if (letter == "ll" || letter == "ull") return letter;
    return "";
  };
  if (to.empty() || longName(from).empty() || longName(to).empty()) return nullptr;
  mode = mode.substr(0, 2);
  llvm::StringRef rounding = mode == "rm" ? "rd" : mode == "rp" ? "ru" : mode;
  if (rounding != "rn" && rounding != "rz" && rounding != "rd" && rounding != "ru") return nullptr;
  std::string function = "__nv_" + longName(from).str() + "2" + longName(to).str();
  if (!(from == "i" && to == "d") && !(from == "ui" && to == "d"))
    function += "_" + rounding.str();
  else
    function += "_rn";
  return l.library(function, l.type(), {l.operand(0)});
}

/// add.rz.f, fma.rm.d, sqrt.rp.f, ...
llvm::Value* directed(Lowering& l, const std::string& name) {
  auto [operation, mode] = llvm::StringRef(name).split('.');
  llvm::StringRef rounding = mode == "rm" ? "rd" : mode == "rp" ? "ru" : mode == "rz" ? "rz" : "";
  if (rounding.empty()) return nullptr;
  if (operation != "add" && operation != "mul" && operation != "div" && operation != "rcp" &&
      operation != "sqrt" && operation != "fma")
    return nullptr;
  bool isDouble = l.type()->isDoubleTy();
  std::string function = "__nv_" +
                         std::string(operation == "fma" ? (isDouble ? "" : "")
                                     : isDouble         ? "d"
                                                        : "f") +
                         operation.str() + (operation == "fma" && !isDouble ? "f" : "") + "_" +
                         rounding.str();
  std::vector<llvm::Value*> arguments(l.call.arg_begin(), l.call.arg_end());
  return l.library(function, l.type(), arguments);
}

} // namespace

bool lowerArithmetic(Lowering& l, llvm::StringRef name, llvm::Value*& value) {
  const std::string plain = core(name);
  value = simple(l, plain);
  if (!value) value = reinterpret(l, name);
  if (!value) value = directed(l, plain);
  if (!value) value = convert(l, name);
  return value != nullptr;
}

} // namespace kcheck::instrument
