// Translation to integers: every value is its signed reading, and reduction to the width is written out where
// ranges do not exclude a wrap. Bitwise operations of two unknowns are opaque with bounds.
#include "analyzer/expr/fold.h"
#include "analyzer/smt/translator.h"

#include <algorithm>
#include <bit>

namespace kcheck::analyzer::smt {

namespace {

std::string decimal(Int v) {
  bool negative = v < 0;
  unsigned __int128 u = negative ? -(unsigned __int128)v : (unsigned __int128)v;
  std::string s;
  do {
    s.insert(s.begin(), char('0' + int(u % 10)));
    u /= 10;
  } while (u);
  return negative ? "-" + s : s;
}

class Integers final : public Translator {
public:
  Integers(z3::context& context, const KnownRanges& ranges) : Translator(context), ranges(ranges) {}

  z3::expr noWrap(Expr e) override {
    if (e->op == Op::Symbol || e->op == Op::Apply) return (*this)(e) >= number(0, 64);
    z3::expr v = mathematical(e);
    return v >= number(signedMin(e->width), 64) && v <= number(signedMax(e->width), 64);
  }

protected:
  z3::expr number(Int value, unsigned) override { return context.int_val(decimal(value).c_str()); }
  z3::expr variable(const std::string& name, unsigned) override { return context.int_const(name.c_str()); }
  z3::sort sortOf(unsigned) override { return context.int_sort(); }
  void bound(const z3::expr& term, Expr e) override {
    // The declared range, not a narrowed one: narrowing may rest on the very condition that is asked.
    Range r = declared.of(e);
    side.push_back(term >= number(r.lo, 64) && term <= number(r.hi, 64));
  }

  z3::expr compare(Expr e) override {
    Expr x = e->operands[0], y = e->operands[1];
    z3::expr a = operand(e, 0), b = operand(e, 1);
    switch (e->op) {
    case Op::Eq: return a == b;
    case Op::Ult: return unsignedOf(x) < unsignedOf(y);
    case Op::Ule: return unsignedOf(x) <= unsignedOf(y);
    case Op::Slt: return a < b;
    default: return a <= b;
    }
  }

  z3::expr node(Expr e) override {
    switch (e->op) {
    case Op::Add:
    case Op::Mul: {
      if (e->flags & NoSignedWrap) return mathematical(e);
      Range a = ranges.of(e->operands[0]), b = ranges.of(e->operands[1]);
      Int corners[4] = {a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi};
      Range m = e->op == Op::Add
                    ? Range{a.lo + b.lo, a.hi + b.hi}
                    : Range{*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
      return ranges.isExact(e) ? mathematical(e) : reduced(mathematical(e), e->width, m);
    }
    case Op::UDiv:
    case Op::URem: return unsignedDivision(e);
    case Op::SDiv:
    case Op::SRem: return signedDivision(e);
    case Op::Shl:
    case Op::LShr:
    case Op::AShr: return shift(e);
    case Op::And:
    case Op::Or:
    case Op::Xor: return bits(e);
    case Op::ZExt: return unsignedOf(e->operands[0]);
    case Op::SExt: return operand(e, 0);
    case Op::Trunc:
      if (e->width == 1) return z3::mod(operand(e, 0), number(2, 64)) == number(1, 64);
      if (ranges.isExact(e)) return operand(e, 0);
      return reduced(operand(e, 0), e->width, ranges.of(e->operands[0]));
    default: return opaque(e, "other" + std::to_string(e->id));
    }
  }

private:
  z3::expr mathematical(Expr e) {
    if (e->op == Op::Add) return operand(e, 0) + operand(e, 1);
    if (e->op == Op::Mul) return operand(e, 0) * operand(e, 1);
    if (e->op == Op::Shl) return operand(e, 0) * powerOf(e->operands[1], e->width);
    return operand(e, 0); // Trunc
  }

  /// The number of e's width that v is congruent to; v is within m.
  z3::expr reduced(const z3::expr& v, unsigned width, Range m) {
    Int least = signedMin(width), greatest = signedMax(width), period = powerOfTwo(width);
    if (m.lo >= least && m.hi <= greatest) return v;
    if (m.lo >= least - period && m.hi <= greatest + period)
      return z3::ite(v > number(greatest, 64), v - number(period, 64),
                     z3::ite(v < number(least, 64), v + number(period, 64), v));
    return z3::mod(v - number(least, 64), number(period, 64)) + number(least, 64);
  }

  z3::expr unsignedOf(Expr e) {
    z3::expr v = known(e);
    if (e->width == 1) return z3::ite(v, number(1, 8), number(0, 8));
    Range r = ranges.of(e);
    if (r.lo >= 0) return v;
    if (r.hi < 0) return v + number(powerOfTwo(e->width), 64);
    return z3::ite(v < number(0, 64), v + number(powerOfTwo(e->width), 64), v);
  }

  /// The signed reading of the unsigned number v.
  z3::expr signedOf(const z3::expr& v, unsigned width, Int greatest) {
    if (greatest <= signedMax(width)) return v;
    return z3::ite(v > number(signedMax(width), 64), v - number(powerOfTwo(width), 64), v);
  }

  z3::expr unsignedDivision(Expr e) {
    Range a = ranges.unsignedOf(e->operands[0]), b = ranges.unsignedOf(e->operands[1]);
    z3::expr x = unsignedOf(e->operands[0]), y = unsignedOf(e->operands[1]);
    bool isQuotient = e->op == Op::UDiv;
    z3::expr value = isQuotient ? x / y : z3::mod(x, y);
    Int greatest = isQuotient ? a.hi / std::max(b.lo, Int(1)) : std::min(a.hi, b.hi - 1);
    value = signedOf(value, e->width, greatest);
    if (b.lo >= 1) return value;
    z3::expr special = isQuotient ? number(-1, 64) : operand(e, 0);
    return z3::ite(y == 0, special, value);
  }

  z3::expr signedDivision(Expr e) {
    Range a = ranges.of(e->operands[0]), b = ranges.of(e->operands[1]);
    z3::expr x = operand(e, 0), y = operand(e, 1);
    bool isQuotient = e->op == Op::SDiv;
    z3::expr zero = number(0, 64);
    // SMT-LIB's division leaves a remainder that is not negative; the program's is towards zero.
    auto magnitude = [&](const z3::expr& v, const Range& r) {
      return r.lo >= 0 ? v : r.hi <= 0 ? -v : z3::ite(v < zero, -v, v);
    };
    z3::expr quotient = magnitude(x, a) / magnitude(y, b);
    if (a.lo < 0 || b.lo < 0) quotient = z3::ite((x < zero) != (y < zero), -quotient, quotient);
    z3::expr value = isQuotient ? quotient : x - quotient * y;
    if (!isQuotient && a.lo >= 0 && b.lo >= 0) value = z3::mod(x, y);
    bool mayOverflow = isQuotient && a.lo == signedMin(e->width) && b.lo <= -1 && b.hi >= -1;
    if (mayOverflow) value = reduced(value, e->width, {-signedMax(e->width) - 1, signedMax(e->width) + 1});
    if (b.lo >= 1 || b.hi <= -1) return value;
    z3::expr special = isQuotient ? z3::ite(x < zero, number(1, 64), number(-1, 64)) : x;
    return z3::ite(y == zero, special, value);
  }

  /// 2^amount for amounts below the width, 0 beyond.
  z3::expr powerOf(Expr amount, unsigned width) {
    Range r = ranges.unsignedOf(amount);
    z3::expr u = unsignedOf(amount), power = number(0, 64);
    Int last = std::min(r.hi, Int(width) - 1);
    for (Int i = last; i >= r.lo; --i)
      power = i == last && r.hi < width
                  ? number(powerOfTwo(unsigned(i)), 64)
                  : z3::ite(u == number(i, 64), number(powerOfTwo(unsigned(i)), 64), power);
    return power;
  }

  z3::expr shift(Expr e) {
    Expr amount = e->operands[1];
    Range a = ranges.of(e->operands[0]), by = ranges.unsignedOf(amount);
    z3::expr x = operand(e, 0), power = powerOf(amount, e->width);
    if (e->op == Op::Shl) {
      if (e->flags & NoSignedWrap) return x * power;
      Int most = powerOfTwo(unsigned(std::min(by.hi, Int(e->width) - 1)));
      return reduced(x * power, e->width, {std::min(a.lo, Int(0)) * most, std::max(a.hi, Int(0)) * most});
    }
    bool isLogical = e->op == Op::LShr;
    z3::expr from = isLogical ? unsignedOf(e->operands[0]) : x;
    z3::expr value = from / power;
    if (isLogical) {
      Int greatest = ranges.unsignedOf(e->operands[0]).hi;
      if (by.lo >= 1 && by.lo < e->width) greatest >>= unsigned(by.lo);
      value = signedOf(value, e->width, greatest);
    }
    if (by.hi < e->width) return value;
    z3::expr beyond = isLogical ? number(0, 64) : z3::ite(x < number(0, 64), number(-1, 64), number(0, 64));
    return z3::ite(unsignedOf(amount) >= number(e->width, 64), beyond, value);
  }

  /// u & mask for an unsigned u and a constant mask, run by run of set bits.
  z3::expr masked(const z3::expr& u, std::uint64_t mask, unsigned width) {
    z3::expr sum = number(0, 64);
    bool first = true;
    while (mask) {
      unsigned low = unsigned(std::countr_zero(mask));
      unsigned length = unsigned(std::countr_one(mask >> low));
      z3::expr part = low ? u / number(powerOfTwo(low), 64) : u;
      if (low + length < width) part = z3::mod(part, number(powerOfTwo(length), 64));
      if (low) part = part * number(powerOfTwo(low), 64);
      sum = first ? part : sum + part;
      first = false;
      mask = low + length >= 64 ? 0 : mask & (~0ull << (low + length));
    }
    return sum;
  }

  z3::expr bits(Expr e) {
    Expr x = e->operands[0], y = e->operands[1];
    unsigned width = e->width;
    Int greatest = powerOfTwo(width) - 1;
    if (ranges.of(e).lo >= 0) greatest = ranges.of(e).hi;
    if (isConst(y)) {
      std::uint64_t mask = zeroExtend(y->value, width);
      z3::expr u = unsignedOf(x), both = masked(u, mask, width);
      if (e->op == Op::And) return signedOf(both, width, greatest);
      z3::expr m = number(Int(mask), 64);
      z3::expr value = e->op == Op::Or ? u + m - both : u + m - number(2, 64) * both;
      return signedOf(value, width, greatest);
    }
    Range a = ranges.of(x), b = ranges.of(y);
    if (e->op != Op::And && !(a.maybe & b.maybe))
      return signedOf(unsignedOf(x) + unsignedOf(y), width, greatest);
    z3::expr value =
        opaque(e, std::string("bits") + char('0' + int(e->op) - int(Op::And)) + std::to_string(width));
    Range r = ranges.of(e);
    side.push_back(value >= number(r.lo, 64) && value <= number(r.hi, 64));
    if (a.lo >= 0 && b.lo >= 0) {
      z3::expr p = operand(e, 0), q = operand(e, 1);
      if (e->op == Op::And) side.push_back(value <= p && value <= q);
      if (e->op == Op::Or) side.push_back(value >= p && value >= q && value <= p + q);
      if (e->op == Op::Xor) side.push_back(value <= p + q && value >= p - q && value >= q - p);
    }
    return value;
  }

  const KnownRanges& ranges;
  Ranges declared;
};

} // namespace

std::unique_ptr<Translator> integerTranslator(z3::context& context, const KnownRanges& ranges) {
  return std::make_unique<Integers>(context, ranges);
}

} // namespace kcheck::analyzer::smt
