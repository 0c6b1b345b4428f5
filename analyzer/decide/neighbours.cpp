// Races between threads that come to an atomic operation one after the other: what atomicAdd returns is not
// known, but the thread that comes next gets the next ticket, whichever thread that is, and one that comes
// later a later one. sequences.cpp follows the other operations, and several of them.
#include "analyzer/decide/draws.h"
#include "analyzer/decide/question.h"

#include <algorithm>

namespace kcheck::analyzer {

namespace {

/// The one ticket that the address hangs on, or else the condition; null where there are several or none.
/// `others`: the condition looks at further ones, drawn in earlier rounds.
Expr ticketOf(const ModelAccess& access, bool& others) {
  std::vector<Expr> found;
  auto collect = [&](Expr e) {
    anyNode(e, [&](Expr n) {
      bool isTicket =
          n->op == Op::Apply && n->function->injective && n->function->cause.kind != CauseKind::Warp;
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

/// Whether the address takes the ticket's low bits, or its rest, by a constant: then tickets far apart meet.
bool wraps(Expr address, Expr ticket) {
  auto isIn = [&](Expr e) { return anyNode(e, [&](Expr n) { return n == ticket; }); };
  return anyNode(address, [&](Expr n) {
    const bool cuts = (n->op == Op::And || n->op == Op::URem || n->op == Op::SRem) && n->width > 1 &&
                      isConst(n->operands[1]);
    return (cuts || (n->op == Op::Trunc && n->width <= 16)) && isIn(n->operands[0]);
  });
}

/// Where the places among lanes are as any lanes may have voted: how many lanes lie below.
bool isPlaceAmongLanes(Expr n) {
  return n->op == Op::Apply && n->function->injective && !n->function->isLeader &&
         n->function->cause.kind == CauseKind::Warp;
}

/// Whether this is the first of the lanes that the place is among.
bool isLeaderOf(Expr leader, Expr place) {
  return leader->op == Op::Apply && leader->function->isLeader &&
         leader->operands.size() + 1 == place->operands.size() &&
         std::equal(leader->operands.begin(), leader->operands.end(), place->operands.begin());
}

/// How many lanes have voted.
bool countsVotes(Expr n) {
  auto isBallot = [](Expr part) { return part->op == Op::Apply && part->function->isBallot; };
  return n->op == Op::Apply && n->function->cause.kind == CauseKind::Approximation &&
         std::ranges::any_of(n->operands, [&](Expr part) { return anyNode(part, isBallot); });
}

/// Whether the address counts the votes themselves, other than to choose between places.
bool countsInAddress(Expr address) {
  bool result = false;
  bottomUp(address, [](Expr n) { return n->width == 1; }, [&](Expr n) { result = result || countsVotes(n); });
  return result;
}

} // namespace

/// How many threads of a launch in known blocks may come to the access, of its first blocks where it has
/// many.
std::optional<std::uint64_t> Decider::comers(const ModelAccess& access, bool ofBlock) {
  constexpr std::int64_t kMost = 1 << 12, kFewBlocks = 4;
  const KernelModel& m = kernel.model;
  // A grid may have any number of blocks, where that is not the program's to say.
  const std::int64_t blocks = m.hiddenSize.empty() ? kFewBlocks : 1;
  std::int64_t extents[6], threads = 1;
  Expr indices[6];
  for (int i = 0; i < 6; ++i) {
    const bool isOfBlock = i < 3;
    Expr extent = isOfBlock ? m.blockDim[i] : ofBlock ? nullptr : m.gridDim[i - 3];
    if (extent && !isConst(extent) && isOfBlock) return {};
    extents[i] = !extent ? 1 : isConst(extent) ? extent->value : blocks;
    if (!isOfBlock) extents[i] = std::min(extents[i], std::max(kMost / threads, std::int64_t(1)));
    indices[i] = isOfBlock ? m.threadIdx[i] : m.blockIdx[i - 3];
    threads *= extents[i];
  }
  std::uint64_t count = 0;
  for (std::int64_t number = 0; number < threads; ++number) {
    Substitution at(kernel.context);
    std::int64_t rest = number;
    for (int i = 0; i < 6; ++i) {
      if (!isConst(indices[i]) && (i < 3 || !ofBlock))
        at.set(indices[i], kernel.context.constant(indices[i]->width, rest % extents[i]));
      rest /= extents[i];
    }
    count += !isFalse(at(access.condition));
  }
  return count;
}

Decider::Places Decider::placesAmongVoters(const PairQuestion& q) {
  ExprContext& c = kernel.context;
  Places result;
  result.inBoth = true;
  unsigned thread = 0;
  for (const ModelAccess* access : {q.a, q.b}) {
    ++thread;
    bool isAddressed = false;
    std::vector<Expr> leaders;
    for (Expr e : {access->offset, access->condition})
      anyNode(e, [&](Expr n) {
        if (n->op == Op::Apply && n->function->isLeader) leaders.push_back(n);
        return false;
      });
    for (Expr e : {access->offset, access->condition})
      anyNode(e, [&](Expr n) {
        const bool isPlace = isPlaceAmongLanes(n);
        isAddressed = isAddressed || (isPlace && e == access->offset);
        if (isPlace) {
          Expr lane = c.binary(Op::And, n->operands.back(), c.constant(32, 31));
          Expr place = c.extend(Op::ZExt, 32, n);
          auto add = [&](Expr one) { result.constraints.push_back(copies.of(one, q.relation, thread)); };
          add(c.binary(Op::Ule, place, lane));
          for (Expr leader : leaders) {
            if (!isLeaderOf(leader, n)) continue;
            Expr first = c.extend(Op::ZExt, 32, leader);
            add(c.binary(Op::Ule, first, lane));
            add(c.binary(Op::Ule, place, c.sub(lane, first)));
            add(c.logicalOr(c.eq(first, lane), c.logicalNot(c.eq(place, c.constant(32, 0)))));
            result.causes.push_back(leader->function->cause);
          }
        }
        if (isPlace || (n->op == Op::Apply && n->function->isBallot) ||
            (countsVotes(n) && !countsInAddress(access->offset)))
          result.causes.push_back(n->function->cause);
        return false;
      });
    result.inBoth = result.inBoth && isAddressed;
  }
  return result;
}

std::optional<Verdict> Decider::meetAmongVoters(const PairQuestion& q, std::vector<Cause>& causes) {
  if (!q.a->offset || !q.b->offset) return {};
  const Places lanes = placesAmongVoters(q);
  auto isOfLanes = [&](const Cause& cause) {
    return std::find(lanes.causes.begin(), lanes.causes.end(), cause) != lanes.causes.end();
  };
  auto mayOrder = [&](const Cause& cause) {
    return (cause.kind == CauseKind::Order || cause.kind == CauseKind::Wait ||
            cause.kind == CauseKind::Warp || cause.kind == CauseKind::Lock) &&
           !isOfLanes(cause);
  };
  const auto ofA = causesOf(q.a->offset), ofB = causesOf(q.b->offset);
  if (!lanes.inBoth || std::any_of(causes.begin(), causes.end(), mayOrder) ||
      !std::all_of(ofA.begin(), ofA.end(), isOfLanes) || !std::all_of(ofB.begin(), ofB.end(), isOfLanes))
    return {};
  std::vector<Expr> constraints = meetingConstraints(q);
  constraints.insert(constraints.end(), lanes.constraints.begin(), lanes.constraints.end());
  ++counters.questions;
  Verdict verdict = solve(std::move(constraints), q.relation);
  if (verdict.outcome != Verdict::Outcome::Happens) return {};
  std::erase_if(causes, isOfLanes);
  causes.push_back({CauseKind::Approximation, "how lanes vote: " + lanes.causes.front().text});
  return verdict;
}

std::optional<Verdict> Decider::meetAsNeighbours(const PairQuestion& q, std::vector<Cause>& causes) {
  if (!q.a->offset || !q.b->offset) return {};
  bool others = false;
  Expr mine = ticketOf(*q.a, others), other = ticketOf(*q.b, others);
  if (!mine || !other || mine->function != other->function || mine->operands.size() <= kTicketRounds)
    return {};
  const unsigned keys = mine->function->keys;
  if (mine->operands[keys] != other->operands[keys]) return {}; // drawn in two places, perhaps at two times
  const Cause drawn = mine->function->cause;
  if (drawn.kind == CauseKind::Warp) return {}; // lanes of a ballot draw all at once
  auto isIn = [](Expr e, Expr number) { return anyNode(e, [&](Expr n) { return n == number; }); };
  if (keys != 0 && (!isIn(q.a->offset, mine) || !isIn(q.b->offset, other))) return {}; // who may, not where
  const Places lanes = placesAmongVoters(q);
  auto mayOrder = [&](const Cause& cause) {
    return (cause.kind == CauseKind::Order || cause.kind == CauseKind::Wait ||
            cause.kind == CauseKind::Warp) &&
           cause != drawn && std::find(lanes.causes.begin(), lanes.causes.end(), cause) == lanes.causes.end();
  };
  if (std::any_of(causes.begin(), causes.end(), mayOrder)) return {};
  Expr x = copies.of(mine, q.relation, 1), y = copies.of(other, q.relation, 2);
  if (x->op != Op::Apply || y->op != Op::Apply || x->function != y->function) return {};
  ExprContext& c = kernel.context;
  std::vector<Expr> constraints = meetingConstraints(q);
  for (std::size_t i = x->operands.size() - kTicketRounds; i < x->operands.size(); ++i) {
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
  constraints.insert(constraints.end(), lanes.constraints.begin(), lanes.constraints.end());
  // No more are drawn from a block's counter than it has threads, where none draws twice.
  const auto rounds = mine->operands.end() - kTicketRounds;
  const bool isOnce = std::all_of(rounds, mine->operands.end(), [](Expr round) { return isConst(round); });
  if (const auto known = kernel.model.draws.find(mine->function);
      isOnce && mine->function->varies == Varies::ByBlock && known != kernel.model.draws.end()) {
    Expr threads = c.constant(64, 1);
    for (Expr extent : kernel.model.blockDim)
      if (extent) threads = c.mul(threads, c.extend(Op::ZExt, 64, extent));
    const auto start = startOf(kernel.model, known->second.object);
    if (start && *start >= 0 && !known->second.isFromStart)
      for (Expr number : {x, y})
        constraints.push_back(
            c.binary(Op::Ult, c.extend(Op::ZExt, 64, number), c.add(threads, c.constant(64, *start))));
  }
  ++counters.questions;
  Verdict verdict = solve(constraints, q.relation);
  if (verdict.outcome != Verdict::Outcome::Happens && keys == 0 &&
      (wraps(q.a->offset, mine) || wraps(q.b->offset, other))) {
    // As many tickets apart as there are threads to draw them.
    const auto many = comers(*q.a, mine->function->varies == Varies::ByBlock);
    if (!many || *many < 2 || *many >> (x->width - 1) != 0) return {};
    Expr most = c.constant(x->width, std::int64_t(*many));
    auto comesLater = [&](Expr before, Expr after) {
      return c.logicalAnd(c.binary(Op::Ult, before, after), c.binary(Op::Ult, c.sub(after, before), most));
    };
    constraints.front() = c.logicalOr(comesLater(x, y), comesLater(y, x));
    verdict = solve(std::move(constraints), q.relation);
  }
  if (verdict.outcome != Verdict::Outcome::Happens) return {};
  const std::string_view prefix = "the result of ";
  std::string place = drawn.text;
  if (place.starts_with(prefix)) place.erase(0, prefix.size());
  std::erase(causes, drawn);
  for (const Cause& cause : lanes.causes) std::erase(causes, cause);
  causes.push_back({CauseKind::Approximation, "the order in which threads come to " + place});
  return verdict;
}

} // namespace kcheck::analyzer
