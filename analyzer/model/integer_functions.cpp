#include "analyzer/model/integer_functions.h"

#include "analyzer/expr/range.h"

#include <bit>

namespace kcheck::analyzer {

Expr minimumOrMaximum(ExprContext& exprs, Expr a, Expr b, bool isSigned, bool minimum) {
  Expr less = exprs.binary(isSigned ? Op::Slt : Op::Ult, a, b);
  return minimum ? exprs.ite(less, a, b) : exprs.ite(less, b, a);
}

Expr absoluteValue(ExprContext& exprs, Expr x) {
  Expr zero = exprs.constant(x->width, 0);
  return exprs.ite(exprs.binary(Op::Slt, x, zero), exprs.sub(zero, x), x);
}

Expr highProduct(ExprContext& exprs, Expr a, Expr b, bool isSigned) {
  if (a->width != 32) return nullptr;
  Op extend = isSigned ? Op::SExt : Op::ZExt;
  Expr product = exprs.mul(exprs.extend(extend, 64, a), exprs.extend(extend, 64, b),
                           isSigned ? NoSignedWrap : NoUnsignedWrap);
  return exprs.extend(Op::Trunc, 32, exprs.binary(Op::LShr, product, exprs.constant(64, 32)));
}

Expr halfSum(ExprContext& exprs, Expr a, Expr b, bool isSigned, bool roundsUp) {
  const Op extend = isSigned ? Op::SExt : Op::ZExt;
  const auto both = std::uint8_t(NoSignedWrap | NoUnsignedWrap);
  Expr sum =
      exprs.add(exprs.extend(extend, 64, a), exprs.extend(extend, 64, b), isSigned ? NoSignedWrap : both);
  if (roundsUp) sum = exprs.add(sum, exprs.constant(64, 1), NoSignedWrap);
  return exprs.extend(Op::Trunc, 32,
                      exprs.binary(isSigned ? Op::AShr : Op::LShr, sum, exprs.constant(64, 1)));
}

Expr difference(ExprContext& exprs, Expr a, Expr b, bool isSigned) {
  Expr less = exprs.binary(isSigned ? Op::Slt : Op::Ult, a, b);
  return exprs.ite(less, exprs.sub(b, a), exprs.sub(a, b));
}

Expr lowest24(ExprContext& exprs, Expr x, bool isSigned) {
  if (!isSigned) return exprs.binary(Op::And, x, exprs.constant(32, 0xffffff));
  Expr eight = exprs.constant(32, 8);
  return exprs.binary(Op::AShr, exprs.binary(Op::Shl, x, eight), eight);
}

/// Of a number that is not 0: halves are looked at in turn.
static Expr zerosAbove(ExprContext& exprs, Expr x) {
  const unsigned width = x->width;
  Expr count = exprs.constant(32, 0), rest = x;
  for (unsigned half = width / 2; half > 0; half /= 2) {
    Expr end = exprs.constant(width, normalize(std::int64_t(std::uint64_t(1) << (width - half)), width));
    Expr isLow = exprs.binary(Op::Ult, rest, end);
    count = exprs.add(count, exprs.ite(isLow, exprs.constant(32, half), exprs.constant(32, 0)));
    rest = exprs.ite(isLow, exprs.binary(Op::Shl, rest, exprs.constant(width, half)), rest);
  }
  return count;
}

Expr leadingZeros(ExprContext& exprs, Expr x) {
  return exprs.ite(exprs.eq(x, exprs.constant(x->width, 0)), exprs.constant(32, x->width),
                   zerosAbove(exprs, x));
}

Expr firstSetBit(ExprContext& exprs, Expr x) {
  Expr none = exprs.constant(x->width, 0), lowest = exprs.binary(Op::And, x, exprs.sub(none, x));
  return exprs.ite(exprs.eq(x, none), exprs.constant(32, 0),
                   exprs.sub(exprs.constant(32, x->width), zerosAbove(exprs, lowest)));
}

/// Neighbours are added up: bits, then pairs of bits, and so on.
Expr setBits(ExprContext& exprs, Expr x) {
  const unsigned width = x->width;
  Expr sums = x;
  for (unsigned step = 1; step < width; step *= 2) {
    std::uint64_t mask = 0;
    for (unsigned bit = 0; bit < width; ++bit)
      if (bit / step % 2 == 0) mask |= std::uint64_t(1) << bit;
    Expr even = exprs.constant(width, normalize(std::int64_t(mask), width));
    Expr next = exprs.binary(Op::LShr, sums, exprs.constant(width, step));
    sums = exprs.add(exprs.binary(Op::And, sums, even), exprs.binary(Op::And, next, even), NoUnsignedWrap);
  }
  return width == 32 ? sums : exprs.extend(Op::Trunc, 32, sums);
}

Expr reversedBits(ExprContext& exprs, Expr a) {
  Ranges ranges(Ranges::Wrapping::Exact);
  std::uint64_t maybe = std::uint64_t(ranges.of(a).maybe) & (a->width == 64 ? ~0ull : (1ull << a->width) - 1);
  constexpr int kMostBits = 12;
  if (std::popcount(maybe) > kMostBits) return nullptr;
  Expr result = exprs.constant(a->width, 0);
  for (unsigned bit = 0; bit < a->width; ++bit) {
    if (!(maybe >> bit & 1)) continue;
    Expr one = exprs.binary(Op::And, exprs.binary(Op::LShr, a, exprs.constant(a->width, bit)),
                            exprs.constant(a->width, 1));
    result = exprs.binary(Op::Or, result,
                          exprs.binary(Op::Shl, one, exprs.constant(a->width, a->width - 1 - bit)));
  }
  return result;
}

/// Bytes are chosen one by one; with its highest bit a place of the selector asks for eight times the byte's
/// sign.
Expr permutedBytes(ExprContext& exprs, Expr low, Expr high, Expr selector) {
  if (!isConst(selector)) return nullptr;
  constexpr unsigned kBytes = 4;
  Expr result = exprs.constant(32, 0);
  for (unsigned place = 0; place < kBytes; ++place) {
    const auto number = unsigned(selector->value >> (4 * place)) & 7;
    Expr byte = exprs.binary(Op::LShr, number < kBytes ? low : high, exprs.constant(32, number % kBytes * 8));
    byte = exprs.extend(Op::Trunc, 8, byte);
    result =
        exprs.binary(Op::Or, result,
                     exprs.binary(Op::Shl, exprs.extend(Op::ZExt, 32, byte), exprs.constant(32, 8 * place)));
  }
  return result;
}

} // namespace kcheck::analyzer
