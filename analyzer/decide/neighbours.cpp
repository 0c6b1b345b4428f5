// Races between threads that draw one after the other: what atomicAdd returns is not known, but the thread
// that comes next gets the next ticket, whichever thread that is.
#include "analyzer/decide/question.h"

#include <algorithm>

namespace kcheck::analyzer {

namespace {

constexpr std::size_t kRounds = 4; ///< the last operands of a ticket: the rounds of the loops around it

/// The one ticket that the address hangs on, or else the condition; null where there are several or none.
/// `others`: the condition looks at further ones, drawn in earlier rounds.
Expr ticketOf(const ModelAccess& access, bool& others) {
  std::vector<Expr> found;
  auto collect = [&](Expr e) {
    anyNode(e, [&](Expr n) {
      bool isTicket = n->op == Op::Apply && n->function->injective;
      if (isTicket && std::find(found.begin(), found.end(), n) == found.end()) found.push_back(n);
      return false;
    });
  };
  collect(access.offset);
  if (found.size() > 1) return nullptr;
  const bool isAddressed = !found.empty();
  collect(access.condition);
  if (found.empty() || (found.size() > 1 && !isAddressed)) return nullptr;
  others = others || found.size() > 1;
  return found.front();
}

/// Whether anything but the ticket makes the address one thread's or another's: a bin's own room, say.
bool hasOtherParts(Expr address, Expr ticket) {
  if (address == ticket) return false;
  if (address->op == Op::Apply || (address->op == Op::Symbol && address->symbol->varies != Varies::Never))
    return true;
  return std::any_of(address->operands.begin(), address->operands.end(),
                     [&](Expr part) { return hasOtherParts(part, ticket); });
}

} // namespace

std::optional<Verdict> Decider::meetAsNeighbours(const PairQuestion& q, std::vector<Cause>& causes) {
  if (!q.a->offset || !q.b->offset) return {};
  bool others = false;
  Expr mine = ticketOf(*q.a, others), other = ticketOf(*q.b, others);
  if (!mine || !other || mine->function != other->function || mine->operands.size() <= kRounds) return {};
  const unsigned keys = mine->function->keys;
  if (mine->operands[keys] != other->operands[keys]) return {}; // drawn in two places, perhaps at two times
  const Cause drawn = mine->function->cause;
  if (drawn.kind == CauseKind::Warp) return {}; // lanes of a ballot draw all at once
  auto isIn = [](Expr e, Expr number) { return anyNode(e, [&](Expr n) { return n == number; }); };
  if (keys != 0 && (!isIn(q.a->offset, mine) || !isIn(q.b->offset, other))) return {}; // who may, not where
  auto mayOrder = [&](const Cause& cause) {
    return (cause.kind == CauseKind::Order || cause.kind == CauseKind::Wait ||
            cause.kind == CauseKind::Warp) &&
           cause != drawn;
  };
  if (std::any_of(causes.begin(), causes.end(), mayOrder)) return {};
  Expr x = copies.of(mine, q.relation, 1), y = copies.of(other, q.relation, 2);
  if (x->op != Op::Apply || y->op != Op::Apply || x->function != y->function) return {};
  ExprContext& c = kernel.context;
  std::vector<Expr> constraints = meetingConstraints(q);
  for (std::size_t i = x->operands.size() - kRounds; i < x->operands.size(); ++i) {
    constraints.push_back(c.eq(x->operands[i], y->operands[i]));
    if (others) constraints.push_back(c.eq(x->operands[i], c.constant(32, 0))); // no round came before
  }
  Expr one = c.constant(x->width, 1);
  auto follows = [&](Expr before, Expr after) {
    return c.logicalAnd(c.eq(c.add(before, one), after), c.binary(Op::Ult, before, after));
  };
  Expr isOne = c.boolean(true); // drawn once and handed to both
  for (std::size_t i = 0; i < x->operands.size(); ++i)
    isOne = c.logicalAnd(isOne, c.eq(x->operands[i], y->operands[i]));
  constraints.insert(constraints.begin(), c.logicalOr(isOne, c.logicalOr(follows(x, y), follows(y, x))));
  // Counters at computed places say nothing of each other. Where they alone give the address, as in a
  // counting sort, it is for what they start from whether two of them meet.
  const bool countersAlone = !hasOtherParts(q.a->offset, mine) && !hasOtherParts(q.b->offset, other);
  if (keys != 0) {
    Expr samePlace = c.boolean(true);
    for (unsigned i = 0; i < keys; ++i)
      samePlace = c.logicalAnd(samePlace, c.eq(x->operands[i], y->operands[i]));
    constraints.front() = countersAlone ? c.logicalAnd(samePlace, constraints.front())
                                        : c.logicalOr(c.logicalNot(samePlace), constraints.front());
  }
  ++counters.questions;
  Verdict verdict = solve(std::move(constraints), q.relation);
  if (verdict.outcome != Verdict::Outcome::Happens) return {};
  const std::string_view prefix = "the result of ";
  std::string place = drawn.text;
  if (place.starts_with(prefix)) place.erase(0, prefix.size());
  std::erase(causes, drawn);
  causes.push_back({CauseKind::Approximation, "the order in which threads come to " + place});
  return verdict;
}

} // namespace kcheck::analyzer
