// The stages of a question.
#include "analyzer/decide/question.h"

#include "analyzer/clock.h"
#include "analyzer/decide/search.h"
#include "analyzer/expr/fold.h"
#include "analyzer/smt/solver.h"
#include "report/assumptions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <set>

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
  if (!entry)
    entry = std::make_unique<AccessView>(kernel, access.condition, access.offset, access.size, wrapping);
  return *entry;
}

/// `blockIdx.x * blockDim.x + threadIdx.x`, or a part of it, or the next one: no more than the threads along
/// the axis. Products and sums of such may wrap in a launch that is allowed.
static bool isGlobalIndex(Expr e) {
  if (e->op == Op::Add && isConst(e->operands[1], 1)) e = e->operands[0];
  std::optional<unsigned> axis;
  bool hasThread = false, hasProduct = false, isPlain = true;
  auto isOf = [&](Expr symbol, std::initializer_list<SymbolKind> kinds) {
    if (symbol->op != Op::Symbol || std::ranges::find(kinds, symbol->symbol->kind) == kinds.end())
      return false;
    if (!axis) axis = symbol->symbol->axis;
    return *axis == symbol->symbol->axis;
  };
  for (Expr part :
       e->op == Op::Add ? std::vector<Expr>{e->operands[0], e->operands[1]} : std::vector<Expr>{e}) {
    if (part->op == Op::Mul) {
      Expr x = part->operands[0], y = part->operands[1];
      if (isConst(x) || (y->op == Op::Symbol && y->symbol->kind != SymbolKind::BlockDim)) std::swap(x, y);
      const bool isKnownBlock = isConst(y) && isOf(x, {SymbolKind::BlockIdx, SymbolKind::GridDim});
      const bool isFreeBlock =
          isOf(x, {SymbolKind::BlockIdx, SymbolKind::GridDim}) && isOf(y, {SymbolKind::BlockDim});
      isPlain = isPlain && !hasProduct && (isKnownBlock || isFreeBlock);
      hasProduct = true;
    } else {
      isPlain = isPlain && !hasThread && isOf(part, {SymbolKind::ThreadIdx});
      hasThread = true;
    }
  }
  return isPlain;
}

const std::vector<std::string>& Decider::wrapAssumptions(const ModelAccess& access) {
  auto [entry, isNew] = assumptions.try_emplace(&access);
  std::vector<std::string>& result = entry->second;
  if (!isNew) return result;
  AccessView& view = viewOf(access, Ranges::Wrapping::Assumed);
  bool launch = false, other = false;
  std::set<std::string> sizes;
  auto look = [&](Expr n) {
    if (isGiven(n) && view.ranges.assumed().count(n)) {
      sizes.insert(n->op == Op::Apply
                       ? fmt::format("sizes in `{}` are from 0 to 2^{} - 1", n->function->name, n->width - 1)
                       : fromZero(n->symbol->name, n->width));
    }
    if (n->op != Op::Add && n->op != Op::Mul && n->op != Op::Shl && n->op != Op::Trunc) return false;
    if (n->width == 1 || !view.ranges.isExact(n) || !view.ranges.assumed().count(n)) return false;
    (isGlobalIndex(n) ? launch : other) = true;
    return false;
  };
  for (Expr e : {access.offset, access.size, access.condition})
    if (e) anyNode(e, look);
  result.insert(result.end(), sizes.begin(), sizes.end());
  if (launch) result.push_back("a launch has fewer than 2^31 threads along each axis");
  if (other)
    result.push_back("index arithmetic in line " + std::to_string(access.where.line) + " does not wrap");
  return result;
}

/// That the two byte ranges have a byte in common.
Expr Decider::overlapping(const PairQuestion& q) {
  ExprContext& c = kernel.context;
  AccessView &va = viewOf(*q.a, Ranges::Wrapping::Exact), &vb = viewOf(*q.b, Ranges::Wrapping::Exact);
  Expr x = q.a->offset, y = q.b->offset;
  if (isConst(q.a->size) && isConst(q.b->size)) {
    // Aligned accesses overlap only where they start together.
    std::uint64_t bits = va.ranges.of(x).maybe | vb.ranges.of(y).maybe;
    unsigned zeros = bits ? unsigned(std::countr_zero(bits)) : 63;
    std::int64_t most = std::max(q.a->size->value, q.b->size->value);
    if (q.a->size->value > 0 && q.b->size->value > 0 && (zeros >= 62 || (std::int64_t(1) << zeros) >= most)) {
      auto scaled = [](Expr e, AccessView& v) {
        return e->op == Op::Mul && isConst(e->operands[1]) && v.ranges.isExact(e);
      };
      while (scaled(x, va) && scaled(y, vb) && x->operands[1] == y->operands[1]) {
        x = x->operands[0];
        y = y->operands[0];
      }
      return c.eq(copies.of(x, q.relation, 1), copies.of(y, q.relation, 2));
    }
  }
  Expr first = copies.of(x, q.relation, 1), second = copies.of(y, q.relation, 2);
  Expr size1 = copies.of(q.a->size, q.relation, 1), size2 = copies.of(q.b->size, q.relation, 2);
  Expr distance = c.sub(first, second), zero = c.constant(64, 0);
  Expr result =
      c.logicalAnd(c.binary(Op::Slt, distance, size2), c.binary(Op::Slt, c.sub(zero, size1), distance));
  result = c.logicalAnd(result, c.binary(Op::Slt, zero, size1));
  return c.logicalAnd(result, c.binary(Op::Slt, zero, size2));
}

/// The places of locks of one array that both hold: where they are the same place, the threads are ordered.
std::vector<std::pair<Expr, Expr>> Decider::commonLocks(const PairQuestion& q) {
  std::vector<std::pair<Expr, Expr>> result;
  bool betweenBlocks = q.relation == Relation::DifferentBlocks;
  auto reaches = [&](const LockPlace& lock) {
    return !betweenBlocks || (lock.scope >= AtomicScope::Device &&
                              kernel.model.objects[lock.object].space != MemorySpace::Shared);
  };
  for (const LockPlace& x : q.a->locks)
    for (const LockPlace& y : q.b->locks)
      if (x.object == y.object && reaches(x) && reaches(y)) result.emplace_back(x.offset, y.offset);
  return result;
}

std::vector<Expr> Decider::meetingConstraints(const PairQuestion& q) {
  std::vector<Expr> result{different(copies, kernel, q.relation)};
  for (auto& [x, y] : commonLocks(q))
    result.push_back(kernel.context.logicalNot(
        kernel.context.eq(copies.of(x, q.relation, 1), copies.of(y, q.relation, 2))));
  if (q.mask) result.push_back(namesLane(copies, kernel, q.mask, 1, 2));
  if (q.a->offset && q.b->offset) result.push_back(overlapping(q));
  result.push_back(copies.of(q.a->condition, q.relation, 1));
  result.push_back(copies.of(q.b->condition, q.relation, 2));
  for (unsigned thread : {1u, 2u})
    for (Expr f : kernel.facts) {
      Expr fact = copies.of(f, q.relation, thread);
      if (std::find(result.begin(), result.end(), fact) == result.end()) result.push_back(fact);
    }
  return result;
}

/// Whether the access happens only where its arithmetic wraps: that it does not would prove anything of it.
static bool needsWrap(const AccessView& exact, const AccessView& assumed) {
  return exact.isPossible && !assumed.isPossible;
}

/// Whether the access hangs on more than which thread of a known launch it is: what wraps there is no
/// assumption.
static bool isOpen(const ModelAccess& access) {
  const auto isUnknown = [](Expr n) {
    return n->op == Op::Apply ||
           (n->op == Op::Symbol && n->symbol->kind != SymbolKind::ThreadIdx &&
            n->symbol->kind != SymbolKind::BlockIdx && n->symbol->kind != SymbolKind::Object);
  };
  return anyNode(access.condition, isUnknown) || (access.offset && anyNode(access.offset, isUnknown));
}

/// A proof that rests on an assumption which the access itself refutes is none.
static void withdrawWhereWrapped(Verdict& verdict, const ModelAccess& access) {
  if (verdict.outcome != Verdict::Outcome::Never || !verdict.assumesNoWrap) return;
  verdict = {};
  verdict.reason = fmt::format("the index arithmetic in line {} wraps", access.where.line);
}

Verdict Decider::meet(const PairQuestion& q) {
  Verdict verdict;
  if (isFalse(q.a->condition) || isFalse(q.b->condition)) {
    verdict.outcome = Verdict::Outcome::Never;
    return verdict;
  }
  ++counters.questions;
  const ModelAccess* wrapped = nullptr;
  for (const ModelAccess* access : {q.a, q.b})
    if (needsWrap(viewOf(*access, Ranges::Wrapping::Exact), viewOf(*access, Ranges::Wrapping::Assumed)))
      wrapped = access;
  bool mayAssume = !wrapped && !(wrapAssumptions(*q.a).empty() && wrapAssumptions(*q.b).empty());
  for (const ModelAccess* access : {q.a, q.b})
    mayAssume = mayAssume && (wrapAssumptions(*access).empty() || isOpen(*access));
  for (Ranges::Wrapping wrapping : {Ranges::Wrapping::Exact, Ranges::Wrapping::Assumed}) {
    bool assumed = wrapping == Ranges::Wrapping::Assumed;
    if (assumed && !mayAssume) continue;
    AccessView &a = viewOf(*q.a, wrapping), &b = viewOf(*q.b, wrapping);
    PairSystem system(kernel, a, b, q.relation);
    for (auto& [x, y] : commonLocks(q))
      if (x == y) system.separators.push_back(x);
    if (!system.provesApart()) continue;
    ++counters.arithmetic;
    verdict.outcome = Verdict::Outcome::Never;
    verdict.assumesNoWrap = assumed;
    return verdict;
  }
  if (bool assumed = false; provesByRanks(q, assumed)) {
    verdict.outcome = Verdict::Outcome::Never;
    verdict.assumesNoWrap = assumed;
    if (wrapped) withdrawWhereWrapped(verdict, *wrapped);
    return verdict;
  }
  std::vector<Expr> constraints = meetingConstraints(q);
  if (auto found = searchWitness(constraints, copies, q.relation))
    return happens(std::move(*found), std::move(constraints));
  for (Ranges::Wrapping wrapping : {Ranges::Wrapping::Exact, Ranges::Wrapping::Assumed}) {
    bool assumed = wrapping == Ranges::Wrapping::Assumed;
    if (assumed && !mayAssume) continue;
    if (auto tried = tryAll(q, wrapping, constraints)) return *tried;
    if (!provesByCases(q, wrapping)) continue;
    ++counters.arithmetic;
    verdict.outcome = Verdict::Outcome::Never;
    verdict.assumesNoWrap = assumed;
    return verdict;
  }
  verdict = askSolver(constraints, q.relation);
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
  std::vector<Expr> constraints = meetingConstraints(q);
  Expr same = c.eq(copies.of(q.a->stored, q.relation, 1), copies.of(q.b->stored, q.relation, 2));
  constraints.insert(constraints.begin(), c.logicalNot(same));
  ++counters.questions;
  return solve(std::move(constraints), q.relation);
}

bool Decider::provesWithin(AccessView& view, Expr bytes) {
  if (!view.isPossible) return true;
  std::vector<const Poly*> facts;
  for (const Poly& f : view.facts.nonNegative)
    if (f.valid) facts.push_back(&f);
  Inequalities known([&](const Atom& atom) { return view.ranges.of(atom.node); }, facts);
  Poly end = view.linear.of(bytes) - view.offsetPoly - view.sizePoly;
  return view.offsetPoly.valid && known.provesNonNegative(view.offsetPoly) && known.provesNonNegative(end);
}

Verdict Decider::leaves(const ModelAccess& access, Expr bytes) {
  Verdict verdict;
  if (isFalse(access.condition)) {
    verdict.outcome = Verdict::Outcome::Never;
    return verdict;
  }
  ++counters.questions;
  const bool isWrapped =
      needsWrap(viewOf(access, Ranges::Wrapping::Exact), viewOf(access, Ranges::Wrapping::Assumed));
  for (Ranges::Wrapping wrapping : {Ranges::Wrapping::Exact, Ranges::Wrapping::Assumed}) {
    bool assumed = wrapping == Ranges::Wrapping::Assumed;
    if (assumed && (isWrapped || wrapAssumptions(access).empty())) continue;
    if (!provesWithin(viewOf(access, wrapping), bytes)) continue;
    ++counters.arithmetic;
    verdict.outcome = Verdict::Outcome::Never;
    verdict.assumesNoWrap = assumed;
    return verdict;
  }
  ExprContext& c = kernel.context;
  Expr zero = c.constant(64, 0);
  Expr outside = c.logicalOr(c.binary(Op::Slt, access.offset, zero),
                             c.binary(Op::Slt, c.sub(bytes, access.size), access.offset));
  std::vector<Expr> constraints{outside, access.condition, c.binary(Op::Slt, zero, access.size)};
  constraints.insert(constraints.end(), kernel.facts.begin(), kernel.facts.end());
  verdict = solve(std::move(constraints), std::nullopt);
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

Verdict Decider::askSolver(std::vector<Expr> constraints, std::optional<Relation> relation) {
  Verdict verdict;
  std::erase_if(constraints, [](Expr e) { return isTrue(e); });
  if (std::any_of(constraints.begin(), constraints.end(), [](Expr e) { return isFalse(e); })) {
    ++counters.arithmetic;
    verdict.outcome = Verdict::Outcome::Never;
    return verdict;
  }
  if (!limits.useSolver || secondsLeft() < 0.01) {
    ++counters.unknown;
    verdict.reason = limits.useSolver ? "the time for this kernel is used up" : "the solver is switched off";
    return verdict;
  }
  Ranges ranges(Ranges::Wrapping::Assumed);
  auto areContradictory = [&] {
    return !std::all_of(constraints.begin(), constraints.end(), [&](Expr c) { return ranges.assume(c); });
  };
  bool isOver = areContradictory();
  for (Expr c : constraints) ranges.assumeSizes(c);
  if (isOver || areContradictory()) {
    ++counters.arithmetic;
    verdict.outcome = Verdict::Outcome::Never;
    verdict.assumesNoWrap = !ranges.assumed().empty();
    return verdict;
  }
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
  double left = std::min(secondsLeft() * 1000, patience);
  smt::Answer answer = smt::check(query, ranges, unsigned(std::max(left, 10.0)));
  counters.solverSeconds += answer.seconds;
  if (answer.status == smt::Status::Unsat || answer.status == smt::Status::Sat)
    ++(answer.theory == smt::Theory::Integers ? counters.integers : counters.bitVectors);
  if (answer.status == smt::Status::Unsat) {
    verdict.outcome = Verdict::Outcome::Never;
    verdict.assumesNoWrap = !query.noWrap.empty();
    return verdict;
  }
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
