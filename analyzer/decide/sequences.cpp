// Races between two threads of which one comes to its atomic operations right before the other: what the
// second finds is what the first has left. Both then stand before their accesses at once, whatever they do
// after them, so nothing orders these. Of the operations that the accesses hang on all must be known, one of
// each thread for each array; what was there before them may be anything.
#include "analyzer/decide/draws.h"
#include "analyzer/decide/question.h"

#include <algorithm>

namespace kcheck::analyzer {

namespace {

/// Whether what a round has found is used when the loop has been left: it was found at the place of that
/// round.
bool isOfOtherRound(const KernelModel& model, const AtomicUpdate& update, const ModelAccess& access) {
  auto changes = [&](Expr n) {
    const bool isRound = n->op == Op::Symbol && (n->symbol->kind == SymbolKind::LoopCounter ||
                                                 model.firstValues.count(n->symbol) != 0);
    auto isIt = [&](Expr part) { return part == n; };
    return isRound && !anyNode(access.offset, isIt) && !anyNode(access.condition, isIt);
  };
  return anyNode(update.offset, changes) || anyNode(update.left, changes);
}

} // namespace

/// What the draws of both threads say of each other. Nothing where that is not followed.
class Decider::Sequence {
public:
  Sequence(Decider& decider, const PairQuestion& q)
      : decider(decider), q(q), c(decider.kernel.context), model(decider.kernel.model) {
    inOrder[0] = inOrder[1] = inOrder[2] = c.boolean(true);
  }

  std::optional<std::vector<Expr>> constraints() {
    const Draws first = drawsOf(*q.a, model, c), second = drawsOf(*q.b, model, c);
    if (!first.isKnown || !second.isKnown || first.all.empty() || first.all.size() != second.all.size())
      return {};
    for (std::size_t i = 0; i < first.all.size(); ++i) {
      const Draw &x = first.all[i], &y = second.all[i];
      if (x.update.object != y.update.object || !x.ticket != !y.ticket) return {};
      if (isOfOtherRound(model, x.update, *q.a) || isOfOtherRound(model, y.update, *q.b)) return {};
      const bool isApart = q.relation == Relation::DifferentBlocks &&
                           model.objects[x.update.object].space == MemorySpace::Shared;
      if (isApart ? !drawApart(x, y) : !drawInOrder(x, y, first.waits || second.waits)) return {};
      for (const Draw* draw : {&x, &y}) causes.insert(causes.end(), draw->causes.begin(), draw->causes.end());
    }
    unsigned thread = 0;
    for (const Draws* draws : {&first, &second}) {
      causes.insert(causes.end(), draws->causes.begin(), draws->causes.end());
      ++thread;
      for (Expr inItself : draws->within) result.push_back(as(inItself, thread));
    }
    boundCounts();
    result.insert(result.begin(), c.logicalOr(c.logicalOr(inOrder[0], inOrder[1]), inOrder[2]));
    return result;
  }

  std::vector<Cause> causes; ///< that the constraints speak for

private:
  Expr as(Expr e, unsigned thread) { return decider.copies.of(e, q.relation, thread); }

  bool drawInOrder(const Draw& x, const Draw& y, bool waits) {
    const AtomicUpdate &one = x.update, &other = y.update;
    if (one.left->width != other.left->width || one.offset->width != other.offset->width) return false;
    Expr samePlace = c.eq(as(one.offset, 1), as(other.offset, 2));
    Expr isOne = c.boolean(false); // drawn once and handed to both
    if (x.ticket) {
      if (x.ticket->function != y.ticket->function) return false;
      const auto &mine = x.ticket->operands, &its = y.ticket->operands;
      const unsigned keys = x.ticket->function->keys;
      if (mine.size() != its.size() || mine[keys] != its[keys]) return false; // perhaps at two times
      isOne = c.boolean(true);
      for (std::size_t i = 0; i < mine.size(); ++i)
        isOne = c.logicalAnd(isOne, c.eq(as(mine[i], 1), as(its[i], 2)));
      const std::size_t rounds = mine.size() - kTicketRounds - (x.ticket->function->isRoom ? 1 : 0);
      for (std::size_t i = rounds; i < rounds + kTicketRounds; ++i)
        result.push_back(c.eq(as(mine[i], 1), as(its[i], 2)));
      if (keys != 0) result.push_back(samePlace);
    }
    // Who waits for one place and not for another may wait for what comes after the other's access.
    if (waits) result.push_back(samePlace);
    Expr apart = c.logicalOr(c.logicalNot(samePlace), isOne);
    auto follows = [&](Expr left, Expr found) { return c.logicalOr(apart, c.eq(left, found)); };
    inOrder[0] = c.logicalAnd(inOrder[0], follows(as(one.left, 1), as(other.found, 2)));
    inOrder[1] = c.logicalAnd(inOrder[1], follows(as(other.left, 2), as(one.found, 1)));
    inOrder[2] = c.logicalAnd(inOrder[2], waits ? c.boolean(false) : bothFindWhatIsSet(one, other));
    if (one.differs) result.push_back(as(one.differs, 1));
    if (other.differs) result.push_back(as(other.differs, 2));
    return true;
  }

  /// That both find what a third operation of the same interval stores, whatever it has found: one before it
  /// as well, which has begun with that or comes after another one.
  Expr bothFindWhatIsSet(const AtomicUpdate& one, const AtomicUpdate& other) {
    Expr result = c.boolean(false);
    for (const Phase& phase : model.blockPhases) {
      auto isIn = [&](const ModelAccess* access) {
        return std::ranges::any_of(phase.accesses,
                                   [&](const ModelAccess& known) { return known.site == access->site; });
      };
      if (q.relation != Relation::DifferentBlocks && (!isIn(q.a) || !isIn(q.b))) continue;
      for (const ModelAccess& set : phase.accesses) {
        const bool isSet = set.object == one.object && set.kind == AccessKind::Atomic && set.stored &&
                           isConst(set.stored) && isConst(set.offset) && causesOf(set.condition).empty();
        if (!isSet || set.offset != one.offset || set.offset != other.offset ||
            set.stored->width != one.found->width)
          continue;
        Expr value = set.stored;
        result =
            c.logicalOr(result, c.logicalAnd(c.eq(as(one.found, 1), value), c.eq(as(other.found, 2), value)));
      }
    }
    return result;
  }

  /// Counters of two blocks: any thread of each may have come first, or later.
  bool drawApart(const Draw& x, const Draw& y) {
    if (!x.ticket || x.ticket->function->isRoom || x.ticket->function->keys != 0 || x.update.isFromStart ||
        x.ticket->function != y.ticket->function)
      return false;
    const auto start = startOf(model, x.update.object);
    if (!start || *start < 0) return false;
    inOrder[2] = c.boolean(false);
    unsigned thread = 0;
    for (const auto& [draw, access] : {std::pair(&x, q.a), std::pair(&y, q.b)}) {
      const auto many = decider.comers(*access, true);
      if (!many || *many == 0) return false;
      Expr number = as(draw->update.found, ++thread), first = c.constant(64, *start);
      result.push_back(c.binary(Op::Ule, first, number));
      result.push_back(c.binary(Op::Ult, c.sub(number, first), c.constant(64, std::int64_t(*many))));
    }
    return true;
  }

  /// No more have been counted than there are threads.
  void boundCounts() {
    Expr threads = c.constant(32, 1);
    for (Expr extent : model.blockDim)
      if (extent) threads = c.mul(threads, extent);
    unsigned thread = 0;
    for (const ModelAccess* access : {q.a, q.b}) {
      ++thread;
      for (Expr e : {access->offset, access->condition})
        anyNode(e, [&](Expr n) {
          if (n->op == Op::Symbol)
            if (auto known = model.counts.find(n->symbol); known != model.counts.end())
              boundCount(n, known->second, n->symbol->cause, as(threads, thread), thread);
          if (n->op == Op::Apply)
            if (auto known = model.countsOfRounds.find(n->function); known != model.countsOfRounds.end())
              boundCount(n, known->second, n->function->cause, as(threads, thread), thread);
          return false;
        });
    }
  }

  void boundCount(Expr count, bool isOneByOne, const Cause& cause, Expr threads, unsigned thread) {
    const Expr own = as(count, thread);
    if (isOneByOne)
      result.push_back(c.binary(Op::Sle, c.extend(Op::ZExt, 64, own), c.extend(Op::ZExt, 64, threads)));
    causes.push_back(cause);
  }

  Decider& decider;
  const PairQuestion& q;
  ExprContext& c;
  const KernelModel& model;
  Expr inOrder[3]; ///< the first thread first, or the second, or a third operation between them
  std::vector<Expr> result;
};

std::optional<Verdict> Decider::meetInSequence(const PairQuestion& q, std::vector<Cause>& leansOn) {
  if (!q.a->offset || !q.b->offset) return {};
  Sequence sequence(*this, q);
  auto drawn = sequence.constraints();
  if (!drawn) return {};
  const Places lanes = placesAmongVoters(q);
  auto isCovered = [&](const Cause& cause) {
    return std::ranges::find(sequence.causes, cause) != sequence.causes.end() ||
           std::ranges::find(lanes.causes, cause) != lanes.causes.end();
  };
  for (const ModelAccess* access : {q.a, q.b})
    for (Expr e : {access->offset, access->condition})
      for (const Cause& cause : causesOf(e))
        if (mayOrder(cause) && !isCovered(cause)) return {};
  std::vector<Expr> constraints = meetingConstraints(q);
  constraints.insert(constraints.begin(), drawn->begin(), drawn->end());
  constraints.insert(constraints.end(), lanes.constraints.begin(), lanes.constraints.end());
  ++counters.questions;
  Verdict verdict = solve(std::move(constraints), q.relation);
  if (verdict.outcome != Verdict::Outcome::Happens) return {};
  for (Expr e : *drawn) // what is left behind may be what the kernel has computed
    for (Cause& cause : causesOf(e))
      if (std::ranges::find(leansOn, cause) == leansOn.end()) leansOn.push_back(std::move(cause));
  std::erase_if(leansOn, [&](const Cause& cause) { return mayOrder(cause) || isCovered(cause); });
  leansOn.push_back(
      {CauseKind::Approximation, "the order in which threads come to " + placeOf(sequence.causes.front())});
  return verdict;
}

} // namespace kcheck::analyzer
