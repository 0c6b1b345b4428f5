#include "analyzer/decide/unmeant.h"

#include <algorithm>

namespace kcheck::analyzer {

namespace {

bool isParameter(Expr n) {
  return n->op == Op::Symbol && n->symbol->kind == SymbolKind::Parameter && n->width >= 32;
}

Expr withoutCasts(Expr e) {
  while (e->op == Op::SExt || e->op == Op::ZExt || e->op == Op::Trunc) e = e->operands[0];
  return e;
}

/// Nothing is known of it: launches that are have the steps that they have.
bool mayBeAnything(const Symbol& parameter) {
  constexpr Int greatestInt = (Int(1) << 31) - 1;
  return parameter.lo <= 0 && parameter.hi >= greatestInt;
}

/// The parameters of which `factor` is the product.
void addParameters(Expr factor, std::vector<Expr>& found) {
  factor = withoutCasts(factor);
  if (factor->op == Op::Mul)
    for (Expr operand : factor->operands) addParameters(operand, found);
  else if (isParameter(factor) && mayBeAnything(*factor->symbol))
    found.push_back(factor);
}

/// Parameters that multiply, somewhere in `offset`, what differs between the threads.
std::vector<Expr> stepsOf(Expr offset, KernelView& view, Relation relation) {
  std::vector<Expr> found;
  anyNode(offset, [&](Expr n) {
    if (n->op != Op::Mul) return false;
    const Expr x = n->operands[0], y = n->operands[1];
    const bool differs = view.isPrivate(x, relation);
    if (differs != view.isPrivate(y, relation)) addParameters(differs ? y : x, found);
    return false;
  });
  return found;
}

} // namespace

std::vector<Expr> stepParameters(KernelView& view, const PairQuestion& question) {
  std::vector<Expr> result;
  for (const ModelAccess* access : {question.a, question.b})
    for (Expr step : stepsOf(access->offset, view, question.relation))
      if (std::find(result.begin(), result.end(), step) == result.end()) result.push_back(step);
  return result;
}

std::vector<Unmeant> unmeantParameters(const Verdict& verdict, KernelView& view,
                                       const PairQuestion& question) {
  std::vector<Unmeant> result;
  auto add = [&](Expr parameter, bool isZero) {
    const bool isNew = std::none_of(result.begin(), result.end(),
                                    [&](const Unmeant& u) { return u.parameter == parameter; });
    if (isNew) result.push_back({parameter, isZero});
  };
  auto valueOf = [&](Expr n) { return signExtend(verdict.values.of(n->symbol), n->width); };
  for (Expr constraint : verdict.constraints)
    anyNode(constraint, [&](Expr n) {
      if (isParameter(n) && n->symbol->lo < 0 && valueOf(n) < 0) add(n, false);
      return false;
    });
  for (Expr step : stepParameters(view, question))
    if (valueOf(step) == 0) add(step, true);
  std::sort(result.begin(), result.end(),
            [](const Unmeant& x, const Unmeant& y) { return x.parameter->id < y.parameter->id; });
  return result;
}

} // namespace kcheck::analyzer
