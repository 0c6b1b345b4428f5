// The expression DAG: rewriting keeps values (property test), and the forms that deciders and readers rely
// on.
#include "random_expr.h"

#include "analyzer/expr/tape.h"

#include <gtest/gtest.h>

#include <functional>

namespace kcheck::analyzer {
namespace {

/// Whatever is defined or not, a tape gives what evaluation gives.
TEST(Tapes, GiveWhatEvaluationGives) {
  for (unsigned t = 0; t < 3000; ++t) {
    ExprContext context;
    testing::RandomExpr random(context, 123000 + t);
    const std::vector<Expr> roots{random.make(random.anyWidth(), 4).simplified,
                                  random.make(32, 3).simplified};
    auto applies = [](Expr n) { return n->op == Op::Apply; };
    if (anyNode(roots[0], applies) || anyNode(roots[1], applies)) continue;
    Tape tape(roots);
    for (int i = 0; i < 4; ++i) {
      const Assignment a = random.anyAssignment();
      for (const Symbol& s : context.symbols()) tape.set(&s, a.of(&s));
      tape.run();
      for (std::size_t r = 0; r < roots.size(); ++r)
        ASSERT_EQ(tape[r], evaluate(roots[r], a).value) << toString(roots[r], 40);
    }
  }
}

class ExprTest : public ::testing::Test {
protected:
  ExprContext c;
  Expr var(const std::string& name, unsigned width = 32) {
    return c.of(c.symbol(name, width, SymbolKind::Parameter));
  }
  Expr k(std::int64_t v, unsigned width = 32) { return c.constant(width, v); }
  Expr x = var("x"), y = var("y"), z = var("z");
  Expr p = var("p", 1), q = var("q", 1), r = var("r", 1);
};

/// Where the original is defined, the rewritten one is defined and has the same value.
void checkRewriting(unsigned seed, unsigned trees,
                    const std::function<testing::Twin(testing::RandomExpr&)>& make) {
  for (unsigned t = 0; t < trees; ++t) {
    ExprContext context;
    testing::RandomExpr random(context, seed * 1000003u + t);
    testing::Twin twin = make(random);
    ASSERT_EQ(twin.plain->width, twin.simplified->width);
    for (int i = 0; i < 12; ++i) {
      Assignment a = random.anyAssignment();
      Value before = evaluate(twin.plain, a), after = evaluate(twin.simplified, a);
      if (before.undefined) continue;
      ASSERT_TRUE(before.value == after.value && !after.undefined)
          << "seed " << seed << " tree " << t << ": " << before.value << " became " << after.value
          << (after.undefined ? " (undefined)" : "") << "\n  " << toString(twin.plain, 40) << "\n  "
          << toString(twin.simplified, 40);
    }
  }
}

void checkRewriting(unsigned seed, unsigned trees, unsigned depth) {
  checkRewriting(seed, trees,
                 [&](testing::RandomExpr& random) { return random.make(random.anyWidth(), depth); });
}

TEST(Rewriting, KeepsValuesOfQuotientsWithRemainders) {
  checkRewriting(4, 20000, [](testing::RandomExpr& random) { return random.parts(random.anyWidth()); });
}
TEST(Rewriting, KeepsValuesOfSmallTrees) { checkRewriting(1, 20000, 2); }
TEST(Rewriting, KeepsValuesOfMiddleTrees) { checkRewriting(2, 8000, 4); }
TEST(Rewriting, KeepsValuesOfDeepTrees) { checkRewriting(3, 600, 8); }

TEST(Rewriting, SubstitutionKeepsValues) {
  for (unsigned t = 0; t < 1500; ++t) {
    ExprContext context;
    testing::RandomExpr random(context, 77000 + t);
    Expr e = random.make(32, 4).simplified;
    Symbol* s = context.symbol("s0w32", 32, SymbolKind::Unknown);
    Expr by = random.make(32, 2).simplified;
    Substitution substitution(context);
    substitution.set(context.of(s), by);
    Expr replaced = substitution(e);
    for (int i = 0; i < 6; ++i) {
      Assignment a = random.anyAssignment(), b = a;
      Value inner = evaluate(by, a);
      b.symbols[s] = inner.value;
      Value expected = evaluate(e, b), got = evaluate(replaced, a);
      if (inner.undefined || expected.undefined) continue;
      ASSERT_EQ(expected.value, got.value) << toString(e) << " | " << toString(replaced);
    }
  }
}

TEST_F(ExprTest, EqualExpressionsAreOneNode) {
  EXPECT_EQ(c.add(x, y), c.add(y, x));
  EXPECT_EQ(c.add(c.add(x, k(1)), k(2)), c.add(x, k(3)));
  EXPECT_NE(c.add(x, y), c.add(x, y, NoSignedWrap));
}

TEST_F(ExprTest, SumsCancel) {
  EXPECT_EQ(c.add(c.sub(x, y), y), x);
  EXPECT_EQ(c.sub(c.add(x, y), c.add(y, x)), k(0));
  EXPECT_EQ(c.sub(c.add(x, k(5)), c.add(x, k(2))), k(3));
  EXPECT_EQ(c.add(c.sub(x, y, NoSignedWrap), y, NoSignedWrap), x);
  EXPECT_EQ(c.add(x, x), c.mul(x, k(2)));
}

TEST_F(ExprTest, FlagsSurviveOnlyWhereImplied) {
  Expr sum = c.add(c.add(x, k(5), NoSignedWrap), k(-2), NoSignedWrap);
  EXPECT_EQ(sum, c.add(x, k(3), NoSignedWrap));
  EXPECT_EQ(c.add(c.add(x, k(5), NoSignedWrap), k(-2))->flags, NoFlags);
  // INT_MAX + INT_MAX is no constant of 32 bits, though each step might not wrap for a negative x.
  EXPECT_EQ(c.add(c.add(x, k(0x7fffffff), NoSignedWrap), k(0x7fffffff), NoSignedWrap)->flags, NoFlags);
  EXPECT_EQ(c.binary(Op::Shl, x, k(31), NoSignedWrap)->flags, NoFlags);
  EXPECT_EQ(c.binary(Op::Shl, x, k(2), NoSignedWrap), c.mul(x, k(4), NoSignedWrap));
}

TEST_F(ExprTest, NegatedComparisonsAreComparisons) {
  Expr less = c.binary(Op::Slt, x, y);
  EXPECT_EQ(c.logicalNot(less), c.binary(Op::Sle, y, x));
  EXPECT_EQ(c.logicalNot(c.logicalNot(less)), less);
  EXPECT_TRUE(isFalse(c.logicalAnd(less, c.logicalNot(less))));
  EXPECT_TRUE(isTrue(c.logicalOr(less, c.logicalNot(less))));
  EXPECT_EQ(c.binary(Op::Sle, x, k(6)), c.binary(Op::Slt, x, k(7)));
}

TEST_F(ExprTest, BooleanAlgebra) {
  EXPECT_EQ(c.logicalOr(c.logicalAnd(p, q), c.logicalAnd(p, c.logicalNot(q))), p);
  EXPECT_EQ(c.logicalAnd(p, c.logicalOr(p, q)), p);
  EXPECT_EQ(c.logicalAnd(p, c.logicalOr(c.logicalNot(p), q)), c.logicalAnd(p, q));
  Expr joined = c.logicalOr(c.logicalAnd(p, q), c.logicalAnd(p, r));
  EXPECT_EQ(conjunctsOf(joined).size(), 2u);
  EXPECT_EQ(conjunctsOf(c.logicalNot(c.logicalOr(p, c.logicalOr(q, r)))).size(), 3u);
}

TEST_F(ExprTest, ChoicesOfConstantsFold) {
  Expr chosen = c.ite(p, k(3), k(8));
  EXPECT_EQ(c.binary(Op::Eq, chosen, k(3)), p);
  EXPECT_EQ(c.extend(Op::Trunc, 1, c.extend(Op::ZExt, 32, p)), p);
  EXPECT_EQ(c.ite(c.logicalNot(p), x, y), c.ite(p, y, x));
}

TEST_F(ExprTest, WidthChanges) {
  EXPECT_EQ(c.extend(Op::Trunc, 32, c.add(c.extend(Op::SExt, 64, x), c.extend(Op::ZExt, 64, y))),
            c.add(x, y));
  EXPECT_EQ(c.extend(Op::ZExt, 32, c.extend(Op::Trunc, 8, x)), c.binary(Op::And, x, k(255)));
  EXPECT_EQ(c.binary(Op::URem, x, k(16)), c.binary(Op::And, x, k(15)));
  EXPECT_EQ(c.binary(Op::UDiv, x, k(16)), c.binary(Op::LShr, x, k(4)));
  EXPECT_EQ(c.extend(Op::SExt, 64, c.binary(Op::And, x, k(15)))->op, Op::ZExt);
}

TEST_F(ExprTest, DeepConditionsNeedNoStack) {
  Expr e = p;
  for (int i = 0; i < 50000; ++i)
    e = i % 2 ? c.logicalAnd(e, c.binary(Op::Slt, x, var("n" + std::to_string(i))))
              : c.logicalOr(e, c.binary(Op::Slt, y, var("n" + std::to_string(i))));
  Expr opposite = c.logicalNot(e);
  Assignment a;
  EXPECT_NE(evaluate(e, a).value, evaluate(opposite, a).value);
  Substitution s(c);
  s.set(x, y);
  EXPECT_NE(s(e), nullptr);
}

TEST_F(ExprTest, PartsPutTogetherAreTheWhole) {
  Expr low = c.binary(Op::And, x, k(0xFFFF));
  Expr high = c.binary(Op::Mul, c.binary(Op::LShr, x, k(16)), k(0x10000));
  EXPECT_EQ(c.binary(Op::Or, low, high), x);
  // What is mixed stays as it is, however it is taken apart.
  Expr mixed = c.binary(Op::Or, x, y);
  EXPECT_EQ(c.binary(Op::And, mixed, k(0xFF0))->op, Op::And);
  EXPECT_EQ(c.binary(Op::LShr, mixed, k(4))->op, Op::LShr);
}

TEST_F(ExprTest, CausesAndVariation) {
  Symbol* tid = c.symbol("threadIdx.x", 32, SymbolKind::ThreadIdx, 0, 1023);
  Symbol* bid = c.symbol("blockIdx.x", 32, SymbolKind::BlockIdx, 0, 65535);
  Symbol* loaded = c.symbol("m", 32, SymbolKind::Unknown);
  loaded->exact = false;
  loaded->cause = {{}, "value loaded at line 7"};
  Expr e = c.add(c.of(bid), x);
  EXPECT_EQ(variesOf(x), Varies::Never);
  EXPECT_EQ(variesOf(e), Varies::ByBlock);
  EXPECT_EQ(variesOf(c.add(e, c.of(tid))), Varies::ByThread);
  EXPECT_EQ(causesOf(c.add(e, c.of(loaded))), (std::vector<Cause>{{{}, "value loaded at line 7"}}));
  EXPECT_TRUE(causesOf(e).empty());
}

TEST_F(ExprTest, ReadsAsSource) {
  EXPECT_EQ(toString(c.add(c.mul(x, k(4)), y)), "y + x * 4");
  EXPECT_EQ(toString(c.sub(x, y)), "x - y");
  EXPECT_EQ(toString(c.add(x, k(-3))), "x - 3");
  EXPECT_EQ(toString(c.logicalAnd(c.binary(Op::Slt, x, y), c.logicalNot(c.eq(x, z)))), "x < y && x != z");
  EXPECT_EQ(toString(c.mul(c.add(x, y), z)), "z * (x + y)");
}

TEST(Evaluation, UndefinedBehaviourIsSeen) {
  ExprContext c;
  Symbol* s = c.symbol("x", 32, SymbolKind::Parameter);
  Symbol* b = c.symbol("b", 1, SymbolKind::Parameter);
  Expr x = c.of(s), wraps = c.add(x, c.constant(32, 1), NoSignedWrap);
  Assignment a;
  a.symbols[s] = 0x7fffffff;
  EXPECT_TRUE(evaluate(wraps, a).undefined);
  EXPECT_FALSE(evaluate(c.add(x, c.constant(32, 1)), a).undefined);
  EXPECT_EQ(evaluate(wraps, a).value, std::int64_t(signedMin(32)));
  // Not on the arm that is taken, and not where the other operand decides.
  EXPECT_FALSE(evaluate(c.ite(c.of(b), wraps, x), a).undefined);
  Expr guarded = c.logicalAnd(c.of(b), c.binary(Op::Slt, wraps, x));
  EXPECT_FALSE(evaluate(guarded, a).undefined);
  EXPECT_EQ(evaluate(guarded, a).value, 0);
  // a - b with b the least number is no overflow when a is negative.
  Symbol* t = c.symbol("y", 32, SymbolKind::Parameter);
  Expr difference = c.sub(x, c.of(t), NoSignedWrap);
  a.symbols[s] = -1;
  a.symbols[t] = std::int64_t(signedMin(32));
  EXPECT_FALSE(evaluate(difference, a).undefined);
  a.symbols[s] = 0;
  EXPECT_TRUE(evaluate(difference, a).undefined);
}

} // namespace
} // namespace kcheck::analyzer
