// Races between threads that know nothing of each other: neither has a fence or barrier before its access, so
// whatever its atomic operations have found, no access of the other comes before its own. What is left to ask
// is whether both can come there. They can where the one has done all of its atomic operations before the
// other has begun with its own: each then finds what was last left at its place, or what was there before.
#include "analyzer/decide/draws.h"
#include "analyzer/decide/question.h"

#include <algorithm>

namespace kcheck::analyzer {

/// What the atomic operations of both threads find, of one after the other. Nothing where that is not
/// followed.
class Decider::Runs {
public:
  Runs(Decider& decider, const PairQuestion& q)
      : decider(decider), q(q), c(decider.kernel.context), model(decider.kernel.model) {}

  std::optional<std::vector<Expr>> constraints() {
    draws[0] = drawsInOrder(*q.a, model, c);
    draws[1] = drawsInOrder(*q.b, model, c);
    for (unsigned thread : {0u, 1u})
      if (!isFollowed(draws[thread], *accessOf(thread))) return {};
    if (draws[0].all.empty() && draws[1].all.empty()) return {};
    std::vector<Expr> result;
    if (draws[0].all.empty() || draws[1].all.empty()) {
      const unsigned drawing = draws[0].all.empty();
      const bool tells = drawsTicket(drawing) || !tellsNothing(*accessOf(1 - drawing));
      if (!ownsAll(drawing) || (tells && !keepElsewhere(drawing, result))) return {};
      result.push_back(inTurn(drawing, drawing));
    } else {
      if (objectsOf(draws[0]) != objectsOf(draws[1]) || drawsTicket(0) || drawsTicket(1)) return {};
      result.push_back(c.logicalOr(inTurn(0, 1), inTurn(1, 0)));
    }
    for (unsigned thread : {0u, 1u})
      for (const Draw& draw : draws[thread].all) {
        if (draw.update.differs) result.push_back(as(draw.update.differs, thread));
        causes.insert(causes.end(), draw.causes.begin(), draw.causes.end());
      }
    return findPlain(result) ? std::optional(std::move(result)) : std::nullopt;
  }

  /// The numbers that the host passes, of those that decide.
  std::set<Expr> numbers() const {
    std::set<Expr> result;
    auto collect = [&](Expr n) {
      if (n->op == Op::Symbol && n->symbol->kind == SymbolKind::Parameter && n->width >= 32) result.insert(n);
      return false;
    };
    for (unsigned thread : {0u, 1u}) {
      anyNode(accessOf(thread)->condition, collect);
      for (const Draw& draw : draws[thread].all) anyNode(draw.update.left, collect);
    }
    return result;
  }

  std::vector<Cause> causes; ///< that the constraints speak for

private:
  const ModelAccess* accessOf(unsigned thread) const { return thread == 0 ? q.a : q.b; }
  Expr as(Expr e, unsigned thread) { return decider.copies.of(e, q.relation, thread + 1); }

  static std::set<unsigned> objectsOf(const Draws& draws) {
    std::set<unsigned> result;
    for (const Draw& draw : draws.all) result.insert(draw.update.object);
    return result;
  }

  bool isFollowed(const Draws& own, const ModelAccess& access) const {
    constexpr std::size_t kMost = 4;
    if (!own.isKnown || own.all.size() > kMost) return false;
    const bool isApart = q.relation == Relation::DifferentBlocks;
    return std::ranges::all_of(own.all, [&](const Draw& draw) {
      const AtomicUpdate& update = draw.update;
      return update.offset && update.left && update.found && update.left->width == update.found->width &&
             !(isApart && model.objects[update.object].space == MemorySpace::Shared) &&
             !isDoneMoreBefore(update.object, own, access);
    });
  }

  /// Whether the thread may do more to the object on its way to the access than what the access hangs on.
  bool isDoneMoreBefore(unsigned object, const Draws& own, const ModelAccess& access) const {
    std::set<SiteId> before;
    for (const auto* phases : {&model.blockPhases, &model.gridPhases, &model.warpPhases})
      for (const Phase& phase : *phases) {
        std::set<SiteId> seen; // in the order of the program: no loop has run before
        for (const ModelAccess& known : phase.accesses) {
          const bool isIt = known.site == access.site;
          if (isIt) before.insert(seen.begin(), seen.end());
          if (known.object != object || !known.stores() || isIt) continue;
          seen.insert(known.site);
        }
      }
    std::set<std::int64_t> drawn;
    for (const Draw& draw : own.all)
      if (draw.update.object == object) drawn.insert(draw.update.number);
    return before.size() > drawn.size();
  }

  /// What the threads have found in the array in which they meet, by plain reads: both before the one or the
  /// other accesses it. False where that is not followed.
  bool findPlain(std::vector<Expr>& result) {
    std::vector<std::pair<Expr, Expr>> found[2]; // where, and what
    bool isKnown = true;
    for (unsigned thread : {0u, 1u})
      for (Expr e : {accessOf(thread)->offset, accessOf(thread)->condition})
        anyNode(e, [&](Expr n) {
          if (n->op != Op::Symbol || n->symbol->exact || n->symbol->cause.kind != CauseKind::Order)
            return false;
          const auto read = model.readAt.find(n->symbol);
          if (read == model.readAt.end()) return false;
          const PlaceRead& last = read->second.back(); // the kernel is gone through more than once
          const bool isOne = std::ranges::all_of(
              read->second, [&](const PlaceRead& one) { return one.object == q.a->object; });
          isKnown = isKnown && isOne;
          if (isOne) found[thread].emplace_back(last.offset, n);
          causes.push_back(n->symbol->cause);
          return false;
        });
    if (!isKnown) return false;
    if (found[0].empty() && found[1].empty()) return true;
    for (unsigned thread : {0u, 1u})
      if (isDoneMoreBefore(q.a->object, {}, *accessOf(thread))) return false;
    for (const auto& [place, value] : found[0])
      for (const auto& [other, its] : found[1]) {
        if (value->width != its->width || place->width != other->width) return false;
        result.push_back(
            c.logicalOr(c.logicalNot(c.eq(as(place, 0), as(other, 1))), c.eq(as(value, 0), as(its, 1))));
      }
    return true;
  }

  bool drawsTicket(unsigned thread) const {
    return std::ranges::any_of(draws[thread].all, [](const Draw& draw) { return draw.ticket != nullptr; });
  }

  /// Whether all that the thread hangs on is found in the array in which it meets the other: no claims and
  /// marks, of which the host knows whose they were before.
  bool ownsAll(unsigned thread) const {
    return std::ranges::all_of(draws[thread].all,
                               [&](const Draw& draw) { return draw.update.object == q.a->object; });
  }

  /// Whether no atomic operation shows that the access has been: it stores nothing, or may leave there what
  /// another one has left. What counts, or collects bits, shows who has come.
  bool tellsNothing(const ModelAccess& access) const {
    if (access.kind == AccessKind::Read) return true;
    if (access.kind != AccessKind::Atomic) return false;
    return std::ranges::any_of(model.updates, [&](const auto& known) {
      const AtomicUpdate& update = known.second;
      if (update.object != access.object || update.offset != access.offset || update.isLook) return false;
      auto isKept = [&](Expr n) {
        return n == update.found || !anyNode(n, [&](Expr part) { return part == update.found; });
      };
      return isKept(update.left) || (update.left->op == Op::Ite && isKept(update.left->operands[1]) &&
                                     isKept(update.left->operands[2]));
    });
  }

  /// That what the thread finds is not where the other one comes with its atomic operation: a count there
  /// says nothing of who has come here. False where the other is no such operation.
  bool keepElsewhere(unsigned drawing, std::vector<Expr>& result) {
    const ModelAccess& access = *accessOf(1 - drawing);
    if (access.kind != AccessKind::Atomic) return false;
    for (const Draw& draw : draws[drawing].all) {
      if (draw.update.offset->width != access.offset->width) return false;
      result.push_back(c.logicalNot(c.eq(as(draw.update.offset, drawing), as(access.offset, 1 - drawing))));
    }
    return true;
  }

  /// That all operations of `first` come before those of `second`; the same thread twice: that it is alone.
  Expr inTurn(unsigned first, unsigned second) {
    std::vector<std::pair<const AtomicUpdate*, unsigned>> done;
    Expr result = c.boolean(true);
    auto run = [&](unsigned thread) {
      for (const Draw& draw : draws[thread].all) {
        Expr isLast = c.boolean(true); // nothing since then was at this place
        for (auto known = done.rbegin(); known != done.rend(); ++known) {
          const auto& [update, whose] = *known;
          if (update->object != draw.update.object) continue;
          const bool fits = update->left->width == draw.update.found->width &&
                            update->offset->width == draw.update.offset->width;
          if (!fits) return false;
          Expr isSame = c.eq(as(update->offset, whose), as(draw.update.offset, thread));
          Expr finds = c.eq(as(update->left, whose), as(draw.update.found, thread));
          result = c.logicalAnd(result, c.logicalOr(c.logicalNot(c.logicalAnd(isLast, isSame)), finds));
          isLast = c.logicalAnd(isLast, c.logicalNot(isSame));
        }
        done.emplace_back(&draw.update, thread);
      }
      return true;
    };
    return run(first) && (first == second || run(second)) ? result : c.boolean(false);
  }

  Decider& decider;
  const PairQuestion& q;
  ExprContext& c;
  const KernelModel& model;
  Draws draws[2];
};

/// Where nothing that the thread does before it orders it behind what others have done.
static bool isUnfenced(const ModelAccess& access, Relation relation) {
  return !access.isVolatile &&
         access.fenceBefore <
             (relation == Relation::DifferentBlocks ? AtomicScope::Device : AtomicScope::Block);
}

std::optional<Verdict> Decider::meetUnfenced(const PairQuestion& q, std::vector<Cause>& leansOn) {
  if (!q.a->offset || !q.b->offset || kernel.model.ordersByPtx || !isUnfenced(*q.a, q.relation) ||
      !isUnfenced(*q.b, q.relation))
    return {};
  Runs runs(*this, q);
  const auto found = runs.constraints();
  if (!found) return {};
  auto isCovered = [&](const Cause& cause) {
    return std::ranges::find(runs.causes, cause) != runs.causes.end();
  };
  for (const ModelAccess* access : {q.a, q.b})
    for (Expr e : {access->offset, access->condition})
      for (const Cause& cause : causesOf(e))
        if (mayOrder(cause) && !isCovered(cause)) return {};
  std::vector<Expr> constraints = meetingConstraints(q);
  constraints.insert(constraints.begin(), found->begin(), found->end());
  for (Expr number : runs.numbers()) // marks and levels are hardly negative, as what stands for none is
    constraints.push_back(kernel.context.binary(Op::Sle, kernel.context.constant(number->width, 0), number));
  ++counters.questions;
  Verdict verdict = solve(std::move(constraints), q.relation);
  if (verdict.outcome != Verdict::Outcome::Happens) return {};
  std::erase_if(leansOn, [&](const Cause& cause) { return mayOrder(cause) || isCovered(cause); });
  leansOn.push_back({CauseKind::Approximation, "what " + placeOf(runs.causes.front()) + " finds"});
  return verdict;
}

} // namespace kcheck::analyzer
