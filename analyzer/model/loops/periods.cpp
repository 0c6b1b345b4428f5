#include "analyzer/model/loops/periods.h"

#include <algorithm>

namespace kcheck::analyzer {
namespace {

constexpr std::int64_t kMostStages = 64;

bool mentions(Expr e, Expr part) {
  return anyNode(e, [&](Expr n) { return n == part; });
}

/// `round`, or a constant more, in whatever width that is no less.
bool isRound(Expr e, Expr round) {
  if (e == round) return true;
  if (e->op == Op::ZExt || e->op == Op::SExt) return isRound(e->operands[0], round);
  if (e->op != Op::Add) return false;
  return isConst(e->operands[1]) && e->operands[1]->value >= 0 && isRound(e->operands[0], round);
}

bool divides(std::int64_t part, std::int64_t whole) { return part > 0 && whole % part == 0; }

/// A number below a power of two, all bits of which are set.
bool isMask(Expr e) { return isConst(e) && e->value > 0 && (e->value & (e->value + 1)) == 0; }

} // namespace

bool comesAgain(Expr e, Expr round, std::int64_t period) {
  if (!mentions(e, round)) return true;
  const auto below = [&](unsigned i) { return e->operands[i]; };
  switch (e->op) {
  case Op::And: {
    if (e->width == 1 || !isMask(below(1))) break;
    const std::int64_t count = below(1)->value + 1;
    Expr inner = below(0);
    if (isRound(inner, round) && divides(count, period)) return true;
    if (inner->op == Op::LShr && isConst(inner->operands[1]) && inner->operands[1]->value < 16 &&
        isRound(inner->operands[0], round) && divides(count << inner->operands[1]->value, period))
      return true;
    if ((inner->op == Op::UDiv || inner->op == Op::SDiv) && isConst(inner->operands[1]) &&
        isRound(inner->operands[0], round) && divides(count * inner->operands[1]->value, period))
      return true;
    break;
  }
  case Op::URem:
  case Op::SRem: {
    if (!isConst(below(1)) || below(1)->value <= 0) break;
    Expr inner = below(0);
    if (isRound(inner, round) && divides(below(1)->value, period)) return true;
    if ((inner->op == Op::UDiv || inner->op == Op::SDiv) && isConst(inner->operands[1]) &&
        isRound(inner->operands[0], round) && divides(below(1)->value * inner->operands[1]->value, period))
      return true;
    break;
  }
  case Op::Trunc: // of the round, its lowest bits
    if (isRound(below(0), round) && e->width < 16 && divides(std::int64_t(1) << e->width, period))
      return true;
    break;
  default: break;
  }
  if (e == round || e->operands.empty()) return false;
  return std::ranges::all_of(e->operands, [&](Expr operand) { return comesAgain(operand, round, period); });
}

std::vector<Expr> valuesInTurn(ExprContext& exprs, Expr e, Expr round) {
  for (std::int64_t period = 1; period <= kMostStages; ++period) {
    if (!comesAgain(e, round, period)) continue;
    std::vector<Expr> values;
    for (std::int64_t at = 0; at < period; ++at) {
      Substitution now(exprs);
      now.set(round, exprs.constant(round->width, at));
      values.push_back(now(e));
      if (!isConst(values.back())) return {};
    }
    return values;
  }
  return {};
}

} // namespace kcheck::analyzer
