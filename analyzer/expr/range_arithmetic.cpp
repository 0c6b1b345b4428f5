// Ranges of sums, products, shifts to the left and quotients, and where these may be taken not to wrap.
#include "analyzer/expr/range_parts.h"

#include <algorithm>

namespace kcheck::analyzer {

namespace {

unsigned lowZeros(const Range& r, unsigned width) {
  return r.maybe ? std::min(unsigned(std::countr_zero(r.maybe)), width) : width;
}

std::uint64_t bitsAbove(unsigned zeros) { return zeros >= 64 ? 0 : ~0ull << zeros; }

} // namespace

Range Ranges::mathematical(Expr e) {
  Range a = of(e->operands[0]), b = of(e->operands[1]);
  if (e->op == Op::Add) return {a.lo + b.lo, a.hi + b.hi, ~0ull};
  if (e->op == Op::Shl) {
    Range by = unsignedOf(e->operands[1]);
    if (by.hi >= e->width) return {-powerOfTwo(126), powerOfTwo(126), ~0ull};
    Int least = powerOfTwo(unsigned(by.lo)), most = powerOfTwo(unsigned(by.hi));
    // 64-bit values shifted by up to 63 places stay within 127 bits.
    return {a.lo * (a.lo < 0 ? most : least), a.hi * (a.hi < 0 ? least : most), ~0ull};
  }
  Int corners[4] = {a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi};
  return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4), ~0ull};
}

/// A value known to be lo..hi before reduction to the width.
Range Ranges::wrapped(Expr e, Int lo, Int hi, std::uint64_t maybe) {
  if (fits(lo, hi, e->width)) return {lo, hi, lo >= 0 ? maybe & bitsUpTo(hi) : maybe};
  bool mayWrap = !(e->flags & NoSignedWrap) && !mayAssume(e);
  Range r = fullRange(e->width);
  r.maybe = maybe;
  if (mayWrap) return r;
  r.lo = std::max(lo, r.lo);
  r.hi = std::min(hi, r.hi);
  if (r.isEmpty()) { // it always wraps, which nobody would assume not to happen, or is undefined
    if (assumedNodes.erase(e)) refused.insert(e);
    return {fullRange(e->width).lo, fullRange(e->width).hi, maybe};
  }
  if (r.lo >= 0) { // a multiple of 64 ends 63 before the greatest number
    r.maybe &= bitsUpTo(r.hi);
    r.hi = std::min(r.hi, Int(r.maybe));
  }
  return r;
}

Range Ranges::arithmetic(Expr e) {
  Expr x = e->operands[0], y = e->operands[1];
  Range a = of(x), b = of(y), m = mathematical(e);
  unsigned za = lowZeros(a, e->width), zb = lowZeros(b, e->width);
  if (e->op == Op::Add) {
    std::uint64_t maybe = bitsAbove(std::min(za, zb));
    if (!(a.maybe & b.maybe)) maybe = a.maybe | b.maybe;
    return wrapped(e, m.lo, m.hi, maybe);
  }
  if (e->op == Op::Mul) {
    std::uint64_t maybe = bitsAbove(std::min(za + zb, 64u));
    if (isConst(y) && y->value > 0 && isPowerOfTwo(std::uint64_t(y->value)))
      maybe &= a.maybe << std::countr_zero(std::uint64_t(y->value));
    // The flag of a minus belongs to its sum: -x may be one past the greatest number.
    if (isConst(y, -1) && (e->flags & NoSignedWrap)) return {-a.hi, -a.lo, bitsAbove(za)};
    return wrapped(e, m.lo, m.hi, maybe);
  }
  Range by = unsignedOf(y);
  if (by.hi >= e->width && !(e->flags & NoSignedWrap)) {
    Range r = fullRange(e->width);
    r.maybe = bitsAbove(za);
    return r;
  }
  return wrapped(e, m.lo, m.hi, bitsAbove(std::min<unsigned>(za + unsigned(std::min<Int>(by.lo, 64)), 64)));
}

bool Ranges::staysWithin(Expr e) {
  if (!(e->flags & NoSignedWrap)) return true;
  if (e->op == Op::Shl && unsignedOf(e->operands[1]).hi >= e->width) return false;
  const Range m = mathematical(e);
  return fits(m.lo, m.hi, e->width);
}

bool Ranges::isExact(Expr e) {
  if (e->flags & NoSignedWrap) return true;
  if (e->op == Op::Trunc) {
    Range a = of(e->operands[0]);
    return (e->width > 1 && fits(a.lo, a.hi, e->width)) || mayAssume(e);
  }
  if (e->op == Op::Shl && unsignedOf(e->operands[1]).hi >= e->width) return false;
  Range m = mathematical(e);
  if (m.lo > signedMax(e->width) || m.hi < signedMin(e->width)) { // it always wraps
    assumedNodes.erase(e);
    refused.insert(e);
    return false;
  }
  return fits(m.lo, m.hi, e->width) || mayAssume(e);
}

/// Whether the no-wrap assumption may be made of a node: 32 bits or more, and fulfilled when the launch is
/// small, so that a wrap that the program always or purposely has is never assumed away.
bool Ranges::mayAssume(Expr e) {
  if (wrapping != Wrapping::Assumed || e->width < 32 || refused.count(e)) return false;
  if (assumedNodes.count(e)) return true;
  if (!whenSmall) {
    whenSmall = std::make_unique<Ranges>(Wrapping::Exact);
    whenSmall->small = true;
  }
  bool plausible;
  if (e->op == Op::Trunc) {
    Range a = whenSmall->of(e->operands[0]);
    plausible = fits(a.lo, a.hi, e->width);
  } else {
    Range m = whenSmall->mathematical(e);
    plausible = fits(m.lo, m.hi, e->width);
  }
  if (plausible) assumedNodes.insert(e);
  return plausible;
}

Range Ranges::division(Expr e) {
  bool isUnsigned = e->op == Op::UDiv || e->op == Op::URem;
  Range a = isUnsigned ? unsignedOf(e->operands[0]) : of(e->operands[0]);
  Range b = isUnsigned ? unsignedOf(e->operands[1]) : of(e->operands[1]);
  Range result = fullRange(e->width);
  Int smax = signedMax(e->width);
  if (a.lo >= 0 && b.lo >= 0) { // division by zero is undefined, so the divisor is at least 1
    Int least = std::max(b.lo, Int(1));
    if (b.hi < 1) return result;
    if (e->op == Op::UDiv || e->op == Op::SDiv) {
      Int lo = a.lo / b.hi, hi = a.hi / least;
      return hi <= smax ? Range{lo, hi, ~0ull} : result;
    }
    if (a.hi < least && a.hi <= smax) return {a.lo, a.hi, a.maybe};
    Int hi = std::min(a.hi, b.hi - 1);
    return hi <= smax ? Range{0, hi, ~0ull} : result;
  }
  if (e->op == Op::SDiv) {
    if (a.lo >= 0 && b.hi < 0) return {a.hi / b.hi, a.lo / b.lo, ~0ull};
    Int most = std::max(-a.lo, a.hi); // |quotient| <= |dividend|
    if (b.lo > 0) most = std::max(-a.lo, a.hi) / b.lo;
    return {std::max(-most, result.lo), std::min(most, result.hi), ~0ull};
  }
  Int most = std::max(-b.lo, b.hi) - 1;
  if (most < 0) return result;
  return {a.lo >= 0 ? Int(0) : std::max(-most, a.lo), a.hi <= 0 ? Int(0) : std::min(most, a.hi), ~0ull};
}

} // namespace kcheck::analyzer
