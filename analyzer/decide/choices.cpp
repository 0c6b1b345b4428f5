#include "analyzer/decide/choices.h"

#include "analyzer/expr/fold.h"

#include <algorithm>
#include <unordered_set>

namespace kcheck::analyzer {

Expr withoutExcluded(ExprContext& c, Expr condition) {
  constexpr unsigned kMostRounds = 4;
  constexpr std::size_t kMostParts = 64;
  for (unsigned round = 0; round < kMostRounds; ++round) {
    std::vector<Expr> parts = conjunctsOf(condition);
    std::unordered_set<Expr> plain;
    for (Expr part : parts)
      if (part->op != Op::Or) plain.insert(part);
    if (plain.size() == parts.size() || parts.size() > kMostParts) return condition;
    auto isExcluded = [&](Expr choice) {
      const std::vector<Expr> needed = conjunctsOf(choice);
      return std::any_of(needed.begin(), needed.end(),
                         [&](Expr n) { return plain.count(c.logicalNot(n)) != 0; });
    };
    Expr result = c.boolean(true);
    for (Expr part : parts) {
      Expr left = part->op == Op::Or ? c.boolean(false) : part;
      std::vector<Expr> choices;
      if (part->op == Op::Or) choices.push_back(part);
      while (!choices.empty()) {
        Expr choice = choices.back();
        choices.pop_back();
        if (choice->op == Op::Or)
          choices.insert(choices.end(), choice->operands.begin(), choice->operands.end());
        else if (!isExcluded(choice))
          left = c.logicalOr(left, choice);
      }
      result = c.logicalAnd(result, left);
    }
    if (result == condition) return condition;
    condition = result;
  }
  return condition;
}

Expr chosen(ExprContext& c, Expr condition, Expr e) {
  if (!e || !anyNode(e, [](Expr n) { return n->op == Op::Ite; })) return e;
  std::unordered_set<Expr> known;
  for (Expr part : conjunctsOf(condition)) known.insert(part);
  auto holds = [&](Expr part) { return isTrue(part) || known.count(part) != 0; };
  Substitution substitution(c);
  anyNode(e, [&](Expr n) {
    if (n->op != Op::Ite) return false;
    const std::vector<Expr> parts = conjunctsOf(n->operands[0]);
    if (std::all_of(parts.begin(), parts.end(), holds))
      substitution.set(n, n->operands[1]);
    else if (std::any_of(parts.begin(), parts.end(), [&](Expr part) {
               const std::vector<Expr> denied = conjunctsOf(c.logicalNot(part));
               return std::all_of(denied.begin(), denied.end(), holds);
             }))
      substitution.set(n, n->operands[2]);
    return false;
  });
  if (substitution.empty()) return e;
  Expr result = substitution(e);
  return result == e ? e : chosen(c, condition, result); // choices within choices
}

Expr settled(ExprContext& c, Ranges& ranges, Expr e) {
  Substitution substitution(c);
  anyNode(e, [&](Expr n) {
    if (n->op != Op::Ite) return false;
    const Range test = ranges.of(n->operands[0]);
    if (test.isConstant()) substitution.set(n, n->operands[test.lo == 0 ? 2 : 1]);
    return false;
  });
  if (substitution.empty()) return e;
  Expr result = substitution(e);
  return result == e ? e : settled(c, ranges, result);
}

} // namespace kcheck::analyzer
