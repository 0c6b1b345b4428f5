// What a proof rests on where arithmetic of the program may wrap, and when that may be assumed not to happen.
#include "analyzer/decide/question.h"

#include "report/assumptions.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace kcheck::analyzer {
namespace {

/// `blockIdx.x * blockDim.x + threadIdx.x`, or a part of it, or the next one: no more than the threads along
/// the axis. Products and sums of such may wrap in a launch that is allowed.
bool isGlobalIndex(Expr e) {
  if (e->op == Op::Add && isConst(e->operands[1], 1)) e = e->operands[0];
  std::optional<unsigned> axis;
  bool hasThread = false, hasProduct = false, isPlain = true;
  auto isOf = [&](Expr symbol, std::initializer_list<SymbolKind> kinds) {
    if (symbol->op != Op::Symbol || std::ranges::find(kinds, symbol->symbol->kind) == kinds.end())
      return false;
    if (!axis) axis = symbol->symbol->axis;
    return *axis == symbol->symbol->axis;
  };
  for (Expr part :
       e->op == Op::Add ? std::vector<Expr>{e->operands[0], e->operands[1]} : std::vector<Expr>{e}) {
    if (part->op == Op::Mul) {
      Expr x = part->operands[0], y = part->operands[1];
      if (isConst(x) || (y->op == Op::Symbol && y->symbol->kind != SymbolKind::BlockDim)) std::swap(x, y);
      const bool isKnownBlock = isConst(y) && isOf(x, {SymbolKind::BlockIdx, SymbolKind::GridDim});
      const bool isFreeBlock =
          isOf(x, {SymbolKind::BlockIdx, SymbolKind::GridDim}) && isOf(y, {SymbolKind::BlockDim});
      isPlain = isPlain && !hasProduct && (isKnownBlock || isFreeBlock);
      hasProduct = true;
    } else {
      isPlain = isPlain && !hasThread && isOf(part, {SymbolKind::ThreadIdx});
      hasThread = true;
    }
  }
  return isPlain;
}

/// Whether the access hangs on more than which thread of a known launch it is: what wraps there is no
/// assumption.
bool isOpen(const ModelAccess& access) {
  const auto isUnknown = [](Expr n) {
    return n->op == Op::Apply ||
           (n->op == Op::Symbol && n->symbol->kind != SymbolKind::ThreadIdx &&
            n->symbol->kind != SymbolKind::BlockIdx && n->symbol->kind != SymbolKind::Object);
  };
  return anyNode(access.condition, isUnknown) || (access.offset && anyNode(access.offset, isUnknown));
}

} // namespace

const std::vector<std::string>& Decider::wrapAssumptions(const ModelAccess& access) {
  auto [entry, isNew] = assumptions.try_emplace(&access);
  std::vector<std::string>& result = entry->second;
  if (!isNew) return result;
  AccessView& view = viewOf(access, Ranges::Wrapping::Assumed);
  bool launch = false, other = false;
  std::set<std::string> sizes;
  auto look = [&](Expr n) {
    if (isGiven(n) && view.ranges.assumed().count(n)) {
      sizes.insert(n->op == Op::Apply
                       ? fmt::format("sizes in `{}` are from 0 to 2^{} - 1", n->function->name, n->width - 1)
                       : fromZero(n->symbol->name, n->width));
    }
    if (n->op != Op::Add && n->op != Op::Mul && n->op != Op::Shl && n->op != Op::Trunc) return false;
    if (n->width == 1 || !view.ranges.isExact(n) || !view.ranges.assumed().count(n)) return false;
    (isGlobalIndex(n) ? launch : other) = true;
    return false;
  };
  for (Expr e : {access.offset, access.size, access.condition})
    if (e) anyNode(e, look);
  result.insert(result.end(), sizes.begin(), sizes.end());
  if (launch) result.push_back("a launch has fewer than 2^31 threads along each axis");
  if (other)
    result.push_back("index arithmetic in line " + std::to_string(access.where.line) + " does not wrap");
  return result;
}

/// That it does not happen where nothing wraps would prove anything of it.
bool Decider::happensOnlyWrapped(const ModelAccess& access) {
  return viewOf(access, Ranges::Wrapping::Exact).isPossible &&
         !viewOf(access, Ranges::Wrapping::Assumed).isPossible;
}

bool Decider::mayAssumeNoWrap(const PairQuestion& q) {
  if (wrapAssumptions(*q.a).empty() && wrapAssumptions(*q.b).empty()) return false;
  const auto isAssumable = [&](const ModelAccess& access) {
    return wrapAssumptions(access).empty() || isOpen(access);
  };
  return isAssumable(*q.a) && isAssumable(*q.b);
}

void withdrawWhereWrapped(Verdict& verdict, const ModelAccess& access) {
  if (verdict.outcome != Verdict::Outcome::Never || !verdict.assumesNoWrap) return;
  verdict = {};
  verdict.reason = fmt::format("the index arithmetic in line {} wraps", access.where.line);
}

} // namespace kcheck::analyzer
