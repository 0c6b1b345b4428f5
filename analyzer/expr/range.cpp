// Interval and known-bits rules, one per operation.
#include "analyzer/expr/range.h"

#include "analyzer/expr/fold.h"

#include <algorithm>
#include <bit>

namespace kcheck::analyzer {

namespace {

std::uint64_t allBits(unsigned width) { return zeroExtend(-1, width); }

Range full(unsigned width) {
  if (width == 1) return {0, 1, 1};
  return {signedMin(width), signedMax(width), allBits(width)};
}

std::uint64_t bitsUpTo(Int hi) {
  if (hi <= 0) return 0;
  return hi > Int(signedMax(64)) ? ~0ull : ~0ull >> std::countl_zero(std::uint64_t(hi));
}

/// Makes interval and bits agree.
Range tidy(Range r, unsigned width) {
  r.maybe &= allBits(width);
  if (width == 1 || r.isEmpty()) return r;
  bool signPossible = (r.maybe >> (width - 1)) & 1;
  if (!signPossible) r.lo = std::max(r.lo, Int(0));
  if (r.lo >= 0) {
    r.hi = std::min(r.hi, Int(r.maybe));
    r.maybe &= bitsUpTo(r.hi);
  }
  return r;
}

unsigned lowZeros(const Range& r, unsigned width) {
  return r.maybe ? std::min(unsigned(std::countr_zero(r.maybe)), width) : width;
}

std::uint64_t bitsAbove(unsigned zeros) { return zeros >= 64 ? 0 : ~0ull << zeros; }

bool fits(Int lo, Int hi, unsigned width) { return lo >= signedMin(width) && hi <= signedMax(width); }

/// What a thread has drawn from a counter, which stays far from the end of its type.
bool isDrawn(Expr e) {
  return e->width > 16 && (e->function->injective || e->function->isRoom) &&
         e->function->cause.kind == CauseKind::Order;
}

} // namespace

Int floorDivide(Int a, Int b) {
  Int q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

Range Ranges::of(Expr e) {
  auto found = memo.find(e);
  if (found != memo.end()) return found->second;
  bottomUp(
      e, [&](Expr n) { return memo.count(n) != 0; },
      [&](Expr n) {
        Range r = tidy(compute(n), n->width);
        auto known = learned.find(n);
        if (known != learned.end()) {
          r.lo = std::max(r.lo, known->second.lo);
          r.hi = std::min(r.hi, known->second.hi);
          r.maybe &= known->second.maybe;
          if (r.isEmpty()) {
            contradiction = true;
            r = known->second.isEmpty() ? full(n->width) : known->second;
          }
          r = tidy(r, n->width);
          if (r.isEmpty()) r = full(n->width);
        }
        memo.emplace(n, r);
      });
  return memo.at(e);
}

Range unsignedReading(const Range& range, unsigned width) {
  if (width == 1 || range.lo >= 0) return range;
  Int period = powerOfTwo(width);
  if (range.hi < 0) return {range.lo + period, range.hi + period, range.maybe};
  return {0, std::min(period - 1, Int(range.maybe)), range.maybe};
}

Range Ranges::compute(Expr e) {
  switch (e->op) {
  case Op::Const: return {e->value, e->value, zeroExtend(e->value, e->width)};
  case Op::Symbol: {
    const Symbol* s = e->symbol;
    if (s->kind == SymbolKind::Object || !fits(s->lo, s->hi, e->width)) {
      // An unsigned range beyond the signed numbers says nothing of the signed reading.
      return e->width == 1 ? Range{s->lo, s->hi, 1} : full(e->width);
    }
    Range r{s->lo, s->hi, s->lo >= 0 ? bitsUpTo(s->hi) : ~0ull};
    bool isData = s->kind == SymbolKind::Unknown && !s->isLength;
    bool isOfKnownGrid = s->kind == SymbolKind::BlockIdx && s->hi < (Int(1) << 31) - 2;
    if (small && !isData && !isOfKnownGrid && r.hi - r.lo >= (1 << 20)) {
      r.lo = std::clamp(Int(0), r.lo, r.hi);
      r.hi = std::min(r.hi, r.lo + 7);
    }
    return r;
  }
  case Op::Add:
  case Op::Mul:
  case Op::Shl: return arithmetic(e);
  case Op::UDiv:
  case Op::SDiv:
  case Op::URem:
  case Op::SRem: return division(e);
  case Op::LShr:
  case Op::AShr: return shift(e);
  case Op::And:
  case Op::Or:
  case Op::Xor: return bits(e);
  case Op::ZExt:
  case Op::SExt:
  case Op::Trunc: return extension(e);
  case Op::Eq:
  case Op::Ult:
  case Op::Ule:
  case Op::Slt:
  case Op::Sle: return comparison(e);
  case Op::Ite: return choice(e);
  case Op::Apply:
    if (small && isGiven(e) && e->width >= 32) return {0, 7, 7};
    if (small && isDrawn(e)) return {0, 0xffff, 0xffff}; // plausible in a long run of a small launch
    return full(e->width);
  default: return full(e->width);
  }
}

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
  Range r = full(e->width);
  r.maybe = maybe;
  if (mayWrap) return r;
  r.lo = std::max(lo, r.lo);
  r.hi = std::min(hi, r.hi);
  if (r.isEmpty()) { // it always wraps, which nobody would assume not to happen, or is undefined
    if (assumedNodes.erase(e)) refused.insert(e);
    return {full(e->width).lo, full(e->width).hi, maybe};
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
    Range r = full(e->width);
    r.maybe = bitsAbove(za);
    return r;
  }
  return wrapped(e, m.lo, m.hi, bitsAbove(std::min<unsigned>(za + unsigned(std::min<Int>(by.lo, 64)), 64)));
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
  Range result = full(e->width);
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

Range Ranges::shift(Expr e) {
  Expr by = e->operands[1];
  Range a = of(e->operands[0]);
  unsigned width = e->width;
  if (!isConst(by)) {
    if (a.lo >= 0) return {0, a.hi, ~0ull};
    if (e->op == Op::AShr) return {a.lo, std::max(a.hi, Int(-1)), ~0ull};
    return full(width);
  }
  unsigned count = unsigned(std::min<std::uint64_t>(zeroExtend(by->value, width), 63));
  if (e->op == Op::AShr) return {a.lo >> count, a.hi >> count, a.lo >= 0 ? a.maybe >> count : ~0ull};
  Range u = unsignedOf(e->operands[0]);
  Range r{u.lo >> count, u.hi >> count, a.maybe >> count};
  return r.hi <= signedMax(width) ? r : Range{full(width).lo, full(width).hi, r.maybe};
}

Range Ranges::bits(Expr e) {
  Range a = of(e->operands[0]), b = of(e->operands[1]);
  unsigned width = e->width;
  Range result = full(width);
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
  Range r = full(e->width);
  r.maybe = a.maybe;
  if (exact && a.lo <= r.hi && a.hi >= r.lo) {
    r.lo = std::max(a.lo, r.lo);
    r.hi = std::min(a.hi, r.hi);
  }
  return r;
}

Range Ranges::comparison(Expr e) {
  Expr x = e->operands[0], y = e->operands[1];
  bool isUnsigned = e->op == Op::Ult || e->op == Op::Ule;
  Range a = isUnsigned ? unsignedOf(x) : of(x), b = isUnsigned ? unsignedOf(y) : of(y);
  auto answer = [](bool always, bool never) { return Range{always ? 1 : 0, never ? 0 : 1, 1}; };
  switch (e->op) {
  case Op::Eq: {
    bool impossible = a.hi < b.lo || b.hi < a.lo;
    if (isConst(y) && (zeroExtend(y->value, y->width) & ~a.maybe)) impossible = true;
    return answer(a.isConstant() && b.isConstant() && a.lo == b.lo, impossible);
  }
  case Op::Ult:
  case Op::Slt: return answer(a.hi < b.lo, a.lo >= b.hi);
  default: return answer(a.hi <= b.lo, a.lo > b.hi);
  }
}

Range Ranges::choice(Expr e) {
  Expr c = e->operands[0], x = e->operands[1], y = e->operands[2];
  Range rc = of(c), a = of(x), b = of(y);
  if (rc.lo == 1) return a;
  if (rc.hi == 0) return b;
  // min(x, y), max(x, y) and clamping to a constant: the arm that is taken obeys the comparison.
  if (isComparison(c->op) && c->operands[0]->width == e->width) {
    Expr p = c->operands[0], q = c->operands[1];
    bool isUnsigned = c->op == Op::Ult || c->op == Op::Ule;
    Range rp = of(p), rq = of(q);
    bool comparable = !isUnsigned || (rp.lo >= 0 && rq.lo >= 0);
    Int strict = c->op == Op::Ult || c->op == Op::Slt;
    if (comparable && c->op != Op::Eq) { // p < q when x is taken, q <= p when y is
      if (x == p) a.hi = std::min(a.hi, rq.hi - strict);
      if (x == q) a.lo = std::max(a.lo, rp.lo + strict);
      if (y == p) b.lo = std::max(b.lo, rq.lo + 1 - strict);
      if (y == q) b.hi = std::min(b.hi, rp.hi - 1 + strict);
    }
  }
  if (a.isEmpty()) return b;
  if (b.isEmpty()) return a;
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi), a.maybe | b.maybe};
}

} // namespace kcheck::analyzer
