// What is left for the solver: the query with wishes for readable values, within the time that there is.
#include "analyzer/decide/question.h"

#include "analyzer/decide/search.h"
#include "analyzer/expr/fold.h"
#include "analyzer/smt/solver.h"

#include <algorithm>
#include <array>

namespace kcheck::analyzer {

/// Small indices and sizes first, for witnesses that read well.
std::vector<std::vector<Expr>> Decider::preferences(std::optional<Relation> relation) {
  ExprContext& c = kernel.context;
  auto is = [&](Expr e, unsigned thread, std::int64_t v) {
    return c.eq(relation ? copies.of(e, *relation, thread) : e, c.constant(e->width, v));
  };
  std::vector<Expr> firstBlock, firstThread, smallLaunch;
  bool betweenBlocks = relation == Relation::DifferentBlocks;
  for (int i = 0; i < 3; ++i) {
    Expr tid = kernel.model.threadIdx[i], bid = kernel.model.blockIdx[i];
    if (bid && !isConst(bid)) firstBlock.push_back(is(bid, 1, 0));
    if (tid && !isConst(tid)) firstThread.push_back(is(tid, 1, 0));
    if (betweenBlocks && tid && !isConst(tid)) firstThread.push_back(is(tid, 2, 0));
    for (Expr dim : {kernel.model.blockDim[i], kernel.model.gridDim[i]})
      if (dim && !isConst(dim)) smallLaunch.push_back(c.binary(Op::Sle, dim, c.constant(32, 64)));
  }
  auto joined = [](std::vector<Expr> a, const std::vector<Expr>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  std::vector<std::vector<Expr>> result{joined(joined(firstBlock, firstThread), smallLaunch),
                                        joined(firstBlock, smallLaunch)};
  std::erase_if(result, [](const std::vector<Expr>& w) { return w.empty(); });
  return result;
}

/// That nothing is divided by zero or shifted too far: the solver gives both a value, the language does not.
std::vector<Expr> Decider::definedness(const std::vector<Expr>& constraints) {
  ExprContext& c = kernel.context;
  std::vector<Expr> result;
  for (Expr constraint : constraints)
    anyNode(constraint, [&](Expr n) {
      const bool divides = n->op >= Op::UDiv && n->op <= Op::SRem,
                 shifts = n->op >= Op::Shl && n->op <= Op::AShr;
      if (!(divides || shifts) || isConst(n->operands[1])) return false;
      Expr y = n->operands[1];
      Expr isDefined = divides ? c.logicalNot(c.eq(y, c.constant(y->width, 0)))
                               : c.binary(Op::Ult, y, c.constant(y->width, y->width));
      if (std::find(result.begin(), result.end(), isDefined) == result.end()) result.push_back(isDefined);
      return false;
    });
  return result;
}

/// Values for sizes that appear in products.
std::vector<std::vector<Expr>> Decider::guesses(const std::vector<Expr>& constraints) {
  std::vector<Expr> sizes;
  bool hasProduct = false;
  for (Expr c : constraints)
    anyNode(c, [&](Expr n) {
      hasProduct |= n->op == Op::Mul && !isConst(n->operands[1]);
      bool isSize = n->op == Op::Symbol && n->width > 1 && n->symbol->varies == Varies::Never &&
                    (n->symbol->kind == SymbolKind::Parameter || n->symbol->kind == SymbolKind::BlockDim ||
                     n->symbol->kind == SymbolKind::GridDim);
      if (isSize && std::find(sizes.begin(), sizes.end(), n) == sizes.end()) sizes.push_back(n);
      return false;
    });
  if (!hasProduct || sizes.empty()) return {};
  std::sort(sizes.begin(), sizes.end(), [](Expr x, Expr y) { return x->id < y->id; });
  std::vector<std::vector<Expr>> result;
  for (auto& values : {std::array{3, 2, 5, 4}, std::array{2, 5, 3, 8}, std::array{100, 20, 70, 50},
                       std::array{20, 100, 50, 70}, std::array{32, 32, 32, 32}}) {
    std::vector<Expr> guess;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      Int v = std::clamp(Int(values[i % 4]), sizes[i]->symbol->lo, sizes[i]->symbol->hi);
      guess.push_back(kernel.context.eq(sizes[i], kernel.context.constant(sizes[i]->width, std::int64_t(v))));
    }
    result.push_back(std::move(guess));
  }
  return result;
}

Verdict Decider::solve(std::vector<Expr> constraints, std::optional<Relation> relation) {
  if (auto found = searchWitness(constraints, copies, relation))
    return happens(std::move(*found), std::move(constraints));
  return askSolver(std::move(constraints), relation);
}

Verdict Decider::askSolver(std::vector<Expr> constraints, std::optional<Relation> relation,
                           Ranges::Wrapping wrapping) {
  std::erase_if(constraints, [](Expr e) { return isTrue(e); });
  if (std::any_of(constraints.begin(), constraints.end(), [](Expr e) { return isFalse(e); })) {
    ++counters.arithmetic;
    return Verdict::never();
  }
  if (!limits.useSolver || secondsLeft() < 0.01) {
    ++counters.unknown;
    Verdict verdict;
    verdict.reason = limits.useSolver ? "the time for this kernel is used up" : "the solver is switched off";
    return verdict;
  }
  Ranges ranges(wrapping);
  if (areContradictory(constraints, ranges)) {
    ++counters.arithmetic;
    return Verdict::never(!ranges.assumed().empty());
  }
  smt::Query query = queryOf(std::move(constraints), ranges, relation);
  const double left = std::min(secondsLeft() * 1000, patience);
  smt::Answer answer = smt::check(query, ranges, unsigned(std::max(left, 10.0)));
  return verdictOf(std::move(answer), std::move(query));
}

/// Fills `ranges` with what the constraints say, sizes taken for sizes.
bool Decider::areContradictory(const std::vector<Expr>& constraints, Ranges& ranges) {
  auto isOver = [&] {
    return !std::all_of(constraints.begin(), constraints.end(), [&](Expr c) { return ranges.assume(c); });
  };
  const bool isOverAtOnce = isOver();
  for (Expr c : constraints) ranges.assumeSizes(c);
  return isOverAtOnce || isOver();
}

smt::Query Decider::queryOf(std::vector<Expr> constraints, Ranges& ranges, std::optional<Relation> relation) {
  for (Expr c : constraints)
    anyNode(c, [&](Expr n) {
      if (n->width > 1 && (n->op == Op::Add || n->op == Op::Mul || n->op == Op::Shl || n->op == Op::Trunc))
        ranges.isExact(n);
      return false;
    });
  smt::Query query;
  if (!limits.proofOnly) { // no witness will be shown
    query.guesses = guesses(constraints);
    query.preferences = preferences(relation);
    if (const auto defined = definedness(constraints); !defined.empty()) {
      for (auto& wish : query.preferences) wish.insert(wish.end(), defined.begin(), defined.end());
      query.preferences.push_back(defined);
    }
  }
  query.constraints = std::move(constraints);
  query.noWrap.assign(ranges.assumed().begin(), ranges.assumed().end());
  std::sort(query.noWrap.begin(), query.noWrap.end(), [](Expr x, Expr y) { return x->id < y->id; });
  return query;
}

Verdict Decider::verdictOf(smt::Answer answer, smt::Query query) {
  counters.solverSeconds += answer.seconds;
  if (answer.status == smt::Status::Unsat || answer.status == smt::Status::Sat)
    ++(answer.theory == smt::Theory::Integers ? counters.integers : counters.bitVectors);
  Verdict verdict;
  if (answer.status == smt::Status::Unsat) return Verdict::never(!query.noWrap.empty());
  if (answer.status == smt::Status::Sat) {
    verdict.outcome = Verdict::Outcome::Happens;
    verdict.values = std::move(answer.model);
    verdict.constraints = std::move(query.constraints);
    return verdict;
  }
  ++(answer.timedOut ? counters.timeouts : counters.unknown);
  // Questions about one kernel resemble each other: what was too hard once mostly stays so.
  if (answer.timedOut) patience = std::max(patience * 0.75, limits.questionMilliseconds * 0.2);
  verdict.reason =
      answer.status == smt::Status::Error ? "the solver failed: " + answer.reason : answer.reason;
  return verdict;
}

} // namespace kcheck::analyzer
