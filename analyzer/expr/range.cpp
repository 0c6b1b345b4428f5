// The ranges of all operations; their rules are in range_arithmetic.cpp, range_bits.cpp and range_logic.cpp.
#include "analyzer/expr/range_parts.h"

#include <algorithm>

namespace kcheck::analyzer {

namespace {

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
            r = known->second.isEmpty() ? fullRange(n->width) : known->second;
          }
          r = tidy(r, n->width);
          if (r.isEmpty()) r = fullRange(n->width);
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
      return e->width == 1 ? Range{s->lo, s->hi, 1} : fullRange(e->width);
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
    if (const Table& table = e->function->table; !table.empty())
      return {table.least, table.most, allBits(e->width)};
    if (small && isGiven(e) && e->width >= 32) return {0, 7, 7};
    // Plausible in a long run of a small launch; and what arrays hold are places in small arrays.
    if (small && (isDrawn(e) || (e->width >= 32 && !e->function->isBallot))) return {0, 0xffff, 0xffff};
    return fullRange(e->width);
  default: return fullRange(e->width);
  }
}

} // namespace kcheck::analyzer
