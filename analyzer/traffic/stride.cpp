#include "analyzer/traffic/stride.h"

#include "analyzer/decide/view.h"

#include <algorithm>
#include <fmt/format.h>

namespace kcheck::analyzer {
namespace {

std::string termText(const Monomial& monomial, Int coefficient) {
  std::string text;
  if (coefficient != 1 || monomial.empty()) text = std::to_string(std::int64_t(coefficient));
  for (const Atom& atom : monomial) text += (text.empty() ? "" : "*") + toString(atom.node, 3);
  return text;
}

bool isSymbol(const Atom& atom, SymbolKind kind) {
  return atom.node->op == Op::Symbol && atom.node->symbol->kind == kind;
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

bool countsWithinRow(const KernelModel& model, ExprContext& exprs, const ModelAccess& access) {
  KernelView kernel(model, exprs);
  AccessView view(kernel, access.condition, access.offset, access.size, Ranges::Wrapping::Assumed);
  if (!view.isPossible || !view.offsetPoly.valid || !isConst(access.size)) return true;
  return std::ranges::any_of(view.offsetPoly.terms, [&](const auto& term) {
    const auto& [monomial, coefficient] = term;
    if (monomial.size() != 1 || (coefficient != access.size->value && coefficient != -access.size->value))
      return false;
    const Atom& atom = monomial.front();
    return atom.node != model.threadIdx[0] &&
           (isSymbol(atom, SymbolKind::LoopCounter) || isSymbol(atom, SymbolKind::ThreadIdx) ||
            isSymbol(atom, SymbolKind::BlockIdx) || atom.node->op != Op::Symbol);
  });
}

LoopStride loopStride(const KernelModel& model, ExprContext& exprs, const ModelAccess& access) {
  KernelView kernel(model, exprs);
  AccessView view(kernel, access.condition, access.offset, access.size, Ranges::Wrapping::Assumed);
  if (!view.isPossible || !view.offsetPoly.valid) return LoopStride::Other;
  LoopStride result = LoopStride::Other;
  for (const auto& [monomial, coefficient] : view.offsetPoly.terms) {
    auto has = [&atoms = monomial](SymbolKind kind) {
      return std::ranges::any_of(atoms, [&](const Atom& atom) { return isSymbol(atom, kind); });
    };
    if (!has(SymbolKind::LoopCounter) || !has(SymbolKind::BlockDim)) continue;
    result = std::max(result, has(SymbolKind::GridDim) ? LoopStride::Grid : LoopStride::Block);
  }
  return result;
}

} // namespace kcheck::analyzer
