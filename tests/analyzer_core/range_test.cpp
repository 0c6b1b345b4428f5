// Ranges hold every value that an execution without undefined behaviour can produce (property test), and are
// as narrow as index arithmetic needs.
#include "random_expr.h"

#include "analyzer/expr/range.h"

#include <gtest/gtest.h>

namespace kcheck::analyzer {
namespace {

/// Gives every symbol random bounds and returns values within them.
Assignment boundSymbols(ExprContext& context, testing::RandomExpr& random) {
  Assignment a = random.anyAssignment();
  for (const Symbol& s : context.symbols()) {
    Symbol* symbol = const_cast<Symbol*>(&s);
    Int v = signExtend(a.symbols.at(&s), s.width);
    if (s.width == 1 || random.chance(30)) continue;
    unsigned slack = random.chance(50) ? 3 : 1000;
    symbol->lo = std::max(signedMin(s.width), v - random.below(slack));
    symbol->hi = std::min(signedMax(s.width), v + random.below(slack));
    if (symbol->lo == symbol->hi) symbol->hi < signedMax(s.width) ? ++symbol->hi : --symbol->lo;
  }
  return a;
}

::testing::AssertionResult holds(const Range& r, Expr e, std::int64_t value) {
  Int v = e->width == 1 ? Int(value & 1) : Int(signExtend(value, e->width));
  bool minus = e->op == Op::Mul && isConst(e->operands[1], -1) && (e->flags & NoSignedWrap);
  if (minus && v == signedMin(e->width))
    return ::testing::AssertionSuccess(); // stands for its mathematical value
  if (v >= r.lo && v <= r.hi && !(zeroExtend(value, e->width) & ~r.maybe))
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << toString(e, 30) << " has value " << value << ", range " << std::int64_t(r.lo) << ".."
         << std::int64_t(r.hi) << " bits " << std::hex << r.maybe;
}

TEST(RangeProperty, HoldsEveryValue) {
  for (unsigned t = 0; t < 20000; ++t) {
    ExprContext context;
    testing::RandomExpr random(context, 500000 + t);
    Expr e = random.make(random.anyWidth(), 1 + t % 5).simplified;
    Assignment a = boundSymbols(context, random);
    Ranges ranges;
    Value v = evaluate(e, a);
    if (!v.undefined) {
      ASSERT_TRUE(holds(ranges.of(e), e, v.value)) << "tree " << t;
    }
    if (!v.undefined && e->width > 1) {
      Range u = ranges.unsignedOf(e);
      ASSERT_TRUE(Int(zeroExtend(v.value, e->width)) >= u.lo && Int(zeroExtend(v.value, e->width)) <= u.hi)
          << toString(e, 30);
    }
  }
}

TEST(RangeProperty, HoldsEveryValueUnderConditions) {
  unsigned narrowed = 0, checked = 0;
  for (unsigned t = 0; t < 20000; ++t) {
    ExprContext context;
    testing::RandomExpr random(context, 900000 + t);
    Expr e = random.make(32, 1 + t % 4).simplified;
    Expr condition = random.make(1, 1 + t % 4).simplified;
    if (random.chance(70)) // comparisons with parts of e are the interesting ones
      condition = context.logicalAnd(condition, context.binary(Op(unsigned(Op::Eq) + random.below(5)), e,
                                                               random.make(32, 1).simplified));
    Assignment a = boundSymbols(context, random);
    Ranges plain, ranges;
    bool possible = ranges.assume(condition);
    Value c = evaluate(condition, a), v = evaluate(e, a);
    if (c.undefined || !c.value || v.undefined) continue;
    ASSERT_TRUE(possible) << toString(condition, 30);
    ASSERT_TRUE(holds(ranges.of(e), e, v.value)) << "given " << toString(condition, 30);
    ++checked;
    Range before = plain.of(e), after = ranges.of(e);
    narrowed += after.lo > before.lo || after.hi < before.hi;
  }
  EXPECT_GT(checked, 3000u);
  EXPECT_GT(narrowed, 300u);
}

class RangeTest : public ::testing::Test {
protected:
  ExprContext c;
  Expr var(const std::string& name, Int lo, Int hi, unsigned width = 32,
           SymbolKind kind = SymbolKind::Parameter) {
    return c.of(c.symbol(name, width, kind, lo, hi));
  }
  Expr k(std::int64_t v, unsigned width = 32) { return c.constant(width, v); }
  Expr tid = var("threadIdx.x", 0, 255, 32, SymbolKind::ThreadIdx);
  Expr n = c.of(c.symbol("n", 32, SymbolKind::Parameter));
};

TEST_F(RangeTest, IndexArithmetic) {
  Ranges r;
  Range scaled = r.of(c.add(c.mul(tid, k(4)), k(16)));
  EXPECT_EQ(scaled.lo, 16);
  EXPECT_EQ(scaled.hi, 255 * 4 + 16);
  EXPECT_EQ(scaled.maybe & 3, 0u);
  EXPECT_EQ(r.of(c.binary(Op::And, n, k(15))).hi, 15);
  EXPECT_EQ(r.of(c.binary(Op::URem, n, k(10))).hi, 9);
  EXPECT_EQ(r.of(c.binary(Op::LShr, tid, k(5))).hi, 7);
  EXPECT_EQ(r.of(c.extend(Op::SExt, 64, c.sub(tid, k(1)))).lo, -1);
}

TEST_F(RangeTest, NarrowArithmeticWraps) {
  Expr wide = var("t", 0, 511, 32, SymbolKind::ThreadIdx);
  Ranges r;
  Expr byte = c.extend(Op::ZExt, 32, c.extend(Op::Trunc, 8, wide));
  EXPECT_EQ(r.of(byte).hi, 255);
  EXPECT_FALSE(r.isExact(c.mul(wide, k(0x10000000))));
  EXPECT_TRUE(r.isExact(c.mul(wide, k(4))));
}

TEST_F(RangeTest, ConditionsNarrow) {
  Ranges r;
  Expr i = c.add(tid, k(3), NoSignedWrap);
  EXPECT_TRUE(r.assume(c.logicalAnd(c.binary(Op::Slt, i, k(10)), c.binary(Op::Sle, k(2), tid))));
  EXPECT_EQ(r.of(tid).lo, 2);
  EXPECT_EQ(r.of(tid).hi, 6);
  Ranges never;
  EXPECT_FALSE(never.assume(c.logicalAnd(c.binary(Op::Slt, tid, k(3)), c.binary(Op::Slt, k(5), tid))));
  Ranges equal;
  EXPECT_TRUE(equal.assume(c.eq(c.binary(Op::LShr, tid, k(5)), k(2))));
  EXPECT_EQ(equal.of(tid).lo, 64);
  EXPECT_EQ(equal.of(tid).hi, 95);
}

TEST_F(RangeTest, AssumptionsAreForSizesOnly) {
  Expr bid = var("blockIdx.x", 0, 2147483646, 32, SymbolKind::BlockIdx);
  Expr dim = var("blockDim.x", 1, 1024, 32, SymbolKind::BlockDim);
  Expr data = c.of(c.symbol("loaded", 32, SymbolKind::Unknown));
  Ranges exact, assumed(Ranges::Wrapping::Assumed);
  Expr start = c.mul(bid, dim);
  EXPECT_FALSE(exact.isExact(start));
  EXPECT_TRUE(assumed.isExact(start));
  EXPECT_EQ(assumed.of(start).lo, 0);
  EXPECT_TRUE(assumed.assumed().count(start));
  // Always wraps for most threads: no assumption may hide it.
  EXPECT_FALSE(assumed.isExact(c.mul(tid, k(0x10000000))));
  // Hashes wrap on purpose.
  EXPECT_FALSE(assumed.isExact(c.mul(data, k(0x01000193))));
  // Narrow arithmetic wraps by definition.
  Expr narrow = c.extend(Op::Trunc, 8, c.add(n, tid));
  EXPECT_FALSE(assumed.isExact(narrow));
}

TEST_F(RangeTest, MinimumIsBoundedByBoth) {
  Expr least = c.ite(c.binary(Op::Slt, n, k(100)), n, k(100));
  Ranges r;
  EXPECT_EQ(r.of(least).hi, 100);
}

} // namespace
} // namespace kcheck::analyzer
