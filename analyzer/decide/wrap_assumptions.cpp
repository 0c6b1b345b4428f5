// What a proof rests on where arithmetic of the program may wrap, and when that may be assumed not to happen.
#include "analyzer/decide/choices.h"
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
/// assumption. A size that the kernel compares with a number is known where they are equal.
bool isOpen(const ModelAccess& access, AccessView& view) {
  const auto isUnknown = [&](Expr n) {
    const bool isOfThread = n->op == Op::Symbol && (n->symbol->kind == SymbolKind::ThreadIdx ||
                                                    n->symbol->kind == SymbolKind::BlockIdx ||
                                                    n->symbol->kind == SymbolKind::Object);
    if ((n->op != Op::Apply && n->op != Op::Symbol) || isOfThread) return false;
    const Range range = view.ranges.of(n);
    return range.lo != range.hi;
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

/// What the place is chosen by.
static std::vector<Expr> choicesOf(const ModelAccess& access) {
  std::vector<Expr> choices;
  if (access.offset)
    anyNode(access.offset, [&](Expr n) {
      const bool isChoice =
          n->op == Op::Ite && n->width > 1 && std::ranges::find(choices, n->operands[0]) == choices.end();
      if (isChoice) choices.push_back(n->operands[0]);
      return false;
    });
  return choices;
}

/// Whether its condition contradicts itself.
static bool isContradictory(ExprContext& context, AccessView& view) {
  if (!view.isPossible || isFalse(settled(context, view.ranges, view.condition))) return true;
  const Inequalities known = view.inequalities();
  const auto isNegative = [&](const Poly& p) {
    Poly below = Poly() - p;
    below.add(Monomial{}, -1);
    return known.provesNonNegative(below);
  };
  const auto isZero = [&](const Poly& p) {
    return p.valid && known.provesNonNegative(p) && known.provesNonNegative(Poly() - p);
  };
  return std::ranges::any_of(view.facts.nonNegative, isNegative) ||
         std::ranges::any_of(view.facts.nonZero, isZero);
}

/// Whether the program goes one way where arithmetic has wrapped, and another where it has not: `sum < part`.
/// The same of numbers that are read without sign and of which `sizes` says that they are sizes.
bool Decider::comesOnlyWrapped(Expr condition, Expr sizes) {
  AccessView exact(kernel, condition, nullptr, nullptr, Ranges::Wrapping::Exact);
  if (isContradictory(kernel.context, exact)) return false;
  AccessView assumed(kernel, kernel.context.logicalAnd(condition, sizes), nullptr, nullptr,
                     Ranges::Wrapping::Assumed);
  return isContradictory(kernel.context, assumed);
}

/// Whether what may wrap counts a loop's rounds: a loop that it would end is over before.
bool Decider::wrapsInRounds(const ModelAccess& access) {
  const auto countsRounds = [](Expr n) {
    return n->op == Op::Symbol && n->symbol->kind == SymbolKind::LoopCounter;
  };
  return std::ranges::any_of(viewOf(access, Ranges::Wrapping::Assumed).ranges.assumed(),
                             [&](Expr n) { return anyNode(n, countsRounds); });
}

/// That it does not happen where nothing wraps would prove anything of it. The same of a place that is chosen
/// by whether something has wrapped; that indices of the launch do not is another matter.
bool Decider::happensOnlyWrapped(const ModelAccess& access) {
  const auto [known, isNew] = onlyWrapped.try_emplace(&access, false);
  if (!isNew || wrapAssumptions(access).empty()) return known->second;
  const std::vector<Expr> choices = wrapsInRounds(access) ? std::vector<Expr>() : choicesOf(access);
  const auto isOfLaunch = [](Expr condition) {
    return condition->operands.size() == 2 && std::ranges::all_of(condition->operands, [](Expr side) {
             return isConst(side) || isGlobalIndex(side);
           });
  };
  ExprContext& c = kernel.context;
  std::set<Expr, bool (*)(Expr, Expr)> sizes([](Expr x, Expr y) { return x->id < y->id; });
  for (Expr n : viewOf(access, Ranges::Wrapping::Assumed).ranges.assumed())
    if (isGiven(n)) sizes.insert(n);
  Expr areSizes = c.boolean(true);
  for (Expr n : sizes) areSizes = c.logicalAnd(areSizes, c.binary(Op::Sle, c.constant(n->width, 0), n));
  const auto isBehindWrap = [&](Expr choice) {
    return comesOnlyWrapped(c.logicalAnd(access.condition, choice), areSizes);
  };
  known->second =
      isBehindWrap(c.boolean(true)) || std::ranges::any_of(choices, [&](Expr choice) {
        return !isOfLaunch(choice) && (isBehindWrap(choice) || isBehindWrap(c.logicalNot(choice)));
      });
  return known->second;
}

bool Decider::mayAssumeNoWrap(const PairQuestion& q) {
  if (wrapAssumptions(*q.a).empty() && wrapAssumptions(*q.b).empty()) return false;
  const auto isAssumable = [&](const ModelAccess& access) {
    return wrapAssumptions(access).empty() || isOpen(access, viewOf(access, Ranges::Wrapping::Exact));
  };
  return isAssumable(*q.a) && isAssumable(*q.b);
}

bool Decider::asksAgainst(const ModelAccess& access, Expr wanted) {
  ExprContext& c = kernel.context;
  const auto contradicts = [&](Expr condition) {
    AccessView view(kernel, condition, nullptr, nullptr, Ranges::Wrapping::Exact);
    return isContradictory(c, view);
  };
  const auto excludes = [&](Expr condition) {
    return !contradicts(condition) && contradicts(c.logicalAnd(condition, wanted));
  };
  if (excludes(access.condition)) return true;
  return std::ranges::any_of(choicesOf(access), [&](Expr choice) {
    return excludes(c.logicalAnd(access.condition, choice)) ||
           excludes(c.logicalAnd(access.condition, c.logicalNot(choice)));
  });
}

void withdrawWhereWrapped(Verdict& verdict, const ModelAccess& access) {
  if (verdict.outcome != Verdict::Outcome::Never || !verdict.assumesNoWrap) return;
  verdict = {};
  verdict.reason = fmt::format("the index arithmetic in line {} wraps", access.where.line);
}

} // namespace kcheck::analyzer
