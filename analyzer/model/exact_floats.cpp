// A value is a numerator over a power of two. As long as the numerator has no more bits than the type's
// significand nothing is rounded, in whatever order it is computed.
#include "analyzer/model/exact_floats.h"

#include "analyzer/expr/range.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

constexpr unsigned kMostBits = 20, kMostDepth = 8; ///< behind the point; of operations upon each other

struct Exact {
  Expr numerator = nullptr; ///< 64 bit, signed
  unsigned bits = 0;        ///< the value is numerator / 2^bits
};

class ExactFloats {
public:
  ExactFloats(ExprContext& exprs, const std::function<Expr(const Value*)>& valueOf)
      : exprs(exprs), valueOf(valueOf) {}

  std::optional<Exact> of(const Value* v, unsigned depth = 0) {
    if (depth > kMostDepth || !(v->getType()->isFloatTy() || v->getType()->isDoubleTy())) return {};
    auto result = compute(v, depth);
    return result && fits(*result, v->getType()->isFloatTy() ? 24 : 53) ? result : std::nullopt;
  }

  bool isNonNegative(Expr e) const {
    Ranges ranges(Ranges::Wrapping::Exact);
    return ranges.of(e).lo >= 0;
  }

private:
  std::optional<Exact> compute(const Value* v, unsigned depth) {
    if (auto* constant = dyn_cast<ConstantFP>(v)) return literal(constant->getValueAPF().convertToDouble());
    auto* instruction = dyn_cast<Instruction>(v);
    if (!instruction) return {};
    auto operand = [&](unsigned i) { return of(instruction->getOperand(i), depth + 1); };
    switch (instruction->getOpcode()) {
    case Instruction::SIToFP: return integer(Op::SExt, instruction->getOperand(0));
    case Instruction::UIToFP: return integer(Op::ZExt, instruction->getOperand(0));
    case Instruction::FPExt:
    case Instruction::FPTrunc: return operand(0);
    case Instruction::FNeg: return negative(operand(0));
    case Instruction::FAdd: return sum(operand(0), operand(1));
    case Instruction::FSub: return sum(operand(0), negative(operand(1)));
    case Instruction::FMul: return product(operand(0), operand(1));
    case Instruction::FDiv: return product(operand(0), inverse(operand(1)));
    case Instruction::Call: return call(cast<CallInst>(*instruction), depth);
    default: return {};
    }
  }

  std::optional<Exact> call(const CallInst& call, unsigned depth) {
    const llvm::Function* callee = call.getCalledFunction();
    if (!callee) return {};
    const StringRef name = callee->getName();
    auto operand = [&](unsigned i) { return of(call.getArgOperand(i), depth + 1); };
    auto isOneOf = [&](StringRef what) {
      return name == "__nv_" + what.str() || name == "__nv_" + what.str() + "f" ||
             name.starts_with("llvm." + what.str() + ".f");
    };
    if (isOneOf("floor")) return down(operand(0));
    if (isOneOf("ceil")) return negative(down(negative(operand(0))));
    if (isOneOf("trunc")) {
      auto x = operand(0);
      return x ? std::optional(Exact{truncated(*x), 0}) : std::nullopt;
    }
    if (isOneOf("fma") || isOneOf("fmuladd")) { // perhaps in two steps
      const auto inner = product(operand(0), operand(1));
      return inner && fits(*inner, 24) ? sum(inner, operand(2)) : std::nullopt;
    }
    return {};
  }

  std::optional<Exact> literal(double value) {
    for (unsigned bits = 0; bits <= kMostBits; ++bits) {
      const double scaled = std::ldexp(value, int(bits));
      if (!(std::fabs(scaled) < 9e15)) return {};
      if (scaled == std::floor(scaled)) return Exact{exprs.constant(64, std::int64_t(scaled)), bits};
    }
    return {};
  }

  std::optional<Exact> integer(Op extend, const Value* v) {
    if (!v->getType()->isIntegerTy() || v->getType()->getIntegerBitWidth() > 64) return {};
    Expr e = valueOf(v);
    if (e->width == 64 && extend == Op::ZExt && !isNonNegative(e)) return {};
    return Exact{e->width < 64 ? exprs.extend(extend, 64, e) : e, 0};
  }

  std::optional<Exact> negative(const std::optional<Exact>& x) {
    if (!x) return {};
    return Exact{exprs.mul(x->numerator, exprs.constant(64, -1), NoSignedWrap), x->bits};
  }

  std::optional<Exact> sum(const std::optional<Exact>& x, const std::optional<Exact>& y) {
    if (!x || !y) return {};
    const unsigned bits = std::max(x->bits, y->bits);
    auto aligned = [&](const Exact& e) {
      return exprs.mul(e.numerator, exprs.constant(64, std::int64_t(1) << (bits - e.bits)), NoSignedWrap);
    };
    return Exact{exprs.add(aligned(*x), aligned(*y), NoSignedWrap), bits};
  }

  std::optional<Exact> product(const std::optional<Exact>& x, const std::optional<Exact>& y) {
    if (!x || !y || x->bits + y->bits > kMostBits || !fits(*x, 30) || !fits(*y, 30)) return {};
    return Exact{exprs.mul(x->numerator, y->numerator, NoSignedWrap), x->bits + y->bits};
  }

  /// Of powers of two.
  std::optional<Exact> inverse(const std::optional<Exact>& x) {
    if (!x || !isConst(x->numerator) || x->numerator->value <= 0) return {};
    const auto numerator = std::uint64_t(x->numerator->value);
    const auto power = unsigned(std::countr_zero(numerator));
    if (!std::has_single_bit(numerator) || power > kMostBits) return {};
    return Exact{exprs.constant(64, std::int64_t(1) << x->bits), power};
  }

  std::optional<Exact> down(const std::optional<Exact>& x) {
    if (!x) return {};
    return Exact{exprs.binary(Op::AShr, x->numerator, exprs.constant(64, x->bits)), 0};
  }

  bool fits(const Exact& x, unsigned bits) const {
    Ranges ranges(Ranges::Wrapping::Exact);
    const Range range = ranges.of(x.numerator);
    const Int most = Int(1) << bits;
    return range.lo >= -most && range.hi <= most;
  }

public:
  Expr truncated(const Exact& x) {
    if (x.bits == 0) return x.numerator;
    if (isNonNegative(x.numerator)) return exprs.binary(Op::LShr, x.numerator, exprs.constant(64, x.bits));
    return exprs.binary(Op::SDiv, x.numerator, exprs.constant(64, std::int64_t(1) << x.bits));
  }

private:
  ExprContext& exprs;
  const std::function<Expr(const Value*)>& valueOf;
};

} // namespace

Expr exactInteger(ExprContext& exprs, const CastInst& conversion,
                  const std::function<Expr(const Value*)>& valueOf) {
  if (!conversion.getType()->isIntegerTy() || conversion.getType()->getIntegerBitWidth() > 64) return nullptr;
  const unsigned width = conversion.getType()->getIntegerBitWidth();
  ExactFloats floats(exprs, valueOf);
  const auto exact = floats.of(conversion.getOperand(0));
  if (!exact) return nullptr;
  Expr whole = floats.truncated(*exact);
  const bool isUnsigned = conversion.getOpcode() == Instruction::FPToUI;
  Ranges ranges(Ranges::Wrapping::Exact);
  const Range range = ranges.of(whole);
  const Int most = Int(1) << (isUnsigned ? width : width - 1);
  if (range.hi >= most || range.lo < (isUnsigned ? Int(0) : -most)) return nullptr;
  return width < 64 ? exprs.extend(Op::Trunc, width, whole, isUnsigned ? NoUnsignedWrap : NoSignedWrap)
                    : whole;
}

} // namespace kcheck::analyzer
