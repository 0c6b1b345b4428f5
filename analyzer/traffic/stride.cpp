#include "analyzer/traffic/stride.h"

#include "analyzer/decide/view.h"

#include <fmt/format.h>

namespace kcheck::analyzer {
namespace {

std::string termText(const Monomial& monomial, Int coefficient) {
  std::string text;
  if (coefficient != 1 || monomial.empty()) text = std::to_string(std::int64_t(coefficient));
  for (const Atom& atom : monomial) text += (text.empty() ? "" : "*") + toString(atom.node, 3);
  return text;
}

bool mentions(Expr e, Expr part) {
  return anyNode(e, [&](Expr n) { return n == part; });
}

} // namespace

std::string strideText(const KernelModel& model, ExprContext& exprs, const ModelAccess& access) {
  const Expr thread = model.threadIdx[0];
  if (!thread || thread->op != Op::Symbol) return "";
  KernelView kernel(model, exprs);
  AccessView view(kernel, access.condition, access.offset, access.size, Ranges::Wrapping::Assumed);
  if (!view.isPossible || !view.offsetPoly.valid) return "";
  std::string text;
  for (const auto& [monomial, coefficient] : view.offsetPoly.terms) {
    Monomial rest;
    unsigned found = 0;
    for (const Atom& atom : monomial) {
      if (atom.node == thread)
        ++found;
      else if (mentions(atom.node, thread))
        return "";
      else
        rest.push_back(atom);
    }
    if (found > 1) return "";
    if (found == 1) text += (text.empty() ? "" : " + ") + termText(rest, coefficient);
  }
  return text;
}

} // namespace kcheck::analyzer
