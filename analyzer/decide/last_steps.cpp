// Loops whose last round steps a counter out of its type: `for (i = t; i < n; i += stride)` with a large `n`.
// The language lets nobody do so. On a GPU the number wraps, and the loop goes on with rounds that no access
// speaks of.
#include "analyzer/decide/question.h"
#include "analyzer/expr/fold.h"

#include <fmt/format.h>

#include <algorithm>

namespace kcheck::analyzer {

/// The steps behind rounds in which the access is, and that may leave their type as far as ranges tell.
std::vector<const LoopStep*> Decider::farSteps(const ModelAccess& access) {
  std::vector<const LoopStep*> result;
  for (const void* loop : access.loops) {
    const auto steps = kernel.model.loopSteps.find(loop);
    if (steps == kernel.model.loopSteps.end()) continue;
    for (const LoopStep& step : steps->second) {
      const auto isCounter = [&](Expr n) { return n->op == Op::Symbol && n->symbol == step.counter; };
      if (!anyNode(access.condition, isCounter) && !(access.offset && anyNode(access.offset, isCounter)))
        continue; // of another run through the loop
      Ranges& ranges = viewOf(access, Ranges::Wrapping::Exact).ranges;
      const Range value = ranges.of(step.value), by = ranges.of(step.by);
      const auto after = [&](Int x, Int y) { return step.op == Op::Add ? x + y : x * y; };
      const auto [least, most] = std::minmax(
          {after(value.lo, by.lo), after(value.lo, by.hi), after(value.hi, by.lo), after(value.hi, by.hi)});
      const unsigned width = step.value->width;
      if (least < signedMin(width) || most > signedMax(width)) result.push_back(&step);
    }
  }
  return result;
}

void Decider::assumeSteps(const ModelAccess& access, std::vector<std::string>& assumptions) {
  for (const LoopStep* step : farSteps(access))
    assumptions.push_back(fmt::format("the loop counter at line {} does not overflow", step->line));
}

/// Whether that happens in a launch whose numbers are known: then no proof may rest on its not happening.
static bool isKnown(const ModelAccess& access, const LoopStep& step) {
  const auto isOpen = [](Expr n) {
    if (n->op == Op::Apply) return true;
    return n->op == Op::Symbol && !isIndex(n) && n->symbol->kind != SymbolKind::LoopCounter;
  };
  return !anyNode(access.condition, isOpen) && !anyNode(step.value, isOpen) && !anyNode(step.by, isOpen);
}

void Decider::withdrawWhereStepped(Verdict& verdict, const ModelAccess& access) {
  if (verdict.outcome != Verdict::Outcome::Never) return;
  ExprContext& c = kernel.context;
  for (const LoopStep* step : farSteps(access)) {
    if (!isKnown(access, *step)) continue;
    const unsigned width = step->value->width;
    const Expr next = c.binary(step->op, c.extend(Op::SExt, 64, step->value),
                               c.extend(Op::SExt, 64, step->by), NoSignedWrap);
    const Expr isOver = c.logicalOr(c.binary(Op::Slt, c.constant(64, std::int64_t(signedMax(width))), next),
                                    c.binary(Op::Slt, next, c.constant(64, std::int64_t(signedMin(width)))));
    const Verdict stepped = solve({access.condition, isOver}, std::nullopt);
    if (stepped.outcome == Verdict::Outcome::Never) continue;
    verdict = {};
    verdict.reason = fmt::format("the loop counter at line {} {}", step->line,
                                 stepped.outcome == Verdict::Outcome::Happens ? "overflows" : "may overflow");
    return;
  }
}

} // namespace kcheck::analyzer
