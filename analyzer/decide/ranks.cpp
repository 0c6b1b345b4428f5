// Proofs that two threads do not come to one place where the place is how many a loop has counted: the rank
// of a key among all keys. Of two threads, one counts all that the other counts, and the other's own key
// beside.
#include "analyzer/decide/question.h"

#include <algorithm>
#include <set>

namespace kcheck::analyzer {

namespace {

/// Without what only makes it wider, or a number of bytes.
Expr plain(Expr e) {
  while (e->op == Op::ZExt || e->op == Op::SExt || (e->op == Op::Mul && isConst(e->operands[1])))
    e = e->operands[0];
  return e;
}

bool mentions(Expr e, Expr part) {
  return anyNode(e, [&](Expr n) { return n == part; });
}

/// Rounds of the counting loop that the thread might call its own: where what goes through all is compared
/// with something, or looks where the thread itself looks.
std::vector<Expr> ownRounds(ExprContext& c, const Tally& tally) {
  std::vector<Expr> result;
  std::vector<std::pair<const Function*, Expr>> places; ///< where content is looked up
  auto meet = [&](Expr moving, Expr fixed) {
    moving = plain(moving), fixed = plain(fixed);
    if (mentions(fixed, tally.round) || moving->width != 32 || fixed->width != 32) return;
    Expr own = nullptr;
    if (moving == tally.round)
      own = fixed;
    else if (moving->op == Op::Add && moving->operands[0] == tally.round)
      own = c.sub(fixed, moving->operands[1]);
    else if (moving->op == Op::Add && moving->operands[1] == tally.round)
      own = c.sub(fixed, moving->operands[0]);
    if (own && !mentions(own, tally.round) && std::find(result.begin(), result.end(), own) == result.end())
      result.push_back(own);
  };
  anyNode(tally.holds, [&](Expr n) {
    if (n->op == Op::Apply && !n->operands.empty()) {
      places.emplace_back(n->function, n->operands.back());
    } else if (n->op >= Op::Eq && n->op <= Op::Sle) {
      meet(n->operands[0], n->operands[1]);
      meet(n->operands[1], n->operands[0]);
    }
    return false;
  });
  for (auto& [function, place] : places)
    for (auto& [other, where] : places)
      if (function == other) meet(place, where);
  return result;
}

} // namespace

/// What both addresses follow and a loop has counted. Null where there is none.
static Expr commonTally(const KernelModel& model, const PairQuestion& q) {
  Expr found = nullptr;
  anyNode(q.a->offset, [&](Expr n) {
    if (n->op == Op::Symbol && model.tallies.count(n->symbol) && mentions(q.b->offset, n)) found = n;
    return found != nullptr;
  });
  return found;
}

/// What both threads have left themselves of what the condition looks up.
static void addOwnContents(KernelView& kernel, Copies& copies, const PairQuestion& q, Expr condition,
                           std::vector<Expr>& constraints) {
  std::set<const Function*> met;
  anyNode(condition, [&](Expr n) {
    const auto own = n->op == Op::Apply && met.insert(n->function).second
                         ? kernel.model.ownContents.find(n->function)
                         : kernel.model.ownContents.end();
    if (own != kernel.model.ownContents.end())
      for (unsigned thread : {1u, 2u}) constraints.push_back(copies.of(own->second, q.relation, thread));
    return false;
  });
}

/// The ranks differ where what is counted puts the threads' own rounds in an order: for any two threads one
/// comes before the other (`holds` for it), what comes before that one comes before the other too, and
/// nothing comes before itself, or everything does. Where nothing does, a rank is also less than the number
/// of rounds.
bool Decider::provesByRanks(const PairQuestion& q, bool& assumesNoWrap) {
  if (kernel.model.tallies.empty() || !q.a->offset || !q.b->offset) return false;
  Expr rank = commonTally(kernel.model, q);
  if (!rank) return false;
  ExprContext& c = kernel.context;
  const Tally& tally = kernel.model.tallies.at(rank->symbol);
  Symbol* any =
      c.symbol("any round of " + rank->symbol->name, 32, SymbolKind::LoopCounter, 0, (Int(1) << 31) - 1);
  std::vector<Expr> base = meetingConstraints(q);
  addOwnContents(kernel, copies, q, tally.holds, base);
  auto never = [&](const std::vector<Expr>& more) {
    std::vector<Expr> constraints = base;
    constraints.insert(constraints.begin(), more.begin(), more.end());
    const Verdict verdict = askSolver(std::move(constraints), q.relation);
    assumesNoWrap = assumesNoWrap || verdict.assumesNoWrap;
    return verdict.outcome == Verdict::Outcome::Never;
  };
  auto copy = [&](Expr e, unsigned thread) { return copies.of(e, q.relation, thread); };
  auto holdsAt = [&](Expr round, unsigned thread) {
    Substitution at(c);
    Expr stands = c.of(any);
    at.set(tally.round, stands);
    Expr general = copy(at(tally.holds), thread);
    if (round == stands) return general;
    Substitution there(c);
    there.set(stands, round);
    return there(general);
  };
  Expr rounds[] = {copy(tally.rounds, 1), copy(tally.rounds, 2)}, ranks[] = {copy(rank, 1), copy(rank, 2)};
  auto isRound = [&](Expr round, unsigned thread) {
    return c.logicalAnd(c.binary(Op::Sle, c.constant(32, 0), round),
                        c.binary(Op::Slt, round, rounds[thread - 1]));
  };
  /// That the thread's own round is one, and does not count for the thread itself.
  auto leavesItselfOut = [&](Expr own, unsigned thread) {
    return c.logicalAnd(isRound(own, thread), c.logicalNot(holdsAt(own, thread)));
  };
  /// Or that it does: ranks are then counted from 1.
  auto takesItselfIn = [&](Expr own, unsigned thread) {
    return c.logicalAnd(isRound(own, thread), holdsAt(own, thread));
  };
  const bool runTogether = rounds[0] == rounds[1] || never({c.logicalNot(c.eq(rounds[0], rounds[1]))});
  /// Whether the rank of the thread is less than that of the other where its own round counts for the other.
  auto isLessThanOther = [&](Expr own, unsigned thread) {
    const unsigned other = 3 - thread;
    Expr mine = copy(own, thread), comesBefore = holdsAt(mine, other), each = c.of(any);
    Expr theirs = copy(own, other);
    Expr isTheirsAlone = c.logicalAnd(takesItselfIn(theirs, other), c.logicalNot(holdsAt(theirs, thread)));
    return never({comesBefore, isRound(each, thread), holdsAt(each, thread),
                  c.logicalNot(holdsAt(each, other))}) &&
           (never({comesBefore, c.logicalNot(leavesItselfOut(mine, thread))}) ||
            never({comesBefore, c.logicalNot(isTheirsAlone)}));
  };
  auto implies = [&](Expr a, Expr b) { return c.logicalOr(c.logicalNot(a), b); };
  for (Expr own : ownRounds(c, tally)) {
    std::vector<Expr> known;
    for (unsigned thread : {1u, 2u})
      if (never({c.logicalNot(leavesItselfOut(copy(own, thread), thread))}))
        known.push_back(c.binary(Op::Slt, ranks[thread - 1], rounds[thread - 1]));
      else if (never({c.logicalNot(takesItselfIn(copy(own, thread), thread))}))
        known.push_back(c.binary(Op::Slt, c.constant(32, 0), ranks[thread - 1]));
    if (runTogether && isLessThanOther(own, 1) && isLessThanOther(own, 2)) {
      known.push_back(implies(holdsAt(copy(own, 1), 2), c.binary(Op::Slt, ranks[0], ranks[1])));
      known.push_back(implies(holdsAt(copy(own, 2), 1), c.binary(Op::Slt, ranks[1], ranks[0])));
    }
    if (!known.empty()) return never(known);
  }
  return false;
}

} // namespace kcheck::analyzer
