#include "analyzer/decide/negative_sizes.h"

#include "report/assumptions.h"

#include <algorithm>

namespace kcheck::analyzer {
namespace {

/// Integer parameters that are negative in a witness.
std::vector<Expr> negativeParameters(const Verdict& verdict) {
  std::vector<Expr> result;
  for (Expr constraint : verdict.constraints)
    anyNode(constraint, [&](Expr n) {
      if (n->op == Op::Symbol && n->symbol->kind == SymbolKind::Parameter && n->width >= 32 &&
          n->symbol->lo < 0 && signExtend(verdict.values.of(n->symbol), n->width) < 0 &&
          std::find(result.begin(), result.end(), n) == result.end())
        result.push_back(n);
      return false;
    });
  std::sort(result.begin(), result.end(), [](Expr x, Expr y) { return x->id < y->id; });
  return result;
}

} // namespace

void preferNotNegative(const Check& check, PropertyAnswer& answer,
                       std::initializer_list<const ModelAccess*> accesses, Verdict& verdict,
                       const std::function<Verdict(Expr wanted)>& again) {
  const auto isWrapped = [&](const ModelAccess* access) { return check.decider.happensOnlyWrapped(*access); };
  if (std::ranges::any_of(accesses, isWrapped)) return;
  constexpr int kMostRounds = 3; // other parameters may turn negative
  ExprContext& context = check.decider.view().context;
  Expr wanted = context.boolean(true);
  std::vector<std::string> assumptions;
  const Verdict first = verdict;
  for (int round = 0; round < kMostRounds && verdict.outcome == Verdict::Outcome::Happens; ++round) {
    const auto negative = negativeParameters(verdict);
    if (negative.empty()) return;
    for (Expr n : negative) {
      assumptions.push_back(notNegative(n->symbol->name));
      wanted = context.logicalAnd(wanted, context.binary(Op::Sle, context.constant(n->width, 0), n));
    }
    const auto isAskedFor = [&](const ModelAccess* access) {
      return check.decider.asksAgainst(*access, wanted);
    };
    if (std::ranges::any_of(accesses, isAskedFor)) {
      verdict = first; // it is for negative ones that the kernel does this
      return;
    }
    verdict = again(wanted);
  }
  if (verdict.outcome == Verdict::Outcome::Never)
    for (const std::string& text : assumptions) answer.assume(text);
}

} // namespace kcheck::analyzer
