// Ranges of operations on bits: shifts to the right, masks, wider and narrower types.
#include "analyzer/expr/range_parts.h"

#include <algorithm>

namespace kcheck::analyzer {

Range Ranges::shift(Expr e) {
  Expr by = e->operands[1];
  Range a = of(e->operands[0]);
  unsigned width = e->width;
  if (!isConst(by)) {
    if (a.lo >= 0) return {0, a.hi, ~0ull};
    if (e->op == Op::AShr) return {a.lo, std::max(a.hi, Int(-1)), ~0ull};
    return fullRange(width);
  }
  unsigned count = unsigned(std::min<std::uint64_t>(zeroExtend(by->value, width), 63));
  if (e->op == Op::AShr) return {a.lo >> count, a.hi >> count, a.lo >= 0 ? a.maybe >> count : ~0ull};
  Range u = unsignedOf(e->operands[0]);
  Range r{u.lo >> count, u.hi >> count, a.maybe >> count};
  return r.hi <= signedMax(width) ? r : Range{fullRange(width).lo, fullRange(width).hi, r.maybe};
}

Range Ranges::bits(Expr e) {
  Range a = of(e->operands[0]), b = of(e->operands[1]);
  unsigned width = e->width;
  Range result = fullRange(width);
  if (width == 1) {
    if (e->op == Op::And) return {std::min(a.lo, b.lo), std::min(a.hi, b.hi), 1};
    if (e->op == Op::Or) return {std::max(a.lo, b.lo), std::max(a.hi, b.hi), 1};
    if (a.isConstant() && b.isConstant()) return {a.lo ^ b.lo, a.lo ^ b.lo, 1};
    return result;
  }
  if (e->op == Op::And) {
    result.maybe = a.maybe & b.maybe;
    if (a.lo >= 0 || b.lo >= 0) {
      result.lo = 0;
      if (a.lo >= 0) result.hi = std::min(result.hi, a.hi);
      if (b.lo >= 0) result.hi = std::min(result.hi, b.hi);
    }
    return result;
  }
  result.maybe = a.maybe | b.maybe;
  if (a.lo >= 0 && b.lo >= 0) {
    result.lo = e->op == Op::Or ? std::max(a.lo, b.lo) : Int(0);
    bool disjoint = !(a.maybe & b.maybe);
    if (disjoint) {
      result.lo = a.lo + b.lo;
      result.hi = std::min(result.hi, a.hi + b.hi);
    }
  }
  if (e->op == Op::Or && a.hi < 0 && b.hi < 0) result.hi = -1;
  if (e->op == Op::Xor && isConst(e->operands[1], -1)) return {-a.hi - 1, -a.lo - 1, ~0ull};
  return result;
}

Range Ranges::extension(Expr e) {
  Expr x = e->operands[0];
  if (e->op == Op::ZExt) return unsignedOf(x);
  Range a = of(x);
  if (e->op == Op::SExt) return {a.lo, a.hi, a.lo >= 0 ? a.maybe : ~0ull};
  if (e->width == 1) return {0, 1, a.maybe};
  if (fits(a.lo, a.hi, e->width)) return {a.lo, a.hi, a.maybe};
  bool exact = (e->flags & NoSignedWrap) || mayAssume(e);
  Range r = fullRange(e->width);
  r.maybe = a.maybe;
  if (exact && a.lo <= r.hi && a.hi >= r.lo) {
    r.lo = std::max(a.lo, r.lo);
    r.hi = std::min(a.hi, r.hi);
  }
  return r;
}

} // namespace kcheck::analyzer
