// The solver's door: both theories agree with evaluation on random conditions, deadlines hold, and models are
// checked.
#include "random_expr.h"

#include "analyzer/smt/message.h"
#include "analyzer/smt/server.h"
#include "analyzer/smt/solver.h"

#include <gtest/gtest.h>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

namespace kcheck::analyzer {
namespace {

smt::Answer ask(std::vector<Expr> constraints, unsigned milliseconds = 2000) {
  Ranges ranges;
  for (Expr c : constraints) ranges.assume(c);
  smt::Query query;
  query.constraints = std::move(constraints);
  return smt::check(query, ranges, milliseconds);
}

class SolverTest : public ::testing::Test {
protected:
  ExprContext c;
  Expr var(const std::string& name, unsigned width = 32) {
    return c.of(c.symbol(name, width, SymbolKind::Parameter));
  }
  Expr k(std::int64_t v, unsigned width = 32) { return c.constant(width, v); }
};

TEST_F(SolverTest, FindsValues) {
  Expr x = var("x"), y = var("y");
  Expr wanted = c.logicalAnd(c.eq(c.add(x, y), k(10)), c.eq(c.sub(x, y), k(4)));
  smt::Answer a = ask({wanted, c.binary(Op::Slt, k(0), y)});
  ASSERT_EQ(a.status, smt::Status::Sat) << a.reason;
  EXPECT_EQ(evaluate(wanted, a.model).value, 1);
}

TEST_F(SolverTest, WrapAroundIsNoMathematics) {
  // x + 1 < x has solutions for wrapping arithmetic and none where the program may not wrap.
  Expr x = var("x");
  EXPECT_EQ(ask({c.binary(Op::Slt, c.add(x, k(1)), x)}).status, smt::Status::Sat);
  EXPECT_EQ(ask({c.binary(Op::Slt, c.add(x, k(1), NoSignedWrap), x)}).status, smt::Status::Unsat);
  // Bytes: 300 threads do not have 300 different low bytes.
  Expr p = c.of(c.symbol("p", 32, SymbolKind::ThreadIdx, 0, 299)),
       q = c.of(c.symbol("q", 32, SymbolKind::ThreadIdx, 0, 299));
  auto low = [&](Expr e) { return c.extend(Op::ZExt, 64, c.extend(Op::Trunc, 8, e)); };
  EXPECT_EQ(ask({c.logicalNot(c.eq(p, q)), c.eq(low(p), low(q))}).status, smt::Status::Sat);
}

TEST_F(SolverTest, FunctionsAreFunctions) {
  Function* f = c.function("a", 32);
  Expr x = var("x"), y = var("y"), fx = c.apply(f, {x}), fy = c.apply(f, {y});
  EXPECT_EQ(ask({c.eq(x, y), c.logicalNot(c.eq(fx, fy))}).status, smt::Status::Unsat);
  smt::Answer a = ask({c.logicalNot(c.eq(x, y)), c.eq(fx, fy)});
  EXPECT_EQ(a.status, smt::Status::Sat);
  f->injective = true;
  EXPECT_EQ(ask({c.logicalNot(c.eq(x, y)), c.eq(fx, fy)}).status, smt::Status::Unsat);
}

TEST_F(SolverTest, PreferencesChooseTheModel) {
  Expr x = var("x");
  Ranges ranges;
  smt::Query query;
  query.constraints = {c.binary(Op::Slt, k(3), x)};
  query.preferences = {{c.eq(x, k(2))}, {c.eq(x, k(77))}};
  smt::Answer a = smt::check(query, ranges, 2000);
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
      ask({bounded(x), bounded(y), c.eq(c.mul(x, y), k(2305843009213693951ll, 64)), c.binary(Op::Slt, x, y)},
          300);
  EXPECT_EQ(a.status, smt::Status::Unknown);
  EXPECT_TRUE(a.timedOut);
  EXPECT_EQ(a.reason, "time limit of the solver");
}

TEST_F(SolverTest, TakesWhatTheAskingSideKnowsOfRanges) {
  // A product that the conditions keep small does not wrap: integers alone decide, by mathematics.
  Expr x = var("x"), y = var("y");
  auto small = [&](Expr e) {
    return c.logicalAnd(c.binary(Op::Sle, k(0), e), c.binary(Op::Slt, e, k(1000)));
  };
  smt::Answer a = ask({small(x), small(y), c.binary(Op::Slt, c.mul(x, y), k(0))});
  EXPECT_EQ(a.status, smt::Status::Unsat);
  EXPECT_EQ(a.theory, smt::Theory::Integers);
}

TEST_F(SolverTest, QueriesArriveAsTheyWere) {
  Function* f = c.function("a", 32);
  f->injective = true;
  Expr x = var("x", 64), sum = c.add(c.extend(Op::Trunc, 32, x), c.apply(f, {k(3), x}), NoSignedWrap);
  smt::Query query;
  query.constraints = {c.binary(Op::Slt, sum, k(-7)), c.logicalNot(c.eq(x, k(0, 64)))};
  query.preferences = {{c.eq(x, k(1, 64))}, {}};
  query.guesses = {{c.eq(x, k(2, 64)), c.eq(sum, k(9))}};
  query.noWrap = {sum};
  Ranges ranges;
  ASSERT_TRUE(ranges.assume(query.constraints[0]));
  const std::string bytes = smt::encode(query, ranges, 77);
  auto received = smt::decode(bytes.substr(sizeof(std::uint64_t)));
  ASSERT_NE(received, nullptr);
  EXPECT_EQ(received->milliseconds, 77u);
  auto same = [&](const std::vector<Expr>& some, const std::vector<Expr>& others) {
    ASSERT_EQ(some.size(), others.size());
    for (std::size_t i = 0; i < some.size(); ++i) {
      EXPECT_EQ(toString(some[i]), toString(others[i]));
      EXPECT_EQ(some[i]->id, others[i]->id);
      EXPECT_EQ(received->ranges.of(some[i]).lo, ranges.of(others[i]).lo);
      EXPECT_EQ(received->ranges.of(some[i]).hi, ranges.of(others[i]).hi);
    }
  };
  for (Symbol& symbol : received->symbols) symbol.name = "x"; // names stay behind
  for (Function& function : received->functions) function.name = "a";
  same(received->query.constraints, query.constraints);
  ASSERT_EQ(received->query.preferences.size(), 2u);
  same(received->query.preferences[0], query.preferences[0]);
  same(received->query.preferences[1], {});
  ASSERT_EQ(received->query.guesses.size(), 1u);
  same(received->query.guesses[0], query.guesses[0]);
  same(received->query.noWrap, query.noWrap);
  EXPECT_TRUE(received->ranges.isExact(received->query.noWrap[0]));
  EXPECT_TRUE(received->functions.at(0).injective);
  // What is cut short, or goes on, is no query.
  for (std::size_t length = 0; length < bytes.size() - sizeof(std::uint64_t); ++length)
    EXPECT_EQ(smt::decode(bytes.substr(sizeof(std::uint64_t), length)), nullptr);
  EXPECT_EQ(smt::decode(bytes.substr(sizeof(std::uint64_t)) + "x"), nullptr);
}

TEST(ServerTest, ADeadlineIsKept) {
  smt::Server server([](int) {
    while (true) pause();
  });
  auto connection = server.connect();
  ASSERT_TRUE(connection);
  EXPECT_FALSE(connection->line(smt::now() + 0.05).has_value());
  EXPECT_TRUE(connection->timedOut());
}

TEST(ServerTest, ADeadProcessIsNoAnswer) {
  smt::Server server([](int output) {
    smt::writeAll(output, "one\ntw");
    raise(SIGKILL);
  });
  auto connection = server.connect();
  ASSERT_TRUE(connection);
  EXPECT_EQ(connection->line(smt::now() + 5).value_or(""), "one");
  EXPECT_FALSE(connection->line(smt::now() + 5).has_value());
  EXPECT_FALSE(connection->timedOut());
}

TEST(ServerTest, StartsAgainWhenItWasKilled) {
  smt::Server server([](int output) { smt::writeAll(output, std::to_string(getppid()) + "\n"); });
  auto ask = [&] {
    auto connection = server.connect();
    return connection ? connection->line(smt::now() + 5).value_or("") : "";
  };
  const std::string first = ask();
  ASSERT_NE(first, "");
  EXPECT_EQ(ask(), first);
  ASSERT_EQ(kill(std::stoi(first), SIGKILL), 0);
  std::string next; // a query may have been lost with it
  for (int i = 0; i < 100 && (next.empty() || next == first); ++i) next = ask();
  EXPECT_NE(next, "");
  EXPECT_NE(next, first);
}

TEST(ServerTest, EndsWithWhoeverStartedIt) {
  pid_t server = 0, work = 0;
  {
    smt::Server started([](int output) {
      smt::writeAll(output, std::to_string(getppid()) + "\n" + std::to_string(getpid()) + "\n");
      while (true) pause();
    });
    auto connection = started.connect();
    ASSERT_TRUE(connection);
    server = std::stoi(connection->line(smt::now() + 5).value_or("0"));
    work = std::stoi(connection->line(smt::now() + 5).value_or("0"));
    ASSERT_GT(server, 0);
    ASSERT_GT(work, 0);
  }
  EXPECT_EQ(kill(server, 0), -1); // and has been waited for
  for (int i = 0; i < 500 && kill(work, 0) == 0; ++i) usleep(10'000);
  EXPECT_EQ(kill(work, 0), -1);
}

/// Unsat never contradicts a value that evaluation finds, and models stand up to evaluation.
TEST(SolverProperty, AgreesWithEvaluation) {
  unsigned sat = 0, unsat = 0;
  for (unsigned t = 0; t < 150; ++t) {
    ExprContext context;
    testing::RandomExpr random(context, 31000 + t);
    random.hasParts = false;
    Expr condition = context.logicalAnd(random.make(1, 3).simplified, random.make(1, 2).simplified);
    if (isConst(condition)) continue;
    bool found = false;
    for (int i = 0; i < 60 && !found; ++i) {
      Value v = evaluate(condition, random.anyAssignment());
      found = v.value && !v.undefined;
    }
    smt::Answer a = ask({condition}, 400);
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
