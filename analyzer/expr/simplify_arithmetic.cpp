// Rewriting of sums, products, quotients and choices.
#include "analyzer/expr/fold.h"
#include "analyzer/expr/simplifier.h"

#include <algorithm>
#include <bit>

namespace kcheck::analyzer {

namespace {
constexpr unsigned kMostSummands = 16;

bool fitsSigned(Int v, unsigned width) { return v >= signedMin(width) && v <= signedMax(width); }
} // namespace

Expr Simplifier::constant(unsigned width, std::int64_t value) {
  return table->intern(Op::Const, width, {}, normalize(value, width));
}

Expr Simplifier::raw(Op op, unsigned width, Expr x, Expr y, std::uint8_t flags) {
  if (isCommutative(op) && !isConst(y) && x->id > y->id) std::swap(x, y);
  return table->intern(op, width, {x, y}, 0, flags);
}

/// That the number, which is 0 or 1, is 1; null where it may be another one, or is known.
static Expr conditionOf(Expr x) {
  if (x->op == Op::ZExt && x->operands[0]->width == 1) return x->operands[0];
  const bool either = x->op == Op::Ite && isConst(x->operands[1], 1) && isConst(x->operands[2], 0);
  return either ? x->operands[0] : nullptr;
}

Expr Simplifier::binary(Op op, Expr x, Expr y, std::uint8_t flags) {
  if (isCommutative(op) && isConst(x) && (!isConst(y) || isConst(x, -1))) std::swap(x, y);
  // The minus of a flagged subtraction: whole, since the flag speaks of the number -x and not of its bits.
  bool isMinus = op == Op::Mul && x->width > 1 && isConst(y, -1) && (flags & NoSignedWrap);
  if (isMinus && isConst(x) && Int(x->value) == signedMin(x->width))
    return raw(op, x->width, x, y, NoSignedWrap);
  if (isConst(x) && isConst(y))
    return constant(isComparison(op) ? 1 : x->width, fold(op, x->width, x->value, y->value));
  if (isComparison(op)) return compare(op, x, y);
  if (x->width == 1) return logicOfNarrow(op, x, y);
  if (op != Op::Add && op != Op::Mul && op != Op::Shl) flags = NoFlags;
  if (isMinus) return raw(op, x->width, x, y, NoSignedWrap);
  if (Expr pushed = pushIntoIte(op, x, y, flags)) return pushed;
  const bool bitByBit = op == Op::And || op == Op::Or || op == Op::Xor;
  if (Expr a = conditionOf(x), b = conditionOf(y); bitByBit && a && b)
    return ite(binary(op, a, b, NoFlags), constant(x->width, 1), constant(x->width, 0));
  if (bitByBit && x->op == Op::ZExt && y->op == Op::ZExt && x->operands[0]->width == y->operands[0]->width)
    return extend(Op::ZExt, x->width, binary(op, x->operands[0], y->operands[0], NoFlags), NoFlags);
  switch (op) {
  case Op::Add: return add(x, y, flags);
  case Op::Mul: return mul(x, y, flags);
  case Op::UDiv:
  case Op::SDiv:
  case Op::URem:
  case Op::SRem: return divide(op, x, y);
  case Op::Shl:
  case Op::LShr:
  case Op::AShr: return shift(op, x, y, flags);
  case Op::And: return bitAnd(x, y);
  case Op::Or: return bitOr(x, y);
  default: return bitXor(x, y);
  }
}

/// op(c ? k : v, constant) -> c ? op(k, constant) : op(v, constant), likewise with the operands exchanged.
Expr Simplifier::pushIntoIte(Op op, Expr x, Expr y, std::uint8_t flags) {
  auto hasConstantArm = [](Expr e) {
    return e->op == Op::Ite && (isConst(e->operands[1]) || isConst(e->operands[2]));
  };
  if (isConst(y) && hasConstantArm(x))
    return ite(x->operands[0], binary(op, x->operands[1], y, flags), binary(op, x->operands[2], y, flags));
  if (isConst(x) && hasConstantArm(y))
    return ite(y->operands[0], binary(op, x, y->operands[1], flags), binary(op, x, y->operands[2], flags));
  return nullptr;
}

void Simplifier::collect(Expr e, std::uint64_t factor, LinearSum& sum) {
  if (!sum.complete) return;
  if (e->op == Op::Const) {
    sum.constant += factor * std::uint64_t(e->value);
    sum.exactConstant += Int(std::int64_t(factor)) * e->value;
    ++sum.leaves;
    return;
  }
  if (e->op == Op::Add) {
    sum.allNoWrap &= (e->flags & NoSignedWrap) != 0;
    collect(e->operands[0], factor, sum);
    collect(e->operands[1], factor, sum);
    return;
  }
  if (e->op == Op::Mul && isConst(e->operands[1])) {
    sum.allNoWrap &= (e->flags & NoSignedWrap) != 0;
    Int product = Int(std::int64_t(factor)) * e->operands[1]->value;
    sum.allNoWrap &= fitsSigned(product, std::min<unsigned>(e->width, 56));
    collect(e->operands[0], factor * std::uint64_t(e->operands[1]->value), sum);
    return;
  }
  if (++sum.leaves > kMostSummands) {
    sum.complete = false;
    return;
  }
  for (auto& [term, coefficient] : sum.terms)
    if (term == e) {
      coefficient += factor;
      return;
    }
  sum.terms.emplace_back(e, factor);
}

Expr Simplifier::sumOf(const LinearSum& sum, unsigned width) {
  std::vector<std::pair<Expr, std::int64_t>> terms;
  for (auto& [term, coefficient] : sum.terms) {
    std::int64_t k = signExtend(std::int64_t(coefficient), width);
    if (k != 0) terms.emplace_back(term, k);
  }
  std::sort(terms.begin(), terms.end(), [](auto& a, auto& b) { return a.first->id < b.first->id; });
  std::int64_t constantPart = signExtend(std::int64_t(sum.constant), width);
  // With at most one addition left, and no products, its mathematical value is that of the whole sum.
  std::size_t summands = terms.size() + (constantPart != 0);
  bool plain = sum.allNoWrap && summands == 2 && fitsSigned(sum.exactConstant, width);
  for (auto& [term, k] : terms) plain &= k == 1 || k == -1;
  for (auto& [term, coefficient] : sum.terms) // reduced coefficients are not the mathematical ones
    plain &= std::int64_t(coefficient) == signExtend(std::int64_t(coefficient), width);
  std::uint8_t flags = plain ? NoSignedWrap : NoFlags;
  Expr result = nullptr;
  for (auto& [term, k] : terms) {
    Expr part = k == 1 ? term : binary(Op::Mul, term, constant(width, k), flags);
    result = result ? raw(Op::Add, width, result, part, flags) : part;
  }
  if (!result) return constant(width, constantPart);
  if (constantPart == 0) return result;
  return table->intern(Op::Add, width, {result, constant(width, constantPart)}, 0, flags);
}

Expr Simplifier::cancelled(Expr x, Expr y) {
  if (x->op != Op::Add && y->op != Op::Add && x->op != Op::Mul && y->op != Op::Mul && x != y) return nullptr;
  LinearSum sum;
  // The sum being made counts as flagged here; the caller drops the result's flags where it is not.
  collect(x, 1, sum);
  collect(y, 1, sum);
  if (!sum.complete) return nullptr;
  unsigned width = x->width, left = signExtend(std::int64_t(sum.constant), width) != 0;
  for (auto& [term, coefficient] : sum.terms) left += signExtend(std::int64_t(coefficient), width) != 0;
  if (left >= sum.leaves) return nullptr;
  return sumOf(sum, width);
}

/// An operand taken out of a flagged sum: its minus no longer speaks of the sum.
Expr Simplifier::withoutMinus(Expr e) {
  bool isMinus = e->op == Op::Mul && isConst(e->operands[1], -1) && (e->flags & NoSignedWrap);
  return isMinus ? mul(e->operands[0], e->operands[1], NoFlags) : e;
}

namespace {

/// `factor` times `x / c` or `x % c`, as shifts and masks too, of an unsigned `x` in more bits perhaps.
struct Part {
  Op op = Op::Const; ///< UDiv, SDiv, URem or SRem; Const: it is none
  Expr x = nullptr;
  std::int64_t by = 0, factor = 1;
  bool isExtended = false;
};

Part partOf(Expr e) {
  Part part;
  if (e->op == Op::Mul && isConst(e->operands[1])) {
    part.factor = e->operands[1]->value;
    e = e->operands[0];
  }
  if (e->op == Op::SExt || e->op == Op::ZExt) {
    part.isExtended = true;
    e = e->operands[0];
  }
  if (e->operands.size() != 2 || !isConst(e->operands[1])) return {};
  const std::int64_t number = e->operands[1]->value;
  part.x = e->operands[0];
  part.by = number;
  switch (e->op) {
  case Op::UDiv:
  case Op::URem: part.op = e->op; break;
  case Op::SDiv:
  case Op::SRem: part.op = part.isExtended ? Op::Const : e->op; break;
  case Op::LShr:
    if (number <= 0 || number >= e->width - 1) return {};
    part.op = Op::UDiv;
    part.by = std::int64_t{1} << number;
    break;
  case Op::And:
    if (number <= 0 || number >= signedMax(e->width) || !std::has_single_bit(std::uint64_t(number) + 1))
      return {};
    part.op = Op::URem;
    part.by = number + 1;
    break;
  default: return {};
  }
  // In more bits the divisor is what it is without a sign, and the value no less than 0.
  if (part.isExtended && (part.by <= 1 || part.by > signedMax(e->width))) return {};
  return part;
}

/// As numbers of so many bits.
std::int64_t product(std::int64_t a, std::int64_t b, unsigned width) {
  return signExtend(std::int64_t(std::uint64_t(a) * std::uint64_t(b)), width);
}

/// `x % c`, with `c * (x / c)`: `x`. By SMT-LIB's rules that holds of 0 and of the least number, too.
Expr dividedAndBack(Expr remainder, Expr product) {
  if (product->op != Op::Mul || (remainder->op != Op::SRem && remainder->op != Op::URem)) return nullptr;
  for (std::size_t i : {0u, 1u}) {
    Expr quotient = product->operands[i];
    if (quotient->op == (remainder->op == Op::SRem ? Op::SDiv : Op::UDiv) &&
        quotient->operands == remainder->operands && product->operands[1 - i] == remainder->operands[1])
      return remainder->operands[0];
  }
  return nullptr;
}

} // namespace

/// What two summands are together, where one is a remainder and the other one the rest, or a number and the
/// other one all of it but the remainder.
Expr Simplifier::partsOfOne(Expr x, Expr y) {
  const unsigned width = x->width;
  for (const auto& [first, second] : {std::pair(x, y), std::pair(y, x)}) {
    if (Expr whole = dividedAndBack(first, second)) return whole;
    const Part quotient = partOf(second);
    if (quotient.op != Op::UDiv && quotient.op != Op::SDiv) continue;
    const Op rest = quotient.op == Op::UDiv ? Op::URem : Op::SRem;
    if (const Part part = partOf(first); part.op == rest && part.x == quotient.x && part.by == quotient.by &&
                                         part.isExtended == quotient.isExtended &&
                                         quotient.factor == product(part.factor, part.by, width)) {
      const Expr whole = part.isExtended ? extend(Op::ZExt, width, part.x, NoFlags) : part.x;
      return binary(Op::Mul, whole, constant(width, part.factor), NoFlags);
    }
    if (!quotient.isExtended && first == quotient.x && quotient.factor == product(-1, quotient.by, width))
      return binary(rest, first, constant(width, quotient.by), NoFlags);
  }
  return nullptr;
}

/// The same where one of them has been added to something else.
Expr Simplifier::partsWithin(Expr x, Expr y, std::uint8_t flags) {
  for (const auto& [part, sum] : {std::pair(x, y), std::pair(y, x)}) {
    if (sum->op != Op::Add) continue;
    for (std::size_t i : {0u, 1u}) {
      const Expr whole = partsOfOne(part, sum->operands[i]);
      if (!whole) continue;
      const bool isCount =
          whole->op == Op::Symbol && whole->symbol->lo >= 0; // its parts are no less, and no more
      return add(sum->operands[1 - i], whole, isCount ? flags & sum->flags & NoSignedWrap : NoFlags);
    }
  }
  return nullptr;
}

Expr Simplifier::add(Expr x, Expr y, std::uint8_t flags) {
  unsigned width = x->width;
  if (isConst(y, 0)) return x;
  if (Expr whole = partsOfOne(x, y)) return whole;
  if (Expr rest = partsWithin(x, y, flags)) return rest;
  if (isConst(y) && x->op == Op::Add && isConst(x->operands[1])) {
    std::int64_t a = x->operands[1]->value, b = y->value;
    std::uint8_t both = flags & x->flags;
    if (!fitsSigned(Int(a) + b, width)) both &= std::uint8_t(~NoSignedWrap);
    if (((unsigned __int128)zeroExtend(a, width) + zeroExtend(b, width)) >> width)
      both &= std::uint8_t(~NoUnsignedWrap);
    Expr rest = (both & NoSignedWrap) ? x->operands[0] : withoutMinus(x->operands[0]);
    return add(rest, constant(width, std::int64_t(std::uint64_t(a) + std::uint64_t(b))), both);
  }
  LinearSum own;
  if (!(flags & NoSignedWrap)) {
    // Without the flag on this addition nothing may be kept.
    collect(x, 1, own);
    collect(y, 1, own);
    own.allNoWrap = false;
    unsigned left = signExtend(std::int64_t(own.constant), width) != 0;
    for (auto& [term, coefficient] : own.terms) left += signExtend(std::int64_t(coefficient), width) != 0;
    if (own.complete && left < own.leaves) return sumOf(own, width);
  } else if (Expr joinedSum = cancelled(x, y)) {
    return joinedSum;
  }
  if (flags == NoFlags) { // keep the constant outermost
    if (y->op == Op::Add && isConst(y->operands[1]) && y->flags == NoFlags)
      return add(add(x, y->operands[0], NoFlags), y->operands[1], NoFlags);
    if (!isConst(y) && x->op == Op::Add && isConst(x->operands[1]) && x->flags == NoFlags)
      return add(add(x->operands[0], y, NoFlags), x->operands[1], NoFlags);
  }
  return raw(Op::Add, width, x, y, flags);
}

Expr Simplifier::mul(Expr x, Expr y, std::uint8_t flags) {
  unsigned width = x->width;
  if (isConst(x)) std::swap(x, y);
  if (isConst(x) && isConst(y)) return constant(width, fold(Op::Mul, width, x->value, y->value));
  if (isConst(y, 0)) return y;
  if (isConst(y, 1)) return x;
  if (isConst(y) && x->op == Op::Mul && isConst(x->operands[1])) {
    std::int64_t a = x->operands[1]->value, b = y->value;
    std::uint8_t both = flags & x->flags;
    if (!fitsSigned(Int(a) * b, width)) both &= std::uint8_t(~NoSignedWrap);
    // -(-x) has no wrap in mathematics but in the middle; the flag of a negation belongs to its sum.
    if (a == -1) both &= std::uint8_t(~NoSignedWrap);
    if (((unsigned __int128)zeroExtend(a, width) * zeroExtend(b, width)) >> width)
      both &= std::uint8_t(~NoUnsignedWrap);
    return mul(x->operands[0], constant(width, std::int64_t(std::uint64_t(a) * std::uint64_t(b))), both);
  }
  return raw(Op::Mul, width, x, y, flags);
}

Expr Simplifier::divide(Op op, Expr x, Expr y) {
  unsigned width = x->width;
  bool isRemainder = op == Op::URem || op == Op::SRem;
  if (isConst(y, 1)) return isRemainder ? constant(width, 0) : x;
  if (isConst(y, 0) && isRemainder) return x;
  if (isConst(y) && (op == Op::UDiv || op == Op::URem)) {
    std::uint64_t divisor = zeroExtend(y->value, width);
    if (isPowerOfTwo(divisor)) {
      if (isRemainder) return bitAnd(x, constant(width, std::int64_t(divisor - 1)));
      return shift(Op::LShr, x, constant(width, std::countr_zero(divisor)), NoFlags);
    }
  }
  if (isConst(y) && x->op == Op::ZExt && y->value > 0) {
    // Both operands are zero-extended from the narrower type, and so is the result.
    unsigned narrow = x->operands[0]->width;
    Op unsignedOp = isRemainder ? Op::URem : Op::UDiv;
    if (zeroExtend(y->value, narrow) == std::uint64_t(y->value))
      return extend(Op::ZExt, width, binary(unsignedOp, x->operands[0], constant(narrow, y->value), NoFlags),
                    NoFlags);
    return isRemainder ? x : constant(width, 0);
  }
  return raw(op, width, x, y);
}

Expr Simplifier::ite(Expr c, Expr x, Expr y) {
  if (isConst(c)) return c->value ? x : y;
  if (x == y) return x;
  if (x->width == 1) return logic(Op::Or, logic(Op::And, c, x), logic(Op::And, negate(c), y));
  if (c->op == Op::Xor && isConst(c->operands[1], 1)) return ite(c->operands[0], y, x);
  if (x->op == Op::Ite && x->operands[0] == c) return ite(c, x->operands[1], y);
  if (y->op == Op::Ite && y->operands[0] == c) return ite(c, x, y->operands[2]);
  if (x->op == Op::Ite && areOpposite(x->operands[0], c)) return ite(c, x->operands[2], y);
  if (y->op == Op::Ite && areOpposite(y->operands[0], c)) return ite(c, x, y->operands[1]);
  if (y->op == Op::Ite && y->operands[1] == x)
    return ite(logic(Op::Or, c, y->operands[0]), x, y->operands[2]);
  if (x->op == Op::Ite && x->operands[2] == y)
    return ite(logic(Op::And, c, x->operands[0]), x->operands[1], y);
  return table->intern(Op::Ite, x->width, {c, x, y});
}

} // namespace kcheck::analyzer
