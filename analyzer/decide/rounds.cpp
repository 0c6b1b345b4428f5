// Proofs by how often a loop ran.
#include "analyzer/decide/arms.h"

#include <algorithm>
#include <functional>

namespace kcheck::analyzer {

/// The ways to come to the access, by one of the alternatives in its condition: `nth` counts from the longest
/// on.
static std::vector<Arm> alternativesOf(ExprContext& c, const ModelAccess& access, std::size_t nth) {
  constexpr std::size_t kMostAlternatives = 4;
  const auto isChoice = [](Expr e) { return e->op == Op::Or && e->width == 1; };
  std::vector<std::pair<std::size_t, Expr>> choices;
  for (Expr part : conjunctsOf(access.condition)) {
    std::size_t nodes = 0;
    anyNode(part, [&](Expr) { return ++nodes, false; });
    if (isChoice(part)) choices.emplace_back(nodes, part);
  }
  if (nth >= choices.size()) return {armOf(access)};
  std::sort(choices.begin(), choices.end(), [](const auto& x, const auto& y) {
    return x.first != y.first ? x.first > y.first : x.second->id < y.second->id;
  });
  std::vector<Expr> alternatives{choices[nth].second};
  for (std::size_t i = 0; i < alternatives.size() && alternatives.size() <= kMostAlternatives;)
    if (isChoice(alternatives[i])) {
      alternatives.push_back(alternatives[i]->operands[1]);
      alternatives[i] = alternatives[i]->operands[0];
    } else {
      ++i;
    }
  if (alternatives.size() > kMostAlternatives) return {armOf(access)};
  std::vector<Arm> arms;
  for (Expr alternative : alternatives)
    arms.push_back({c.logicalAnd(access.condition, alternative), access.offset, access.size});
  return arms;
}

/// A size that has few values once it is known how often a loop ran, as where tiles grow narrower by each
/// round
/// (`16 - 2 * rounds` wide): each number of rounds, and for each the sizes that are left.
bool Decider::provesByRounds(const PairQuestion& q, Ranges::Wrapping wrapping,
                             const std::unordered_set<Expr>& decisive) {
  constexpr Int kMostRounds = 16;
  std::vector<Expr> rounds, sizes;
  for (Expr s : decisive)
    if (s->symbol->kind == SymbolKind::Parameter && !kernel.isPrivate(s, q.relation)) sizes.push_back(s);
  anyNode(q.a->condition, [&](Expr n) {
    if (n->op == Op::Symbol && n->symbol->kind == SymbolKind::LoopCounter && !kernel.isPrivate(n, q.relation))
      rounds.push_back(n);
    return false;
  });
  const auto inOrder = [](std::vector<Expr>& symbols) {
    std::sort(symbols.begin(), symbols.end(), [](Expr x, Expr y) { return x->symbol->id < y->symbol->id; });
    symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
  };
  inOrder(rounds);
  inOrder(sizes);
  if (rounds.empty() || sizes.empty()) return false;
  using Proof = std::function<bool(const Arm&, const Arm&)>;
  auto viewOfArm = [&](const Arm& arm) {
    return AccessView(kernel, arm.condition, arm.offset, arm.size, wrapping);
  };
  const Proof apart = [&](const Arm& x, const Arm& y) {
    if (isFalse(x.condition) || isFalse(y.condition)) return true;
    AccessView vx = viewOfArm(x), vy = viewOfArm(y);
    return !vx.isPossible || !vy.isPossible || PairSystem(kernel, vx, vy, q.relation).provesApart();
  };
  /// Whether the two are apart for each value that the symbol may have.
  auto apartForEach = [&](Expr symbol, const Arm& x, const Arm& y, const Proof& areApart) {
    if (isFalse(x.condition) || isFalse(y.condition)) return true;
    AccessView vx = viewOfArm(x), vy = viewOfArm(y);
    if (!vx.isPossible || !vy.isPossible) return true;
    const Range r = vx.ranges.of(symbol), s = vy.ranges.of(symbol);
    const Int least = std::max(r.lo, s.lo), most = std::min(r.hi, s.hi);
    if (most - least >= kMostRounds) return false;
    for (Int v = least; v <= most; ++v) {
      if (secondsLeft() <= 0) return false;
      const auto value = std::int64_t(v);
      if (!areApart(fixed(kernel, x, symbol, value), fixed(kernel, y, symbol, value))) return false;
    }
    return true;
  };
  auto allApart = [&](Expr round, Expr size, std::size_t nth) {
    for (const Arm& x : alternativesOf(kernel.context, *q.a, nth))
      for (const Arm& y : alternativesOf(kernel.context, *q.b, nth))
        if (!apartForEach(round, x, y,
                          [&](const Arm& u, const Arm& v) { return apartForEach(size, u, v, apart); }))
          return false;
    return true;
  };
  constexpr std::size_t kMostChoices = 3;
  for (Expr round : rounds)
    for (Expr size : sizes)
      for (std::size_t nth = 0; nth < kMostChoices; ++nth)
        if (allApart(round, size, nth)) return true;
  return false;
}

} // namespace kcheck::analyzer
