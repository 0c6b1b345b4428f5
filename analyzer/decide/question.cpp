// The stages of a question.
#include "analyzer/decide/question.h"

#include "analyzer/clock.h"
#include "analyzer/decide/inequality.h"
#include "analyzer/decide/overlap.h"
#include "analyzer/decide/search.h"

namespace kcheck::analyzer {

Decider::Decider(const KernelModel& model, ExprContext& context, const Limits& limits)
    : limits(limits), start(threadSeconds()), patience(limits.questionMilliseconds), kernel(model, context),
      copies(kernel) {}

Decider::~Decider() = default;

double Decider::secondsLeft() const {
  return limits.kernelSeconds - (threadSeconds() - start) - counters.solverSeconds;
}

AccessView& Decider::viewOf(const ModelAccess& access, Ranges::Wrapping wrapping) {
  auto& entry = views[wrapping == Ranges::Wrapping::Assumed][&access];
  if (entry) return *entry;
  entry = std::make_unique<AccessView>(kernel, access.condition, access.offset, access.size, wrapping);
  if (entry->isPossible && access.offset)
    entry->align = access.isTakenAligned ? access.align : alignByPlace(*entry, access.align);
  return *entry;
}

Verdict Verdict::never(bool assumesNoWrap) {
  Verdict verdict;
  verdict.outcome = Outcome::Never;
  verdict.assumesNoWrap = assumesNoWrap;
  return verdict;
}

/// By the inequalities that bound both places.
std::optional<Verdict> Decider::provesApart(const PairQuestion& q, Ranges::Wrapping wrapping) {
  AccessView &a = viewOf(*q.a, wrapping), &b = viewOf(*q.b, wrapping);
  PairSystem system(kernel, a, b, q.relation);
  for (auto& [x, y] : commonLocks(q))
    if (x == y) system.separators.push_back(x);
  if (!system.provesApart()) return {};
  ++counters.arithmetic;
  return Verdict::never(wrapping == Ranges::Wrapping::Assumed);
}

Verdict Decider::meet(const PairQuestion& q) {
  Verdict verdict = meetIfPlausible(q);
  if (verdict.outcome != Verdict::Outcome::Never) return verdict;
  if (verdict.assumesNoWrap) {
    const bool a = isShownOnlyWrapped(*q.a), b = isShownOnlyWrapped(*q.b);
    if (a || b) verdict = meetIfPlausible(q);
  }
  for (const ModelAccess* access : {q.a, q.b}) withdrawWhereStepped(verdict, *access);
  return verdict;
}

/// Provided that what both threads do may be done without wrapping.
Verdict Decider::meetIfPlausible(const PairQuestion& q) {
  if (isFalse(q.a->condition) || isFalse(q.b->condition)) return Verdict::never();
  ++counters.questions;
  const ModelAccess* wrapped = nullptr;
  for (const ModelAccess* access : {q.a, q.b})
    if (happensOnlyWrapped(*access)) wrapped = access;
  std::vector<Ranges::Wrapping> readings{Ranges::Wrapping::Exact};
  if (!wrapped && mayAssumeNoWrap(q)) readings.push_back(Ranges::Wrapping::Assumed);

  for (Ranges::Wrapping wrapping : readings)
    if (auto never = provesApart(q, wrapping)) return *never;
  if (bool assumed = false; provesByRanks(q, assumed)) {
    Verdict verdict = Verdict::never(assumed);
    if (wrapped) withdrawWhereWrapped(verdict, *wrapped);
    return verdict;
  }
  std::vector<Expr> constraints = meetingConstraints(q);
  if (auto found = searchWitness(constraints, copies, q.relation))
    return happens(std::move(*found), std::move(constraints));
  for (Ranges::Wrapping wrapping : readings) {
    if (auto tried = tryAll(q, wrapping, constraints)) return *tried;
    if (!provesByCases(q, wrapping)) continue;
    ++counters.arithmetic;
    return Verdict::never(wrapping == Ranges::Wrapping::Assumed);
  }
  const bool isExact = wrapped && !wrapsInRounds(*wrapped);
  Verdict verdict =
      askSolver(constraints, q.relation, isExact ? Ranges::Wrapping::Exact : Ranges::Wrapping::Assumed);
  if (wrapped) withdrawWhereWrapped(verdict, *wrapped);
  if (verdict.outcome == Verdict::Outcome::Unknown)
    if (auto found = searchCollision(q, constraints))
      return happens(std::move(*found), std::move(constraints));
  return verdict;
}

Verdict Decider::happens(Assignment values, std::vector<Expr> constraints) {
  ++counters.search;
  Verdict verdict;
  verdict.outcome = Verdict::Outcome::Happens;
  verdict.values = std::move(values);
  verdict.constraints = std::move(constraints);
  return verdict;
}

Verdict Decider::meetWithDifferentValues(const PairQuestion& q) {
  ExprContext& c = kernel.context;
  if (q.a->stored == q.b->stored) { // of the same index, as `squares[i] = i * i`
    constexpr auto kExact = Ranges::Wrapping::Exact;
    PairSystem system(kernel, viewOf(*q.a, kExact), viewOf(*q.b, kExact), q.relation);
    if (system.provesApart() || system.makesEqual(q.a->stored)) {
      ++counters.arithmetic;
      return Verdict::never();
    }
  }
  std::vector<Expr> constraints = meetingConstraints(q);
  Expr same = c.eq(copies.of(q.a->stored, q.relation, 1), copies.of(q.b->stored, q.relation, 2));
  constraints.insert(constraints.begin(), c.logicalNot(same));
  ++counters.questions;
  return solve(std::move(constraints), q.relation);
}

bool Decider::storesTheSame(const Verdict& verdict, const PairQuestion& q) {
  if (!causesOf(q.a->stored).empty() || !causesOf(q.b->stored).empty()) return false;
  Evaluator evaluate(verdict.values);
  const Value x = evaluate(copies.of(q.a->stored, q.relation, 1)),
              y = evaluate(copies.of(q.b->stored, q.relation, 2));
  return !x.undefined && !y.undefined && x.value == y.value;
}

bool Decider::provesWithin(AccessView& view, Expr bytes) {
  if (!view.isPossible) return true;
  const Inequalities known = view.inequalities();
  Poly end = view.linear.of(bytes) - view.offsetPoly - view.sizePoly;
  return view.offsetPoly.valid && known.provesNonNegative(view.offsetPoly) && known.provesNonNegative(end);
}

Verdict Decider::leaves(const ModelAccess& access, Expr bytes) {
  Verdict verdict = leavesIfPlausible(access, bytes);
  const bool isAssumed = verdict.outcome == Verdict::Outcome::Never && verdict.assumesNoWrap;
  if (isAssumed && isShownOnlyWrapped(access)) verdict = leavesIfPlausible(access, bytes);
  withdrawWhereStepped(verdict, access);
  return verdict;
}

Verdict Decider::leavesIfPlausible(const ModelAccess& access, Expr bytes) {
  if (isFalse(access.condition)) return Verdict::never();
  ++counters.questions;
  const bool isWrapped = happensOnlyWrapped(access);
  for (Ranges::Wrapping wrapping : {Ranges::Wrapping::Exact, Ranges::Wrapping::Assumed}) {
    bool assumed = wrapping == Ranges::Wrapping::Assumed;
    if (assumed && (isWrapped || !mayAssumeNoWrap({&access, &access}))) continue;
    if (!provesWithin(viewOf(access, wrapping), bytes)) continue;
    ++counters.arithmetic;
    return Verdict::never(assumed);
  }
  ExprContext& c = kernel.context;
  Expr zero = c.constant(64, 0);
  Expr outside = c.logicalOr(c.binary(Op::Slt, access.offset, zero),
                             c.binary(Op::Slt, c.sub(bytes, access.size), access.offset));
  std::vector<Expr> constraints{outside, access.condition, c.binary(Op::Slt, zero, access.size)};
  constraints.insert(constraints.end(), kernel.facts.begin(), kernel.facts.end());
  Verdict verdict = solve(std::move(constraints), std::nullopt);
  if (isWrapped) withdrawWhereWrapped(verdict, access);
  return verdict;
}

Verdict Decider::meetsOwn(const OwnCopy& own) {
  ExprContext& c = kernel.context;
  const ModelAccess &x = own.copy, &y = own.access;
  std::vector<Expr> constraints{c.binary(Op::Slt, x.offset, c.add(y.offset, y.size)),
                                c.binary(Op::Slt, y.offset, c.add(x.offset, x.size)), x.condition,
                                y.condition};
  constraints.insert(constraints.end(), kernel.facts.begin(), kernel.facts.end());
  ++counters.questions;
  return solve(std::move(constraints), std::nullopt);
}

} // namespace kcheck::analyzer
