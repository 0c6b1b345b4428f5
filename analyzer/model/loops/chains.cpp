// Header values that an iteration computes from one another alone, in closed form: chains that reach a fixed
// value or come round (halving, doubling, toggles, exchanged buffers), or that the end of the loop stops.
#include "analyzer/model/loops/loop_work.h"
#include "analyzer/model/loops/periods.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {

/// The nodes of `e`, counted no further than one beyond the limit.
static std::size_t sizeUpTo(Expr e, std::size_t limit) {
  std::size_t count = 0;
  anyNode(e, [&](Expr) { return ++count > limit; });
  return count;
}

/// values[i] in iteration i, going on from values[cycleFrom] when they are used up.
Expr Execution::chained(LoopWork& work, const std::vector<Expr>& values, std::size_t cycleFrom) {
  std::size_t period = values.size() - cycleFrom;
  Expr index = work.k;
  Expr result = values.back();
  if (period == 1) {
    for (std::size_t i = values.size() - 1; i-- > 0;)
      result = exprs.ite(exprs.eq(index, exprs.constant(32, std::int64_t(i))), values[i], result);
    return result;
  }
  Expr shifted = exprs.add(index, exprs.constant(32, -std::int64_t(cycleFrom)));
  Expr phase = (period & (period - 1)) == 0
                   ? exprs.binary(Op::And, shifted, exprs.constant(32, std::int64_t(period) - 1))
                   : exprs.binary(Op::URem, shifted, exprs.constant(32, std::int64_t(period)));
  for (std::size_t i = period - 1; i-- > 0;)
    result = exprs.ite(exprs.eq(phase, exprs.constant(32, std::int64_t(i))), values[cycleFrom + i], result);
  for (std::size_t i = cycleFrom; i-- > 0;)
    result = exprs.ite(exprs.eq(index, exprs.constant(32, std::int64_t(i))), values[i], result);
  return result;
}

/// A value that an iteration computes from nothing but itself and what the loop leaves alone.
Expr Execution::orbit(LoopWork& work, Expr header, Expr startValue, Expr latch) {
  if (sizeUpTo(latch, 24) > 24) return nullptr;
  std::vector<Expr> values{startValue};
  bool halves = (latch->op == Op::SDiv || latch->op == Op::UDiv || latch->op == Op::LShr) &&
                latch->operands[0] == header && isConst(latch->operands[1]) &&
                latch->operands[1]->value >= (latch->op == Op::LShr ? 1 : 2);
  std::size_t limit = isConst(startValue) ? 72 : 40;
  while (values.size() < limit) {
    Substitution step(exprs);
    step.set(header, values.back());
    Expr next = step(latch);
    if (halves && values.size() == header->width) next = exprs.constant(header->width, 0);
    auto seen = std::find(values.begin(), values.end(), next);
    if (seen != values.end()) return chained(work, values, std::size_t(seen - values.begin()));
    if (dependsOnLoop(work, next, true) || (!isConst(next) && sizeUpTo(next, 64) > 64)) return nullptr;
    values.push_back(next);
  }
  return nullptr;
}

/// A value that an iteration computes from itself and from which of a few places in turn it is at (the phase
/// of a ring of stages).
Expr Execution::comingAgain(LoopWork& work, const PHINode* phi, Expr header, Expr latch) {
  constexpr std::int64_t kMostPeriod = 16;
  constexpr std::size_t kMostValues = 72;
  if (sizeUpTo(latch, 64) > 64 || dependsOnLoop(work, latch, false, {work.inside[phi]})) return nullptr;
  std::int64_t period = 2;
  while (period <= kMostPeriod && !comesAgain(latch, work.k, period)) ++period;
  if (period > kMostPeriod) return nullptr;
  const auto turn = std::size_t(period);
  std::vector<Expr> values{work.start[phi]};
  while (values.size() <= kMostValues) {
    for (std::size_t at = 0; at < turn; ++at) {
      Substitution step(exprs);
      step.set(header, values.back());
      step.set(work.k, exprs.constant(32, std::int64_t(at)));
      values.push_back(step(latch));
      if (sizeUpTo(values.back(), 24) > 24) return nullptr;
    }
    for (std::size_t before = 0; before + turn < values.size(); before += turn) {
      if (values[before] != values.back()) continue;
      values.pop_back();
      return chained(work, values, before);
    }
  }
  return nullptr;
}

/// Values that an iteration computes from one another alone (exchanged buffers, rotating stages).
void Execution::closeTogether(LoopWork& work) {
  std::vector<const PHINode*> group;
  for (const PHINode* phi : work.phis)
    if (!work.closed.count(phi) && work.latch.count(phi) && sizeUpTo(work.latch[phi], 24) <= 24)
      group.push_back(phi);
  for (bool changed = true; changed && !group.empty();) {
    std::set<const Symbol*> own;
    for (const PHINode* phi : group) own.insert(work.inside[phi]);
    auto end = std::remove_if(group.begin(), group.end(), [&](const PHINode* phi) {
      return dependsOnLoop(work, work.latch[phi], true, own);
    });
    changed = end != group.end();
    group.erase(end, group.end());
  }
  if (group.size() < 2) return;
  std::vector<std::vector<Expr>> rounds(1);
  for (const PHINode* phi : group) rounds[0].push_back(work.start[phi]);
  while (rounds.size() < 9) {
    Substitution step(exprs);
    for (std::size_t i = 0; i < group.size(); ++i)
      step.set(exprs.of(work.inside[group[i]]), rounds.back()[i]);
    std::vector<Expr> next;
    for (const PHINode* phi : group) next.push_back(step(work.latch[phi]));
    auto seen = std::find(rounds.begin(), rounds.end(), next);
    if (seen == rounds.end()) {
      rounds.push_back(next);
      continue;
    }
    for (std::size_t i = 0; i < group.size(); ++i) {
      std::vector<Expr> values;
      for (auto& round : rounds) values.push_back(round[i]);
      work.closed[group[i]] = chained(work, values, std::size_t(seen - rounds.begin()));
    }
    return;
  }
}

/// Values that never settle, but that the loop's end stops: stepped through from constants until the
/// condition for another round fails.
void Execution::countSteps(LoopWork& work, Expr stay) {
  constexpr std::int64_t kMostTrips = 2048, kLongestChain = 72;
  std::map<const PHINode*, std::vector<Expr>> values;
  for (const PHINode* phi : work.phis)
    if (!work.closed.count(phi) && work.latch.count(phi) && isConst(work.start[phi]) &&
        sizeUpTo(work.latch[phi], 24) <= 24)
      values[phi].push_back(work.start[phi]);
  for (std::int64_t j = 0; j < kMostTrips && !values.empty(); ++j) {
    Substitution now(exprs);
    now.set(work.k, exprs.constant(32, j));
    for (auto& [phi, chain] : values) now.set(exprs.of(work.inside[phi]), chain.back());
    Expr goesOn = now(stay);
    if (!isConst(goesOn)) return;
    if (isFalse(goesOn)) {
      work.trips = j;
      work.counter->hi = std::min<Int>(work.counter->hi, j);
      work.stayIsExact = true;
      for (auto& [phi, chain] : values)
        if (j <= kLongestChain) work.closed[phi] = chained(work, chain, chain.size() - 1);
      return trimChains(work, j);
    }
    for (auto it = values.begin(); it != values.end();) {
      Expr next = now(work.latch[it->first]);
      if (isConst(next)) it->second.push_back(next);
      it = isConst(next) ? std::next(it) : values.erase(it);
    }
  }
}

} // namespace kcheck::analyzer
