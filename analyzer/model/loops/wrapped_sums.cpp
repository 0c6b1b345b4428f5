// More closed forms of loop values: sums that wrap around (`j = (j + step) & 63`, `% n`), sums whose step
// grows evenly itself (`i += d; d += 64`), and whatever else a few rounds with barriers do, step by step.
#include "analyzer/expr/range.h"
#include "analyzer/model/loops/loop_work.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {

/// (header + step) & mask, or % n, of rounds that do not run over: the remainder of the whole sum.
Expr Execution::wrappedSum(LoopWork& work, const PHINode* phi, Expr header, Expr latch) {
  const bool isMasked = latch->op == Op::And && isConst(latch->operands[1]) &&
                        latch->operands[1]->value > 0 &&
                        (latch->operands[1]->value & (latch->operands[1]->value + 1)) == 0;
  const bool isRest = (latch->op == Op::SRem || latch->op == Op::URem) && header->width == 32;
  if ((!isMasked && !isRest) || header->width < 8) return nullptr;
  Expr start = work.start[phi], divisor = latch->operands[1];
  Sum sum = summands(latch->operands[0], header);
  if (sum.headers != 1 || sum.terms.empty() || dependsOnLoop(work, divisor, true)) return nullptr;
  Expr step = exprs.constant(header->width, 0);
  for (Expr term : sum.terms) {
    if (dependsOnLoop(work, term, true)) return nullptr;
    step = exprs.add(step, term, sum.noSignedWrap ? NoSignedWrap : NoFlags);
  }
  Ranges ranges;
  const Range first = ranges.of(start);
  Expr value = nullptr;
  if (isMasked) { // what wraps in the sum lies above the mask
    value = exprs.binary(Op::And, exprs.add(start, exprs.mul(work.counterAs(exprs, header->width), step)),
                         divisor);
  } else {
    const Range added = ranges.of(step);
    if (first.lo < 0 || added.lo < 0) return nullptr;
    const Int most = (Int(1) << 32) - 1;
    const bool fits = latch->op == Op::SRem ? sum.noSignedWrap
                                            : isConst(divisor) && divisor->value > 0 &&
                                                  std::max<Int>(first.hi, divisor->value) + added.hi <= most;
    if (!fits) return nullptr;
    Expr way = exprs.mul(exprs.extend(Op::ZExt, 64, work.k), exprs.extend(Op::SExt, 64, step), NoSignedWrap);
    Expr whole = exprs.add(exprs.extend(Op::SExt, 64, start), way, NoSignedWrap);
    value = exprs.extend(Op::Trunc, 32, exprs.binary(Op::SRem, whole, exprs.extend(Op::SExt, 64, divisor)),
                         NoSignedWrap);
  }
  const Int end = !isConst(divisor) ? 0 : isMasked ? Int(divisor->value) + 1 : Int(divisor->value);
  if (first.lo >= 0 && first.hi < end) return value;
  return exprs.ite(exprs.eq(work.k, exprs.constant(32, 0)), start, value);
}

namespace {
/// fixed + perRound * k; where `noWrap`, without running over.
struct Counted {
  Expr fixed, perRound;
  bool noWrap = true;
};
} // namespace

/// `e` as what is the same in all rounds and what each adds; nothing where it is not such a sum.
static std::optional<Counted> countedBy(ExprContext& c, Expr e, Expr k,
                                        const std::function<bool(Expr)>& isFixed) {
  Expr none = c.constant(e->width, 0);
  if (isFixed(e)) return Counted{e, none};
  if (e == k) return Counted{none, c.constant(e->width, 1)};
  const bool noWrap = (e->flags & NoSignedWrap) != 0;
  if (e->op == Op::Add) {
    Counted result{none, none, noWrap};
    for (Expr operand : e->operands) {
      auto part = countedBy(c, operand, k, isFixed);
      if (!part) return {};
      result.noWrap = result.noWrap && part->noWrap;
      result.fixed = c.add(result.fixed, part->fixed);
      result.perRound = c.add(result.perRound, part->perRound);
    }
    return result;
  }
  if (e->op == Op::Mul && isFixed(e->operands[1])) {
    auto part = countedBy(c, e->operands[0], k, isFixed);
    if (!part) return {};
    return Counted{c.mul(part->fixed, e->operands[1]), c.mul(part->perRound, e->operands[1]),
                   part->noWrap && noWrap};
  }
  if (e->op == Op::SExt) {
    auto part = countedBy(c, e->operands[0], k, isFixed);
    if (!part || !part->noWrap || !isConst(part->fixed) || !isConst(part->perRound)) return {};
    return Counted{c.extend(Op::SExt, e->width, part->fixed), c.extend(Op::SExt, e->width, part->perRound)};
  }
  return {};
}

/// The start, what is added in every round, and what the rounds before have added to that: per * k * (k - 1)
/// / 2.
Expr Execution::growingSum(LoopWork& work, const PHINode* phi, Expr header, Expr latch) {
  if (header->width != 32 && header->width != 64) return nullptr;
  Sum sum = summands(latch, header);
  if (sum.headers != 1) return nullptr;
  const unsigned width = header->width;
  bool noWrap = sum.noSignedWrap;
  Expr fixed = exprs.constant(width, 0), perRound = fixed;
  for (Expr term : sum.terms) {
    auto part = countedBy(exprs, term, work.k, [&](Expr e) { return !dependsOnLoop(work, e, true); });
    if (!part) return nullptr;
    fixed = exprs.add(fixed, part->fixed);
    perRound = exprs.add(perRound, part->perRound);
    noWrap = noWrap && part->noWrap;
  }
  // Of constants alone it is plain that no product below runs over where the steps do not.
  noWrap = noWrap && isConst(fixed) && isConst(perRound);
  Expr k = exprs.extend(Op::ZExt, 64, work.k), before = exprs.add(k, exprs.constant(64, -1), NoSignedWrap);
  Expr pairs = exprs.binary(Op::UDiv, exprs.mul(k, before, NoSignedWrap), exprs.constant(64, 2));
  Expr start = work.start[phi];
  const std::uint8_t flags = noWrap ? NoSignedWrap : NoFlags;
  if (width == 32 && noWrap) {
    fixed = exprs.extend(Op::SExt, 64, fixed);
    perRound = exprs.extend(Op::SExt, 64, perRound);
    start = exprs.extend(Op::SExt, 64, start);
    work.isCounted = work.isCounted || !isConst(perRound, 0);
  } else if (width == 32) {
    k = work.k;
    pairs = exprs.extend(Op::Trunc, 32, pairs);
  }
  Expr added = exprs.add(exprs.mul(k, fixed, flags), exprs.mul(pairs, perRound, flags), flags);
  Expr value = exprs.add(start, added, flags);
  return value->width == width ? value : exprs.extend(Op::Trunc, width, value, NoSignedWrap);
}

/// Loops with barriers are not run one by one: their values are written out for each round.
void Execution::stepThrough(LoopWork& work) {
  constexpr std::int64_t kMostTrips = 16;
  constexpr std::size_t kMostNodes = 24;
  if (!work.trips || *work.trips > kMostTrips || !state.barrierLoops.count(work.loop)) return;
  for (const PHINode* phi : work.phis) {
    if (work.closed.count(phi) || !work.latch.count(phi) || !phi->getType()->isIntegerTy()) continue;
    Expr header = exprs.of(work.inside[phi]), latch = work.latch[phi];
    std::size_t nodes = 0;
    if (anyNode(latch, [&](Expr) { return ++nodes > kMostNodes; })) continue;
    if (dependsOnLoop(work, latch, false, {work.inside[phi]})) continue;
    std::vector<Expr> values{work.start[phi]};
    for (std::int64_t round = 0; round < *work.trips; ++round) {
      Substitution now(exprs);
      now.set(header, values.back());
      now.set(work.k, exprs.constant(32, round));
      values.push_back(now(latch));
    }
    work.closed[phi] = chained(work, values, values.size() - 1);
  }
}

} // namespace kcheck::analyzer
