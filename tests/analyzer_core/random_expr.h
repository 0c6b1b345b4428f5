// Random expressions for property tests: each is built twice, as written (no rewriting) and through the
// context, so that the two can be evaluated against each other.
#pragma once

#include "analyzer/expr/evaluate.h"
#include "analyzer/expr/fold.h"
#include "analyzer/expr/simplifier.h"

#include <random>

namespace kcheck::analyzer::testing {

struct Twin {
  Expr plain;      ///< as written
  Expr simplified; ///< what the context made of it
};

class RandomExpr {
public:
  RandomExpr(ExprContext& context, unsigned seed) : context(&context), random(seed) {}

  bool hasParts = true; ///< quotients with their remainders, on which a solver takes long

  unsigned below(unsigned n) { return unsigned(random() % n); }
  bool chance(unsigned percent) { return below(100) < percent; }

  unsigned anyWidth() {
    static const unsigned widths[] = {1, 8, 16, 32, 32, 64, 64, 5, 63, 2};
    return widths[below(10)];
  }

  std::int64_t anyValue(unsigned width) {
    switch (below(6)) {
    case 0: return normalize(std::int64_t(random()), width);
    case 1: return normalize(std::int64_t(signedMin(width)) + below(2), width);
    case 2: return normalize(std::int64_t(signedMax(width)) - below(2), width);
    case 3: return normalize(std::int64_t(1) << below(width), width);
    default: return normalize(std::int64_t(below(9)) - 3, width);
    }
  }

  Twin leaf(unsigned width) {
    if (chance(35)) {
      std::int64_t v = anyValue(width);
      return {raw.intern(Op::Const, width, {}, v), context->constant(width, v)};
    }
    Symbol* s = context->symbol("s" + std::to_string(below(3)) + "w" + std::to_string(width), width,
                                SymbolKind::Unknown);
    return {raw.intern(Op::Symbol, width, {}, 0, 0, s), context->of(s)};
  }

  std::uint8_t anyFlags() { return chance(50) ? NoFlags : std::uint8_t(below(4)); }

  Twin make(unsigned width, unsigned depth) {
    if (depth == 0 || chance(8)) return leaf(width);
    unsigned kind = below(width == 1 ? 12 : 14);
    if (kind == 0 && chance(50)) return call(width, depth);
    if (width == 1 && kind >= 5) return comparison(depth);
    if (width > 1 && hasParts && chance(10)) return parts(width);
    if (kind == 1) return choice(width, depth);
    if (width > 1 && kind >= 11) return extension(width, depth);
    return binary(width, depth);
  }

  /// A number put together from its quotient and remainder, or nearly so: `x / c * c + x % c`, as masks and
  /// shifts too, in more bits, as multiples, beside something else.
  Twin parts(unsigned width) {
    const unsigned narrow = chance(50) ? width : std::min(width, anyWidth());
    if (narrow < 2) return leaf(width);
    const Twin x = leaf(narrow);
    const bool isSigned = chance(30), isPower = chance(50);
    const unsigned shift = below(narrow);
    const std::int64_t by =
        isPower ? normalize(std::int64_t(std::uint64_t{1} << shift), narrow) : anyValue(narrow);
    Twin quotient = isPower && !isSigned ? of(Op::LShr, x, constant(narrow, shift))
                                         : of(isSigned ? Op::SDiv : Op::UDiv, x, constant(narrow, by));
    Twin rest = isPower && !isSigned ? of(Op::And, x, constant(narrow, by - 1))
                                     : of(isSigned ? Op::SRem : Op::URem, x, constant(narrow, by));
    if (chance(20)) rest = x;
    const Op extend = chance(50) ? Op::ZExt : Op::SExt;
    const std::int64_t factor = chance(50) ? 1 : anyValue(width), sign = rest.plain == x.plain ? -1 : 1;
    const std::int64_t scale = sign * std::int64_t(std::uint64_t(factor) * std::uint64_t(by));
    Twin sum =
        of(Op::Mul, extended(extend, width, quotient), constant(width, chance(90) ? scale : scale + 1));
    if (chance(40)) sum = of(Op::Add, sum, leaf(width));
    const Twin added =
        of(Op::Mul, extended(chance(90) ? extend : Op::ZExt, width, rest), constant(width, factor));
    return chance(50) ? of(Op::Add, sum, added) : of(Op::Add, added, sum);
  }

  Assignment anyAssignment() {
    Assignment a;
    for (const Symbol& s : context->symbols()) a.symbols[&s] = anyValue(s.width);
    for (const Function& f : context->functions()) a.defaults[&f] = anyValue(f.width);
    return a;
  }

private:
  Twin binary(unsigned width, unsigned depth) {
    Twin a = make(width, depth - 1), b = chance(15) ? a : make(width, depth - 1);
    if (chance(25)) { // subtraction, as ExprContext::sub makes it
      std::uint8_t flags = anyFlags() & NoSignedWrap;
      Expr minus =
          raw.intern(Op::Mul, width, {b.plain, raw.intern(Op::Const, width, {}, normalize(-1, width))}, 0,
                     width > 1 ? flags : std::uint8_t(0));
      return {raw.intern(Op::Add, width, {a.plain, minus}, 0, width > 1 ? flags : std::uint8_t(0)),
              context->sub(a.simplified, b.simplified, flags)};
    }
    Op op = Op(unsigned(Op::Add) + below(unsigned(Op::Xor) - unsigned(Op::Add) + 1));
    if (chance(40)) op = chance(60) ? Op::Add : Op::And;
    std::uint8_t flags = op == Op::Add || op == Op::Mul || op == Op::Shl ? anyFlags() : std::uint8_t(0);
    if (width == 1) flags = 0;
    return {raw.intern(op, width, {a.plain, b.plain}, 0, flags),
            context->binary(op, a.simplified, b.simplified, flags)};
  }

  Twin constant(unsigned width, std::int64_t value) {
    const std::int64_t v = normalize(value, width);
    return {raw.intern(Op::Const, width, {}, v), context->constant(width, v)};
  }

  Twin of(Op op, const Twin& a, const Twin& b) {
    return {raw.intern(op, a.plain->width, {a.plain, b.plain}, 0, 0),
            context->binary(op, a.simplified, b.simplified, 0)};
  }

  Twin extended(Op op, unsigned width, const Twin& a) {
    if (a.plain->width == width) return a;
    return {raw.intern(op, width, {a.plain}, 0, 0), context->extend(op, width, a.simplified)};
  }

  Twin comparison(unsigned depth) {
    unsigned width = anyWidth();
    Op op = Op(unsigned(Op::Eq) + below(5));
    Twin a = make(width, depth - 1), b = chance(15) ? a : make(width, depth - 1);
    return {raw.intern(op, 1, {a.plain, b.plain}), context->binary(op, a.simplified, b.simplified)};
  }

  Twin choice(unsigned width, unsigned depth) {
    Twin c = make(1, depth - 1), a = make(width, depth - 1), b = make(width, depth - 1);
    return {raw.intern(Op::Ite, width, {c.plain, a.plain, b.plain}),
            context->ite(c.simplified, a.simplified, b.simplified)};
  }

  Twin call(unsigned width, unsigned depth) {
    Function* f = context->function("f" + std::to_string(width), width);
    Twin a = make(32, depth - 1);
    return {raw.intern(Op::Apply, width, {a.plain}, 0, 0, nullptr, f), context->apply(f, {a.simplified})};
  }

  Twin extension(unsigned width, unsigned depth) {
    unsigned from = anyWidth();
    if (from == width) return leaf(width);
    Twin a = make(from, depth - 1);
    Op op = from > width ? Op::Trunc : chance(50) ? Op::ZExt : Op::SExt;
    std::uint8_t flags = op == Op::Trunc && chance(20) ? anyFlags() : std::uint8_t(0);
    return {raw.intern(op, width, {a.plain}, 0, flags), context->extend(op, width, a.simplified, flags)};
  }

  ExprContext* context;
  NodeTable raw;
  std::mt19937_64 random;
};

} // namespace kcheck::analyzer::testing
