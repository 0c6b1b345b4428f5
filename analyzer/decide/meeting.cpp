// What holds of two threads that meet: they are two, each comes to its access, the byte ranges overlap, no
// lock is held by both, no flag tells one of the other, and no barrier with phases is between.
#include "analyzer/decide/question.h"

#include <algorithm>
#include <bit>
#include <unordered_set>

namespace kcheck::analyzer {

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
  result = c.logicalAnd(result, c.binary(Op::Slt, zero, size2));
  const unsigned align = std::min(va.align, vb.align); // a power of two
  if (align == 1) return result;
  return c.logicalAnd(result, c.eq(c.binary(Op::And, distance, c.constant(64, align - 1)), zero));
}

/// How far apart the threads may be where one gives back what the other takes then.
static AtomicScope reachOf(const LockPlace& first, const LockPlace& second) {
  return std::max(std::min(first.givenBack.alone, second.taken.alone),
                  std::min(first.givenBack.inOneOrder, second.taken.inOneOrder));
}

/// The places of locks of one array that both hold: where they are the same place, the threads are ordered.
std::vector<std::pair<Expr, Expr>> Decider::commonLocks(const PairQuestion& q) {
  std::vector<std::pair<Expr, Expr>> result;
  const bool betweenBlocks = q.relation == Relation::DifferentBlocks;
  const AtomicScope needed = betweenBlocks ? AtomicScope::Device : AtomicScope::Block;
  for (const LockPlace& x : q.a->locks)
    for (const LockPlace& y : q.b->locks) {
      const bool isShared = kernel.model.objects[x.object].space == MemorySpace::Shared;
      if (x.object != y.object || (betweenBlocks ? isShared : x.isOfBlock || y.isOfBlock)) continue;
      if ((x.isByTurn || y.isByTurn) && !haveOwnTurns(x.object)) continue;
      if (std::min(reachOf(x, y), reachOf(y, x)) >= needed) result.emplace_back(x.offset, y.offset);
    }
  return result;
}

namespace {

/// Room that threads have drawn below these.
std::vector<Expr> roomIn(const std::vector<Expr>& constraints) {
  constexpr std::size_t kMost = 8; // each is held against all others
  std::vector<Expr> result;
  std::unordered_set<Expr> seen;
  const auto take = [&](Expr e) {
    seen.insert(e);
    if (e->op == Op::Apply && e->function->isRoom && result.size() < kMost) result.push_back(e);
  };
  for (Expr constraint : constraints) bottomUp(constraint, [&](Expr e) { return seen.contains(e); }, take);
  return result;
}

/// Of one counter, where it is, room is drawn by the same thread in the same round, or the one ends before
/// the other begins.
Expr areApart(ExprContext& c, Expr first, Expr second) {
  const unsigned keys = first->function->keys;
  Expr isOne = c.boolean(true), isSame = c.boolean(true);
  for (unsigned i = 0; i < first->operands.size(); ++i) {
    Expr& side = i < keys ? isOne : isSame;
    side = c.logicalAnd(side, c.eq(first->operands[i], second->operands[i]));
  }
  const auto size = [](Expr room) { return room->operands.back(); };
  const auto isRoom = [&](Expr room) {
    return c.binary(Op::Sle, c.constant(size(room)->width, 0), size(room));
  };
  const auto ends = [&](Expr room) { // drawn numbers have two bits less
    return c.add(c.extend(Op::ZExt, size(room)->width, room), size(room));
  };
  const auto comesFirst = [&](Expr one, Expr other) {
    return c.binary(Op::Ule, ends(one), c.extend(Op::ZExt, size(other)->width, other));
  };
  Expr given = c.logicalAnd(isOne, c.logicalAnd(isRoom(first), isRoom(second)));
  return c.logicalOr(c.logicalNot(given),
                     c.logicalOr(isSame, c.logicalOr(comesFirst(first, second), comesFirst(second, first))));
}

void addRoom(ExprContext& c, std::vector<Expr>& constraints) {
  const std::vector<Expr> room = roomIn(constraints);
  for (std::size_t i = 0; i < room.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (room[i]->function == room[k]->function && room[i]->operands.size() == room[k]->operands.size())
        constraints.push_back(areApart(c, room[k], room[i]));
}

} // namespace

std::vector<Expr> Decider::meetingConstraints(const PairQuestion& q) {
  std::vector<Expr> result{different(copies, kernel, q.relation)};
  for (auto& [x, y] : commonLocks(q))
    result.push_back(kernel.context.logicalNot(
        kernel.context.eq(copies.of(x, q.relation, 1), copies.of(y, q.relation, 2))));
  for (Expr unordered : unorderedByFlags(q)) result.push_back(unordered);
  for (Expr unordered : unorderedByPhases(q)) result.push_back(unordered);
  if (q.mask) result.push_back(namesLane(copies, kernel, q.mask, 1, 2));
  if (q.a->offset && q.b->offset) result.push_back(overlapping(q));
  result.push_back(copies.of(q.a->condition, q.relation, 1));
  result.push_back(copies.of(q.b->condition, q.relation, 2));
  for (unsigned thread : {1u, 2u})
    for (Expr f : kernel.facts) {
      Expr fact = copies.of(f, q.relation, thread);
      if (std::find(result.begin(), result.end(), fact) == result.end()) result.push_back(fact);
    }
  addRoom(kernel.context, result);
  return result;
}

} // namespace kcheck::analyzer
