// Values that are taken apart and put together again, as through bytes and bit-fields of memory: where all
// bits come from one value, it is that value's.
#include "analyzer/expr/fold.h"
#include "analyzer/expr/simplifier.h"

#include <array>
#include <bit>

namespace kcheck::analyzer {

namespace {

constexpr unsigned kMostWidth = 64, kDepth = 16, kMostNodes = 400;

/// Of each bit of a value: the bit of which other value it is. No value: the bit is 0.
struct Source {
  Expr base = nullptr;
  unsigned bit = 0;
};
using Sources = std::array<Source, kMostWidth>;

/// False where bits are mixed.
bool collectSources(Expr e, unsigned depth, Sources& result, unsigned& budget) {
  result = {};
  auto leaf = [&] {
    for (unsigned i = 0; i < e->width; ++i) result[i] = {e, i};
    return true;
  };
  if (depth == 0 || budget == 0) return leaf();
  --budget;
  if (e->op == Op::Const) {
    for (unsigned i = 0; i < e->width; ++i)
      if (zeroExtend(e->value, e->width) >> i & 1) result[i] = {e, i};
    return true;
  }
  Expr y = e->operands.size() == 2 ? e->operands[1] : nullptr;
  Sources inner{};
  if (e->op == Op::Or) {
    if (!collectSources(e->operands[0], depth - 1, result, budget) ||
        !collectSources(y, depth - 1, inner, budget))
      return false;
    for (unsigned i = 0; i < e->width; ++i) {
      if (!inner[i].base) continue;
      const bool isOther =
          result[i].base && (result[i].base != inner[i].base || result[i].bit != inner[i].bit);
      if (isOther) return false;
      result[i] = inner[i];
    }
    return true;
  }
  if (e->op == Op::ZExt || e->op == Op::Trunc) {
    if (!collectSources(e->operands[0], depth - 1, inner, budget)) return leaf();
    for (unsigned i = 0; i < e->width && i < e->operands[0]->width; ++i) result[i] = inner[i];
    return true;
  }
  if (!y || !isConst(y)) return leaf();
  const std::uint64_t number = zeroExtend(y->value, e->width);
  if (e->op == Op::And) {
    if (!collectSources(e->operands[0], depth - 1, inner, budget)) return leaf();
    for (unsigned i = 0; i < e->width; ++i)
      if (number >> i & 1) result[i] = inner[i];
    return true;
  }
  const bool goesUp = e->op == Op::Mul && isPowerOfTwo(number), goesDown = e->op == Op::LShr;
  if ((!goesUp && !goesDown) || (goesDown && number >= e->width)) return leaf();
  if (!collectSources(e->operands[0], depth - 1, inner, budget)) return leaf();
  const unsigned by = goesUp ? unsigned(std::countr_zero(number)) : unsigned(number);
  for (unsigned i = 0; i < e->width; ++i) {
    if (goesUp && i >= by) result[i] = inner[i - by];
    if (goesDown && i + by < e->width) result[i] = inner[i + by];
  }
  return true;
}

bool isPart(Expr e) {
  return (e->op == Op::Mul || e->op == Op::And || e->op == Op::LShr) && isConst(e->operands[1]);
}

} // namespace

/// x | y, or x moved or masked: null where it is no part of one value of that width.
Expr Simplifier::putTogether(Expr whole) {
  const unsigned width = whole->width;
  if (width < 8 || width > kMostWidth) return nullptr;
  const bool joins = whole->op == Op::Or && (isPart(whole->operands[0]) || isPart(whole->operands[1]));
  const bool takesApart = (whole->op == Op::LShr || whole->op == Op::And) &&
                          (whole->operands[0]->op == Op::Or || whole->operands[0]->op == Op::Trunc);
  Sources bits;
  unsigned budget = kMostNodes;
  if ((!joins && !takesApart) || !collectSources(whole, kDepth, bits, budget)) return nullptr;
  Expr base = nullptr;
  int shift = 0;
  std::uint64_t mask = 0;
  for (unsigned i = 0; i < width; ++i) {
    if (!bits[i].base) continue;
    const int down = int(bits[i].bit) - int(i);
    if (base && (base != bits[i].base || shift != down)) return nullptr;
    base = bits[i].base;
    shift = down;
    mask |= std::uint64_t(1) << i;
  }
  if (!base || base == whole || isConst(base) || base->width != width || shift < 0) return nullptr;
  if (!joins && base == whole->operands[0]) return nullptr; // that is what it is already
  Expr moved = shift ? this->shift(Op::LShr, base, constant(width, shift), NoFlags) : base;
  return bitAnd(moved, constant(width, std::int64_t(mask)));
}

} // namespace kcheck::analyzer
