// The solver's door: both theories agree with evaluation on random conditions, deadlines hold, and models are
// checked.
#include "random_expr.h"

#include "analyzer/smt/child.h"
#include "analyzer/smt/solver.h"

#include <gtest/gtest.h>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

namespace kcheck::analyzer {
namespace {

smt::Answer ask(smt::Solver& solver, std::vector<Expr> constraints, unsigned milliseconds = 2000) {
  Ranges ranges;
  for (Expr c : constraints) ranges.assume(c);
  smt::Query query;
  query.constraints = std::move(constraints);
  return solver.check(query, ranges, milliseconds);
}

class SolverTest : public ::testing::Test {
protected:
  ExprContext c;
  smt::Solver solver;
  Expr var(const std::string& name, unsigned width = 32) {
    return c.of(c.symbol(name, width, SymbolKind::Parameter));
  }
  Expr k(std::int64_t v, unsigned width = 32) { return c.constant(width, v); }
};

TEST_F(SolverTest, FindsValues) {
  Expr x = var("x"), y = var("y");
  Expr wanted = c.logicalAnd(c.eq(c.add(x, y), k(10)), c.eq(c.sub(x, y), k(4)));
  smt::Answer a = ask(solver, {wanted, c.binary(Op::Slt, k(0), y)});
  ASSERT_EQ(a.status, smt::Status::Sat) << a.reason;
  EXPECT_EQ(evaluate(wanted, a.model).value, 1);
}

TEST_F(SolverTest, WrapAroundIsNoMathematics) {
  // x + 1 < x has solutions for wrapping arithmetic and none where the program may not wrap.
  Expr x = var("x");
  EXPECT_EQ(ask(solver, {c.binary(Op::Slt, c.add(x, k(1)), x)}).status, smt::Status::Sat);
  EXPECT_EQ(ask(solver, {c.binary(Op::Slt, c.add(x, k(1), NoSignedWrap), x)}).status, smt::Status::Unsat);
  // Bytes: 300 threads do not have 300 different low bytes.
  Expr p = c.of(c.symbol("p", 32, SymbolKind::ThreadIdx, 0, 299)),
       q = c.of(c.symbol("q", 32, SymbolKind::ThreadIdx, 0, 299));
  auto low = [&](Expr e) { return c.extend(Op::ZExt, 64, c.extend(Op::Trunc, 8, e)); };
  EXPECT_EQ(ask(solver, {c.logicalNot(c.eq(p, q)), c.eq(low(p), low(q))}).status, smt::Status::Sat);
}

TEST_F(SolverTest, FunctionsAreFunctions) {
  Function* f = c.function("a", 32);
  Expr x = var("x"), y = var("y"), fx = c.apply(f, {x}), fy = c.apply(f, {y});
  EXPECT_EQ(ask(solver, {c.eq(x, y), c.logicalNot(c.eq(fx, fy))}).status, smt::Status::Unsat);
  smt::Answer a = ask(solver, {c.logicalNot(c.eq(x, y)), c.eq(fx, fy)});
  EXPECT_EQ(a.status, smt::Status::Sat);
  f->injective = true;
  EXPECT_EQ(ask(solver, {c.logicalNot(c.eq(x, y)), c.eq(fx, fy)}).status, smt::Status::Unsat);
}

TEST_F(SolverTest, PreferencesChooseTheModel) {
  Expr x = var("x");
  Ranges ranges;
  smt::Query query;
  query.constraints = {c.binary(Op::Slt, k(3), x)};
  query.preferences = {{c.eq(x, k(2))}, {c.eq(x, k(77))}};
  smt::Answer a = solver.check(query, ranges, 2000);
  ASSERT_EQ(a.status, smt::Status::Sat);
  EXPECT_EQ(evaluate(x, a.model).value, 77);
}

TEST_F(SolverTest, DeadlinesHold) {
  // That the prime 2^61-1 has no factors takes far longer to show than this.
  Expr x = var("x", 64), y = var("y", 64);
  auto bounded = [&](Expr e) {
    return c.logicalAnd(c.binary(Op::Slt, k(1, 64), e), c.binary(Op::Slt, e, k(std::int64_t(1) << 31, 64)));
  };
  smt::Answer a =
      ask(solver,
          {bounded(x), bounded(y), c.eq(c.mul(x, y), k(2305843009213693951ll, 64)), c.binary(Op::Slt, x, y)},
          300);
  EXPECT_EQ(a.status, smt::Status::Unknown);
  EXPECT_TRUE(a.timedOut);
  EXPECT_EQ(a.reason, "time limit of the solver");
}

TEST(ChildTest, IsKilledAndReaped) {
  double start = smt::now();
  {
    smt::Child child([](int) {
      while (true) pause();
    });
    ASSERT_TRUE(child.started());
    EXPECT_FALSE(child.line(smt::now() + 0.05).has_value());
    EXPECT_TRUE(child.timedOut());
  }
  EXPECT_LT(smt::now() - start, 2.0);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1); // no child is left
}

TEST(ChildTest, ADeadChildIsNoAnswer) {
  smt::Child child([](int output) {
    smt::writeAll(output, "one\ntw");
    raise(SIGKILL);
  });
  EXPECT_EQ(child.line(smt::now() + 5).value_or(""), "one");
  EXPECT_FALSE(child.line(smt::now() + 5).has_value());
  EXPECT_FALSE(child.timedOut());
}

/// Unsat never contradicts a value that evaluation finds, and models stand up to evaluation.
TEST(SolverProperty, AgreesWithEvaluation) {
  smt::Solver solver;
  unsigned sat = 0, unsat = 0;
  for (unsigned t = 0; t < 150; ++t) {
    ExprContext context;
    testing::RandomExpr random(context, 31000 + t);
    Expr condition = context.logicalAnd(random.make(1, 3).simplified, random.make(1, 2).simplified);
    if (isConst(condition)) continue;
    bool found = false;
    for (int i = 0; i < 60 && !found; ++i) {
      Value v = evaluate(condition, random.anyAssignment());
      found = v.value && !v.undefined;
    }
    smt::Answer a = ask(solver, {condition}, 400);
    ASSERT_NE(a.status, smt::Status::Error) << a.reason << " " << toString(condition);
    if (found) {
      ASSERT_NE(a.status, smt::Status::Unsat) << t << " " << toString(condition, 30);
    }
    if (a.status == smt::Status::Sat) {
      ASSERT_EQ(evaluate(condition, a.model).value, 1);
      ++sat;
    }
    unsat += a.status == smt::Status::Unsat;
  }
  EXPECT_GT(sat, 60u);
  EXPECT_GT(unsat, 3u);
}

} // namespace
} // namespace kcheck::analyzer
