#include "analyzer/decide/draws.h"

#include <algorithm>

namespace kcheck::analyzer {

bool mayOrder(const Cause& cause) {
  return cause.kind == CauseKind::Order || cause.kind == CauseKind::Wait || cause.kind == CauseKind::Warp ||
         cause.kind == CauseKind::Lock;
}

namespace {

class DrawFinder {
public:
  DrawFinder(const KernelModel& model, ExprContext& context) : model(model), context(context) {}

  Draws of(const ModelAccess& access) {
    takeAll(access);
    std::ranges::sort(result.all, {},
                      [](const Draw& draw) { return std::pair(draw.update.object, draw.update.number); });
    joinFollowing(access);
    return std::move(result);
  }

  Draws inOrder(const ModelAccess& access) {
    takeAll(access);
    std::ranges::sort(result.all, {}, [](const Draw& draw) { return draw.update.number; });
    auto isTicket = [](const Draw& draw) { return draw.ticket != nullptr; };
    const bool areInOrder = result.all.size() == 1 || std::ranges::none_of(result.all, isTicket);
    result.isKnown = result.isKnown && !result.waits && doesAll(access) && areInOrder;
    return std::move(result);
  }

private:
  void takeAll(const ModelAccess& access) {
    for (Expr e : {access.offset, access.condition})
      anyNode(e, [&](Expr n) {
        take(n);
        return false;
      });
  }

  void take(Expr n) {
    if (n->op == Op::Symbol) {
      if (model.underLocks.count(n->symbol)) {
        result.waits = true;
        result.causes.push_back(n->symbol->cause);
      }
      auto known = model.updates.find(n->symbol);
      if (known != model.updates.end()) add({known->second, nullptr, {n->symbol->cause}});
      return;
    }
    auto known = n->op == Op::Apply ? model.draws.find(n->function) : model.draws.end();
    if (known == model.draws.end()) return;
    Draw draw{known->second, nullptr, {n->function->cause}};
    if (!draw.update.found) {
      if (n->operands.size() <= kTicketRounds) result.isKnown = false;
      draw.ticket = n;
      draw.update.number = -2 - std::int64_t(n->id);
      Expr wide = context.extend(Op::ZExt, 64, n), step = context.constant(64, 1);
      if (n->function->isRoom) step = context.extend(Op::ZExt, 64, n->operands.back());
      draw.update.found = wide;
      draw.update.left = context.add(wide, step);
      if (!draw.update.offset) draw.update.offset = n->operands.front();
    }
    add(std::move(draw));
  }

  void add(Draw draw) {
    if (draw.update.number == -1) result.isKnown = false;
    for (const Cause& cause : draw.causes) result.waits = result.waits || cause.kind == CauseKind::Wait;
    for (Draw& known : result.all) {
      if (known.update.object != draw.update.object || known.update.number != draw.update.number) continue;
      known.causes.insert(known.causes.end(), draw.causes.begin(), draw.causes.end());
      return;
    }
    result.all.push_back(std::move(draw));
  }

  /// Whether the kernel has more operations on the object than the access hangs on: what is given back by
  /// them may be a lock.
  bool isDoneMoreTo(unsigned object) const {
    std::set<SiteId> sites;
    for (const Phase& phase : model.blockPhases)
      for (const ModelAccess& access : phase.accesses)
        if (access.object == object && access.kind != AccessKind::Read) sites.insert(access.site);
    return sites.size() > std::size_t(std::ranges::count_if(
                              result.all, [&](const Draw& draw) { return draw.update.object == object; }));
  }

  /// Of what is chosen between, a thread may do one and not the other.
  bool doesAll(const ModelAccess& access) const {
    auto isFound = [&](Expr n) {
      return std::ranges::any_of(result.all, [&](const Draw& draw) { return draw.update.found == n; });
    };
    auto chooses = [&](Expr n) {
      return (n->op == Op::Ite || (n->op == Op::Or && n->width == 1)) && anyNode(n, isFound);
    };
    return !anyNode(access.offset, chooses) && !anyNode(access.condition, chooses);
  }

  /// What a thread does to one place, one after the other, is as one operation where no other thread comes
  /// between: each finds what the one before has left.
  void joinFollowing(const ModelAccess& access) {
    const bool doesEach = doesAll(access);
    std::vector<Draw> joined;
    for (Draw& draw : result.all) {
      if (joined.empty() || joined.back().update.object != draw.update.object) {
        joined.push_back(std::move(draw));
        continue;
      }
      AtomicUpdate &first = joined.back().update, &next = draw.update;
      if (!doesEach || isDoneMoreTo(draw.update.object) || joined.back().ticket || draw.ticket ||
          first.offset != next.offset || first.left->width != next.found->width) {
        result.isKnown = false;
        continue;
      }
      result.within.push_back(context.eq(first.left, next.found));
      first.left = next.left;
      first.isLook = first.isLook && next.isLook;
      if (next.differs)
        first.differs = first.differs ? context.logicalAnd(first.differs, next.differs) : next.differs;
      joined.back().causes.insert(joined.back().causes.end(), draw.causes.begin(), draw.causes.end());
    }
    result.all = std::move(joined);
    // Whoever only looks may look for what another thread tells it.
    for (const Draw& draw : result.all) result.isKnown = result.isKnown && !draw.update.isLook;
  }

  const KernelModel& model;
  ExprContext& context;
  Draws result;
};

} // namespace

Draws drawsOf(const ModelAccess& access, const KernelModel& model, ExprContext& context) {
  return DrawFinder(model, context).of(access);
}

Draws drawsInOrder(const ModelAccess& access, const KernelModel& model, ExprContext& context) {
  return DrawFinder(model, context).inOrder(access);
}

std::optional<std::int64_t> startOf(const KernelModel& model, unsigned object) {
  std::optional<std::int64_t> start;
  for (const Phase& phase : model.blockPhases)
    for (const ModelAccess& access : phase.accesses) {
      if (access.object != object || access.kind != AccessKind::Write) continue;
      if (!access.stored || !isConst(access.stored) || access.stored->width < 32) return {};
      if (start && *start != access.stored->value) return {};
      start = access.stored->value;
    }
  return start;
}

std::string placeOf(const Cause& cause) {
  constexpr std::string_view kPrefix = "the result of ";
  return cause.text.starts_with(kPrefix) ? cause.text.substr(kPrefix.size()) : cause.text;
}

} // namespace kcheck::analyzer
