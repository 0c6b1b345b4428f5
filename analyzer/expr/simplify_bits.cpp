// Rewriting of shifts, masks and width changes.
#include "analyzer/expr/fold.h"
#include "analyzer/expr/simplifier.h"

#include <bit>

namespace kcheck::analyzer {

/// k where e is x * 2^k, else 0.
static unsigned scaleExponent(Expr e) {
  if (e->op != Op::Mul || !isConst(e->operands[1])) return 0;
  std::uint64_t factor = zeroExtend(e->operands[1]->value, e->width);
  return isPowerOfTwo(factor) ? unsigned(std::countr_zero(factor)) : 0;
}

Expr Simplifier::shift(Op op, Expr x, Expr y, std::uint8_t flags) {
  unsigned width = x->width;
  if (!isConst(y)) return isConst(x, 0) ? x : raw(op, width, x, y, flags);
  std::uint64_t amount = zeroExtend(y->value, width);
  if (amount == 0) return x;
  if (amount >= width) {
    if (op != Op::AShr) return constant(width, 0);
    amount = width - 1;
    y = constant(width, std::int64_t(amount));
  }
  unsigned count = unsigned(amount);
  if (op == Op::Shl) {
    // x << (width - 1) multiplies by a number that is negative as a signed one.
    if (count == width - 1) flags &= std::uint8_t(~NoSignedWrap);
    return mul(x, constant(width, std::int64_t(std::uint64_t(1) << count)), flags);
  }
  if (x->op == op && isConst(x->operands[1])) {
    std::uint64_t total = zeroExtend(x->operands[1]->value, width) + amount;
    return shift(op, x->operands[0], constant(width, std::int64_t(std::min<std::uint64_t>(total, width))),
                 NoFlags);
  }
  if (x->op == Op::ZExt) {
    Expr inner = x->operands[0];
    if (count >= inner->width) return constant(width, 0);
    return extend(Op::ZExt, width, shift(Op::LShr, inner, constant(inner->width, count), NoFlags), NoFlags);
  }
  if (op == Op::AShr) {
    if (x->op == Op::SExt) {
      Expr inner = x->operands[0];
      unsigned inside = std::min(count, unsigned(inner->width - 1));
      return extend(Op::SExt, width, shift(Op::AShr, inner, constant(inner->width, inside), NoFlags),
                    NoFlags);
    }
    if (scaleExponent(x) == count && (x->flags & NoSignedWrap)) return x->operands[0];
    return raw(op, width, x, y);
  }
  if (x->op == Op::And && isConst(x->operands[1]))
    return bitAnd(shift(op, x->operands[0], y, NoFlags),
                  constant(width, std::int64_t(zeroExtend(x->operands[1]->value, width) >> count)));
  if (scaleExponent(x) == count) {
    if (x->flags & NoUnsignedWrap) return x->operands[0];
    return bitAnd(x->operands[0], constant(width, std::int64_t(zeroExtend(-1, width) >> count)));
  }
  Expr made = raw(op, width, x, y), part = putTogether(made);
  return part ? part : made;
}

Expr Simplifier::bitAnd(Expr x, Expr y) {
  unsigned width = x->width;
  if (isConst(x)) std::swap(x, y);
  if (isConst(x) && isConst(y)) return constant(width, x->value & y->value);
  if (x == y) return x;
  if (!isConst(y)) return raw(Op::And, width, x, y);
  std::uint64_t mask = zeroExtend(y->value, width), all = zeroExtend(-1, width);
  if (mask == 0) return y;
  if (x->op == Op::Or && width > 1 && isConst(x->operands[1])) { // what the constant sets is known
    Expr rest = bitAnd(x->operands[0], y), set = constant(width, x->operands[1]->value & y->value);
    if (isConst(rest)) return constant(width, rest->value | set->value);
  }
  for (std::size_t i : {0u, 1u}) // what one part has no bit of is the other's
    if (Expr part = x->op == Op::Or ? x->operands[i] : nullptr;
        part && part->op == Op::And && isConst(part->operands[1]) &&
        (zeroExtend(part->operands[1]->value, width) & mask) == 0)
      return bitAnd(x->operands[1 - i], y);
  std::uint64_t possible = all; // the bits of x that can be set
  if (x->op == Op::ZExt) possible = zeroExtend(-1, x->operands[0]->width);
  if (x->op == Op::LShr && isConst(x->operands[1]))
    possible = all >> zeroExtend(x->operands[1]->value, width);
  if (unsigned k = scaleExponent(x)) possible = all & ~((std::uint64_t(1) << k) - 1);
  if (x->op == Op::And && isConst(x->operands[1])) possible = zeroExtend(x->operands[1]->value, width);
  if ((mask & possible) == possible) return x;
  if ((mask & possible) == 0) return constant(width, 0);
  if (x->op == Op::And && isConst(x->operands[1]))
    return bitAnd(x->operands[0], constant(width, std::int64_t(mask & possible)));
  if ((x->op == Op::ZExt || x->op == Op::SExt) && (mask >> x->operands[0]->width) == 0) {
    Expr inner = x->operands[0];
    return extend(Op::ZExt, width, bitAnd(inner, constant(inner->width, std::int64_t(mask))), NoFlags);
  }
  if ((x->op == Op::Or || x->op == Op::Xor) && isConst(x->operands[1]) &&
      (zeroExtend(x->operands[1]->value, width) & mask) == 0)
    return bitAnd(x->operands[0], y);
  bool lowBits = (mask & (mask + 1)) == 0;
  if (lowBits && x->op == Op::Add && isConst(x->operands[1]) &&
      (zeroExtend(x->operands[1]->value, width) & mask) == 0)
    return bitAnd(withoutMinus(x->operands[0]), y);
  Expr made = raw(Op::And, width, x, constant(width, std::int64_t(mask & possible))),
       part = putTogether(made);
  return part ? part : made;
}

Expr Simplifier::bitOr(Expr x, Expr y) {
  if (x == y || isConst(y, 0)) return x;
  if (isConst(y, -1)) return y;
  if (isConst(y) && x->op == Op::Or && isConst(x->operands[1]))
    return bitOr(x->operands[0], constant(x->width, x->operands[1]->value | y->value));
  Expr made = raw(Op::Or, x->width, x, y), whole = putTogether(made);
  return whole ? whole : made;
}

Expr Simplifier::bitXor(Expr x, Expr y) {
  if (x == y) return constant(x->width, 0);
  if (isConst(y, 0)) return x;
  if (isConst(y) && x->op == Op::Xor && isConst(x->operands[1]))
    return bitXor(x->operands[0], constant(x->width, x->operands[1]->value ^ y->value));
  for (int i = 0; i < 2; ++i) { // (a ^ b) ^ b
    if (x->op == Op::Xor && x->operands[std::size_t(i)] == y) return x->operands[std::size_t(1 - i)];
    if (y->op == Op::Xor && y->operands[std::size_t(i)] == x) return y->operands[std::size_t(1 - i)];
  }
  return raw(Op::Xor, x->width, x, y);
}

/// Whether truncating x to `width` reaches constants and extensions only, so that it costs no Trunc node.
bool Simplifier::truncationIsFree(Expr x, unsigned width, unsigned depth) {
  if (depth == 0) return false;
  switch (x->op) {
  case Op::Const: return true;
  case Op::ZExt:
  case Op::SExt: return x->operands[0]->width <= width || truncationIsFree(x->operands[0], width, depth - 1);
  case Op::Add:
  case Op::Mul:
  case Op::And:
  case Op::Or:
  case Op::Xor:
    return truncationIsFree(x->operands[0], width, depth - 1) &&
           truncationIsFree(x->operands[1], width, depth - 1);
  case Op::Ite:
    return truncationIsFree(x->operands[1], width, depth - 1) &&
           truncationIsFree(x->operands[2], width, depth - 1);
  default: return false;
  }
}

Expr Simplifier::truncate(unsigned width, Expr x, std::uint8_t flags) {
  if (x->op == Op::Trunc) return truncate(width, x->operands[0], flags & x->flags);
  if (flags == NoFlags && (x->op == Op::ZExt || x->op == Op::SExt)) {
    Expr inner = x->operands[0];
    if (inner->width == width) return inner;
    if (inner->width < width) return extend(x->op, width, inner, NoFlags);
    return truncate(width, inner, NoFlags);
  }
  if (flags == NoFlags && truncationIsFree(x, width, 8)) {
    auto cut = [&](std::size_t i) { return extend(Op::Trunc, width, x->operands[i], NoFlags); };
    if (x->op == Op::Ite) return ite(x->operands[0], cut(1), cut(2));
    return binary(x->op, cut(0), cut(1), NoFlags);
  }
  if (x->op == Op::Ite && (isConst(x->operands[1]) || isConst(x->operands[2])))
    return ite(x->operands[0], extend(Op::Trunc, width, x->operands[1], flags),
               extend(Op::Trunc, width, x->operands[2], flags));
  // A mask that keeps all the bits that are kept anyway.
  if (flags == NoFlags && x->op == Op::And && isConst(x->operands[1]) &&
      zeroExtend(x->operands[1]->value, width) == zeroExtend(-1, width))
    return truncate(width, x->operands[0], NoFlags);
  return table->intern(Op::Trunc, width, {x}, 0, flags);
}

/// Whether the top bit of x is 0 by its form.
static bool isNonNegative(Expr x) {
  switch (x->op) {
  case Op::ZExt: return true;
  case Op::And:
    return (isConst(x->operands[1]) && x->operands[1]->value >= 0) ||
           (isNonNegative(x->operands[0]) && x->operands[0]->op != Op::And) ||
           (isNonNegative(x->operands[1]) && x->operands[1]->op != Op::And);
  case Op::LShr: return isConst(x->operands[1]) && x->operands[1]->value > 0;
  case Op::Const: return x->value >= 0;
  default: return false;
  }
}

Expr Simplifier::extend(Op op, unsigned width, Expr x, std::uint8_t flags) {
  if (x->width == width) return x;
  if (isConst(x)) return constant(width, foldExtend(op, width, x->width, x->value));
  if (op == Op::Trunc) return x->width > width ? truncate(width, x, flags) : x;
  if (x->width == 1) return ite(x, constant(width, op == Op::ZExt ? 1 : -1), constant(width, 0));
  if (op == Op::SExt && isNonNegative(x)) op = Op::ZExt;
  if (x->op == op) return extend(op, width, x->operands[0], NoFlags);
  if (x->op == Op::Ite && (isConst(x->operands[1]) || isConst(x->operands[2])))
    return ite(x->operands[0], extend(op, width, x->operands[1], NoFlags),
               extend(op, width, x->operands[2], NoFlags));
  if (op == Op::ZExt && x->op == Op::Trunc) { // bytes and half-words as masks of the wider value
    Expr whole = x->operands[0];
    Expr masked = bitAnd(whole, constant(whole->width, std::int64_t(zeroExtend(-1, x->width))));
    return whole->width > width ? extend(Op::Trunc, width, masked, NoFlags)
                                : extend(Op::ZExt, width, masked, NoFlags);
  }
  return table->intern(op, width, {x});
}

} // namespace kcheck::analyzer
