#include "analyzer/decide/usual_sizes.h"

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

/// Integer parameters that what differs between threads is multiplied by: by how far rows lie apart.
std::vector<Expr> pitchesOf(std::initializer_list<const ModelAccess*> accesses) {
  std::vector<Expr> result;
  const auto note = [&](Expr factor) {
    while (factor->op == Op::SExt || factor->op == Op::ZExt) factor = factor->operands[0];
    if (factor->op == Op::Symbol && factor->symbol->kind == SymbolKind::Parameter && factor->width >= 32 &&
        std::ranges::find(result, factor) == result.end())
      result.push_back(factor);
  };
  const auto noteFactors = [&](Expr product) {
    while (product->op == Op::SExt || product->op == Op::ZExt) product = product->operands[0];
    for (std::size_t i : {0u, 1u})
      if (product->op == Op::Mul && variesOf(product->operands[1 - i]) != Varies::Never)
        note(product->operands[i]);
  };
  for (const ModelAccess* access : accesses)
    anyNode(access->offset, [&](Expr n) {
      for (std::size_t i : {0u, 1u}) // a place in a row is added
        if (n->op == Op::Add && variesOf(n->operands[1 - i]) != Varies::Never) noteFactors(n->operands[i]);
      return false;
    });
  return result;
}

/// Whether threads that lie beyond a number stay away (`x < width`): the launch may be wider then.
bool isGuarded(const ModelAccess& access) {
  const auto isParameter = [](Expr n) {
    return n->op == Op::Symbol && n->symbol->kind == SymbolKind::Parameter;
  };
  const auto isIndex = [](Expr n) {
    return n->op == Op::Symbol &&
           (n->symbol->kind == SymbolKind::ThreadIdx || n->symbol->kind == SymbolKind::BlockIdx);
  };
  return anyNode(access.condition, [&](Expr n) {
    const bool orders = n->op == Op::Slt || n->op == Op::Sle || n->op == Op::Ult || n->op == Op::Ule;
    return orders && anyNode(n, isIndex) && anyNode(n, isParameter);
  });
}

/// Threads along the axis that has most; 0 where that is not known.
std::int64_t widthOf(const KernelModel& model) {
  std::int64_t widest = 0;
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (!isConst(model.blockDim[axis]) || !isConst(model.gridDim[axis])) return 0;
    widest = std::max(widest, std::int64_t(model.blockDim[axis]->value * model.gridDim[axis]->value));
  }
  return widest;
}

} // namespace

void doubtShortRows(const Check& check, std::initializer_list<const ModelAccess*> accesses, Verdict& verdict,
                    const std::function<Verdict(Expr wanted)>& again) {
  const std::int64_t width = widthOf(check.model);
  if (std::ranges::any_of(accesses, [](const ModelAccess* access) { return isGuarded(*access); })) return;
  if (width < 2 || verdict.outcome != Verdict::Outcome::Happens) return;
  ExprContext& context = check.decider.view().context;
  Expr wanted = context.boolean(true);
  std::string names;
  for (Expr pitch : pitchesOf(accesses)) {
    if (signExtend(verdict.values.of(pitch->symbol), pitch->width) >= width) continue;
    wanted =
        context.logicalAnd(wanted, context.binary(Op::Sle, context.constant(pitch->width, width), pitch));
    names += (names.empty() ? "`" : " and `") + pitch->symbol->name + "`";
  }
  if (names.empty()) return;
  if (again(wanted).outcome == Verdict::Outcome::Never)
    verdict.leans.push_back({CauseKind::Launch, names + ", less than the launch has threads along an axis"});
}

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
