#include "analyzer/decide/variants.h"

#include <algorithm>
#include <map>

namespace kcheck::analyzer {

const ModelAccess* AccessVariants::where(const ModelAccess& access, Expr condition) {
  ModelAccess& made = all.emplace_back(access);
  made.condition = decider.view().context.logicalAnd(access.condition, condition);
  return &made;
}

const ModelAccess* AccessVariants::with(const ModelAccess& access, Expr number, std::int64_t value) {
  ExprContext& context = decider.view().context;
  Substitution known(context);
  known.set(number, context.constant(number->width, value));
  ModelAccess& made = all.emplace_back(access);
  for (Expr* e : {&made.condition, &made.offset, &made.size, &made.stored})
    if (*e) *e = known(*e);
  return &made;
}

const ModelAccess* AccessVariants::inFirstRounds(const ModelAccess& access, Rounds rounds) {
  const bool isTied = rounds != Rounds::First;
  ExprContext& context = decider.view().context;
  Substitution first(context);
  Expr isFirst = context.boolean(true);
  auto replace = [&](Expr n) {
    if (n->op != Op::Symbol) return false;
    const bool isOutcome = n->symbol->isOutcome && n->symbol->kind == SymbolKind::LoopCounter;
    const auto exit = isTied && (!isOutcome || rounds == Rounds::OnlyOnes) ? model.firstExits.find(n->symbol)
                                                                           : model.firstExits.end();
    if (exit != model.firstExits.end()) {
      const auto& [inside, value] = exit->second;
      first.set(n, value);
      if (inside) isFirst = context.logicalAnd(isFirst, context.eq(inside, value));
      return false;
    }
    const auto start = model.firstValues.find(n->symbol);
    const bool isCounter =
        n->symbol->kind == SymbolKind::LoopCounter && (rounds == Rounds::OnlyOnes || !n->symbol->isOutcome);
    if (start == model.firstValues.end() && !isCounter) return false;
    Expr value = isCounter ? context.constant(n->width, 0) : start->second;
    first.set(n, value);
    if (isCounter || isTied) isFirst = context.logicalAnd(isFirst, context.eq(n, value));
    return false;
  };
  for (Expr root : {access.condition, access.offset})
    if (root) anyNode(root, replace);
  if (first.empty()) return nullptr;
  ModelAccess& made = all.emplace_back(access);
  made.condition = context.logicalAnd(first(access.condition), isFirst);
  for (Expr* e : {&made.offset, &made.size, &made.stored})
    if (*e) *e = first(*e);
  return &made;
}

const ModelAccess* AccessVariants::underPromise(const ModelAccess& access, Promise promise,
                                                std::set<unsigned>& arrays) {
  ExprContext& context = decider.view().context;
  const bool ascend = promise == Promise::Ascending;
  std::map<const Function*, std::set<Expr>> elements;
  const auto collect = [&](Expr n) {
    if (n->op == Op::Apply && n->function->varies == Varies::Never && model.contents.contains(n->function) &&
        !(ascend ? n->function->ascends : n->function->injective))
      elements[n->function].insert(n);
    return false;
  };
  if (access.offset) anyNode(access.offset, collect);
  if (ascend) anyNode(access.condition, collect);
  Substitution promised(context);
  for (const auto& [content, read] : elements) {
    if (ascend && read.size() < 2) continue;
    Function* made = context.function(content->name + (ascend ? " ascending" : " distinct"), content->width);
    made->injective = content->injective || !ascend;
    made->ascends = content->ascends || ascend;
    made->keys = unsigned((*read.begin())->operands.size()) - 1;
    made->exact = content->exact;
    made->cause = content->cause;
    for (Expr element : read) promised.set(element, context.apply(made, element->operands));
    arrays.insert(model.contents.at(content));
  }
  if (promised.empty()) return nullptr;
  ModelAccess& made = all.emplace_back(access);
  for (Expr* e : {&made.condition, &made.offset, &made.size, &made.stored})
    if (*e) *e = promised(*e);
  return &made;
}

/// The elements of arrays that the kernel only reads.
std::set<Expr> AccessVariants::elementsIn(Expr root) const {
  std::set<Expr> result;
  anyNode(root, [&](Expr n) {
    if (n->op == Op::Apply && n->function->varies == Varies::Never && model.contents.contains(n->function))
      result.insert(n);
    return false;
  });
  return result;
}

/// Those of them that what decides about the place is compared with.
std::set<Expr> AccessVariants::boundsOf(Expr place, Expr condition) const {
  const auto decides = [&](Expr symbol) {
    return symbol->op == Op::Symbol && anyNode(place, [&](Expr n) { return n == symbol; });
  };
  std::set<Expr> result;
  anyNode(condition, [&](Expr n) {
    const bool compares = n->op == Op::Slt || n->op == Op::Sle || n->op == Op::Ult || n->op == Op::Ule;
    if (compares && anyNode(n, decides)) result.merge(elementsIn(n));
    return false;
  });
  return result;
}

/// From one row's start in its array to the next one's, in bytes, where both speak of one row.
std::optional<std::int64_t> AccessVariants::distanceOfRows(Expr start, Expr length) const {
  if (start->operands.empty() || length->operands.empty() || start->width != length->width) return {};
  Expr from = start->operands.back(), at = length->operands.back(); // before them: what is promised
  if (start->function != length->function) return from == at ? std::optional(start->width / 8) : std::nullopt;
  Expr between = decider.view().context.sub(at, from); // members of one structure
  const bool isScaled = from->op == Op::Mul && isConst(from->operands[1]);
  if (!isConst(between) || !isScaled || from->operands[1]->value < 2 * std::int64_t(start->width / 8))
    return {};
  return from->operands[1]->value;
}

const ModelAccess* AccessVariants::withRowsApart(const ModelAccess& access,
                                                 std::set<std::pair<unsigned, unsigned>>& rows) {
  if (!access.offset) return nullptr;
  ExprContext& context = decider.view().context;
  const std::set<Expr> starts = elementsIn(access.offset);
  Substitution within(context); // the row that starts there
  for (Expr start : starts) within.set(start, context.constant(start->width, 0));
  const std::set<Expr> lengths = boundsOf(within(access.offset), access.condition);
  Substitution apart(context);
  std::set<Expr> taken;
  for (Expr start : starts)
    for (Expr length : lengths) {
      const auto distance = starts.count(length) ? std::nullopt : distanceOfRows(start, length);
      if (!distance || taken.count(start) || !taken.insert(length).second) continue;
      taken.insert(start);
      const Function &begins = *start->function, &counts = *length->function;
      Function* made = context.function(begins.name + " before " + counts.name, begins.width);
      made->ascends = true;
      made->exact = begins.exact;
      made->cause = begins.cause;
      Expr place = start->operands.back(),
           next = context.add(place, context.constant(place->width, *distance));
      Expr first = context.apply(made, {place});
      apart.set(start, first);
      apart.set(length, context.sub(context.apply(made, {next}), first));
      rows.insert({model.contents.at(start->function), model.contents.at(length->function)});
    }
  if (apart.empty()) return nullptr;
  ModelAccess& made = all.emplace_back(access);
  for (Expr* e : {&made.condition, &made.offset, &made.size, &made.stored})
    if (*e) *e = apart(*e);
  return &made;
}

const ModelAccess* AccessVariants::withoutDrawing(const ModelAccess& access) {
  ExprContext& context = decider.view().context;
  auto isDrawn = [](Expr arm) {
    return std::ranges::any_of(causesOf(arm),
                               [](const Cause& cause) { return cause.kind == CauseKind::Order; });
  };
  Substitution undrawn(context);
  Expr others = context.boolean(true);
  if (access.offset)
    anyNode(access.offset, [&](Expr n) {
      if (n->op != Op::Ite || isDrawn(n->operands[0]) || isDrawn(n->operands[1]) == isDrawn(n->operands[2]))
        return false;
      const bool isFirst = isDrawn(n->operands[1]);
      undrawn.set(n, n->operands[isFirst ? 2 : 1]);
      others = context.logicalAnd(others, isFirst ? context.logicalNot(n->operands[0]) : n->operands[0]);
      return false;
    });
  if (undrawn.empty()) return nullptr;
  ModelAccess& made = all.emplace_back(access);
  made.offset = undrawn(access.offset);
  made.condition = context.logicalAnd(access.condition, others);
  return &made;
}

std::optional<Verdict> AccessVariants::comeInOrder(const PairQuestion& q, std::vector<Cause>& causes) {
  if (auto next = decider.meetAsNeighbours(q, causes)) return next;
  if (auto next = decider.meetInSequence(q, causes)) return next;
  if (auto next = decider.meetAmongVoters(q, causes)) return next;
  if (auto next = decider.meetBeforeLast(q, causes)) return next;
  if (q.a->loops.empty() && q.b->loops.empty())
    if (auto next = decider.meetUnfenced(q, causes)) return next;
  const ModelAccess *x = withoutDrawing(*q.a), *y = withoutDrawing(*q.b);
  if (x && y)
    if (auto next = decider.meetAmongVoters({x, y, q.relation}, causes)) return next;
  for (Rounds rounds : {Rounds::Tied, Rounds::OnlyOnes}) {
    x = inFirstRounds(*q.a, rounds);
    y = inFirstRounds(*q.b, rounds);
    if (!x && !y) return {};
    const PairQuestion first{x ? x : q.a, y ? y : q.b, q.relation};
    if (auto next = decider.meetAsNeighbours(first, causes)) return next;
    if (auto next = decider.meetInSequence(first, causes)) return next;
    if (auto next = decider.meetUnfenced(first, causes)) return next;
  }
  return {};
}

} // namespace kcheck::analyzer
