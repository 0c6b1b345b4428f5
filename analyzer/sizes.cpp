#include "analyzer/sizes.h"

#include "analyzer/expr/fold.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

namespace kcheck::analyzer {
namespace {

/// A value of the launch that the source does not show, the same for all threads.
bool isHidden(Expr n) {
  if (n->op == Op::Symbol)
    return n->symbol->cause.kind == CauseKind::Launch || n->symbol->cause.kind == CauseKind::AnyInput;
  if (n->op != Op::Apply || n->function->cause.kind != CauseKind::Launch) return false;
  return std::all_of(n->operands.begin(), n->operands.end(), [](Expr at) { return isConst(at); });
}

bool hidesAny(Expr expression) { return expression && anyNode(expression, isHidden); }

bool isCounted(Expr n) {
  if (n->op != Op::Symbol) return false;
  const SymbolKind kind = n->symbol->kind;
  return kind == SymbolKind::ThreadIdx || kind == SymbolKind::BlockIdx || kind == SymbolKind::LoopCounter;
}

/// `index < size`, of either sign and on either side.
bool isBound(Expr n) {
  if (n->op != Op::Slt && n->op != Op::Sle && n->op != Op::Ult && n->op != Op::Ule) return false;
  const Expr a = n->operands[0], b = n->operands[1];
  const Expr other = hidesAny(a) ? b : a;
  return hidesAny(a) != hidesAny(b) && anyNode(other, isCounted);
}

/// Every hidden value below is part of a bound.
bool boundsOnly(Expr condition) {
  std::unordered_set<Expr> seen;
  std::vector<Expr> work{condition};
  while (!work.empty()) {
    const Expr n = work.back();
    work.pop_back();
    if (!seen.insert(n).second || isBound(n)) continue;
    if (isHidden(n)) return false;
    work.insert(work.end(), n->operands.begin(), n->operands.end());
  }
  return true;
}

bool needsSizesOnly(const ModelAccess& access) {
  return !hidesAny(access.offset) && causesOf(access.offset).empty() &&
         (!access.condition || boundsOnly(access.condition));
}

} // namespace

bool needSizesOnly(const ModelAccess& one, const ModelAccess& other) {
  return needsSizesOnly(one) && needsSizesOnly(other) &&
         (hidesAny(one.condition) || hidesAny(other.condition));
}

} // namespace kcheck::analyzer
