// Closed forms: header values of a loop as functions of its iteration counter. Sums, chains that reach a
// fixed value or come round (halving, doubling, toggles, exchanged buffers), values of the iteration before,
// and all of these under a guard that once false stays false.
#include "analyzer/model/loop_work.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {

bool Execution::dependsOnLoop(const LoopWork& work, Expr e, bool counterToo,
                              const std::set<const Symbol*>& except) const {
  return anyNode(e, [&](Expr n) {
    if (n->op != Op::Symbol || (!counterToo && n->symbol == work.counter) || except.count(n->symbol))
      return false;
    auto home = state.homes.find(n->symbol);
    return home != state.homes.end() && home->second.second.sameLayer(id) && home->second.first &&
           work.loop->contains(home->second.first);
  });
}

Sum summands(Expr e, Expr header) {
  Sum sum;
  std::vector<Expr> todo{e};
  while (!todo.empty()) {
    Expr x = todo.back();
    todo.pop_back();
    if (x == header)
      ++sum.headers;
    else if (x->op == Op::Add) {
      sum.noSignedWrap = sum.noSignedWrap && (x->flags & NoSignedWrap);
      todo.insert(todo.end(), x->operands.begin(), x->operands.end());
    } else
      sum.terms.push_back(x);
  }
  return sum;
}

bool isBoundedAbove(const Loop& loop, const BranchInst& exit, const PHINode* counter) {
  auto* compare = cast<ICmpInst>(exit.getCondition());
  const bool isFirst = compare->getOperand(0) == counter;
  if (!compare->isRelational() || isFirst == (compare->getOperand(1) == counter)) return false;
  CmpInst::Predicate goesOn =
      loop.contains(exit.getSuccessor(0)) ? compare->getPredicate() : compare->getInversePredicate();
  if (!isFirst) goesOn = CmpInst::getSwappedPredicate(goesOn);
  return ICmpInst::isLT(goesOn) || ICmpInst::isLE(goesOn);
}

namespace {

bool fitsIn32(Expr e) {
  if (isConst(e)) return e->value >= -(std::int64_t(1) << 31) && e->value < (std::int64_t(1) << 31);
  if (e->op == Op::SExt || e->op == Op::ZExt)
    return e->operands[0]->width < 32 || (e->op == Op::SExt && e->operands[0]->width == 32);
  if (e->op == Op::Mul && isConst(e->operands[1]) &&
      (e->operands[0]->op == Op::SExt || e->operands[0]->op == Op::ZExt))
    return e->operands[0]->operands[0]->width <= 32 && e->operands[1]->value > -(1 << 16) &&
           e->operands[1]->value < (1 << 16);
  return false;
}

std::size_t sizeUpTo(Expr e, std::size_t limit) {
  std::size_t count = 0;
  anyNode(e, [&](Expr) { return ++count > limit; });
  return count;
}

} // namespace

/// start + k * step, with the flags that follow from the additions of the loop not overflowing.
Expr Execution::additiveForm(LoopWork& work, const PHINode* phi, Expr startValue, Expr step, bool noWrap) {
  unsigned width = startValue->width;
  Expr count = work.counterAs(exprs, width);
  if (width == 64) {
    std::uint8_t flags = fitsIn32(step) ? NoSignedWrap : NoFlags;
    return exprs.add(startValue, exprs.mul(count, step, flags), noWrap ? NoSignedWrap : NoFlags);
  }
  if (width < 32 || !noWrap) {
    // An order in the exit condition bounds the value: that it does not run past the end of the type is then
    // either plain or an assumption with a name. Narrow counters do wrap around in practice.
    bool upward = isNonNegative(step);
    if (width == 32 && upward && work.headerExit && isa<ICmpInst>(work.headerExit->getCondition())) {
      auto* compare = cast<ICmpInst>(work.headerExit->getCondition());
      if (isBoundedAbove(*work.loop, *work.headerExit, phi)) {
        const Value* bound = compare->getOperand(compare->getOperand(0) == phi ? 1 : 0);
        Expr limit = value(bound);
        bool plain = !compare->isSigned() && !dependsOnLoop(work, limit, true) && isNonNegative(limit);
        Int most = (Int(1) << 31) - 1;
        if (isConst(limit) && isConst(step) && (compare->isSigned() || limit->value >= 0))
          plain = plain || Int(limit->value) + step->value <= most;
        if (!plain)
          work.assumptions.insert("the loop counter at " + state.lineText(*work.headerExit) +
                                  " does not overflow");
        std::uint8_t flags = NoUnsignedWrap;
        if (compare->isSigned() && isNonNegative(startValue)) flags |= NoSignedWrap;
        return exprs.add(startValue, exprs.mul(count, step, flags), flags);
      }
    }
    return exprs.add(startValue, exprs.mul(count, step));
  }
  bool sameSign = isNonNegative(startValue) && isNonNegative(step);
  bool unit = isConst(step, 1) || isConst(step, -1);
  if (isConst(step) && step->value != 0 && (isNonNegative(startValue) || !isConst(step, 1)))
    work.isCounted = true;
  if (sameSign || unit) return exprs.add(startValue, exprs.mul(count, step, NoSignedWrap), NoSignedWrap);
  Expr wide = exprs.mul(exprs.extend(Op::ZExt, 64, work.k), exprs.extend(Op::SExt, 64, step), NoSignedWrap);
  wide = exprs.add(exprs.extend(Op::SExt, 64, startValue), wide, NoSignedWrap);
  return exprs.extend(Op::Trunc, width, wide, NoSignedWrap);
}

/// The same with what inner loops left, where they only count: as often as they ran, whatever the round.
Expr Execution::countedOut(Expr e) {
  Substitution counts(exprs);
  anyNode(e, [&](Expr n) {
    if (n->op != Op::Symbol) return false;
    auto last = state.lastIterations.find(n->symbol);
    if (last != state.lastIterations.end()) counts.set(n, last->second);
    return false;
  });
  return counts(e);
}

Expr Execution::additive(LoopWork& work, const PHINode* phi, Expr header, Expr latch) {
  if (header->width < 8) return nullptr;
  Expr startValue = work.start[phi];
  // An inner loop may have carried a number on in 64 bits, which fits where it has arrived.
  const bool isWide = header->width == 32 && latch->op == Op::Trunc && (latch->flags & NoSignedWrap) &&
                      latch->operands[0]->width == 64;
  if (isWide) header = exprs.extend(Op::SExt, 64, header), latch = latch->operands[0];
  Sum sum = summands(latch, header);
  if (sum.headers != 1 || (isWide && !sum.noSignedWrap)) return nullptr;
  Expr step = exprs.constant(header->width, 0);
  for (Expr term : sum.terms) {
    term = countedOut(term);
    if (dependsOnLoop(work, term, true)) return nullptr;
    step = exprs.add(step, term, sum.noSignedWrap ? NoSignedWrap : NoFlags);
  }
  if (!isWide) return additiveForm(work, phi, startValue, step, sum.noSignedWrap);
  Expr way = exprs.mul(work.counterAs(exprs, 64), step, NoSignedWrap);
  Expr wide = exprs.add(exprs.extend(Op::SExt, 64, startValue), way, NoSignedWrap);
  return exprs.extend(Op::Trunc, 32, wide, NoSignedWrap);
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

/// if (g) { a >>= 1; b <<= 1; }: with a guard over the guarded values alone, the number of effective rounds m
/// is the iteration or, from the first round on whose guard is false, that round.
void Execution::closeGuarded(LoopWork& work) {
  struct Guarded {
    const PHINode* phi;
    Expr form;
  };
  std::map<Expr, std::vector<Guarded>> groups;
  for (const PHINode* phi : work.phis) {
    if (work.closed.count(phi) || !work.latch.count(phi) || work.latch[phi]->op != Op::Ite) continue;
    Expr latch = work.latch[phi], header = exprs.of(work.inside[phi]);
    Expr guard = latch->operands[0], changed = latch->operands[1];
    if (latch->operands[1] == header) {
      guard = exprs.logicalNot(guard);
      changed = latch->operands[2];
    } else if (latch->operands[2] != header)
      continue;
    Expr form = additive(work, phi, header, changed);
    if (!form && !dependsOnLoop(work, changed, true, {work.inside[phi]}))
      form = orbit(work, header, work.start[phi], changed);
    if (form) groups[guard].push_back({phi, form});
  }
  for (auto& [guard, members] : groups) {
    std::string line = state.lineText(*work.loop->getHeader()->getTerminator());
    Symbol* rounds = local(*members[0].phi, "rounds", "effective rounds (" + line + ")", 32);
    rounds->lo = 0;
    Expr m = exprs.of(rounds);
    Substitution atM(exprs), before(exprs), toM(exprs), toPrevious(exprs);
    toM.set(work.k, m);
    toPrevious.set(work.k, exprs.add(m, exprs.constant(32, -1), NoSignedWrap));
    for (auto& member : members) {
      atM.set(exprs.of(work.inside[member.phi]), toM(member.form));
      before.set(exprs.of(work.inside[member.phi]), toPrevious(member.form));
    }
    std::set<const Symbol*> own;
    for (auto& member : members) own.insert(work.inside[member.phi]);
    if (dependsOnLoop(work, guard, true, own)) continue; // the guard may become true again
    rounds->exact = true;
    Symbol* after = state.symbols.get(members[0].phi, "rounds after", id,
                                      "effective rounds in all (" + line + ")", 32, SymbolKind::LoopCounter);
    after->lo = 0;
    rounds->isOutcome = after->isOutcome = true;
    state.homes[after] = {work.loop->getParentLoop(), id};
    work.guards.push_back({rounds, after, guard});
    for (auto& member : members) work.closed[member.phi] = toM(member.form);
    work.facts.push_back(exprs.binary(Op::Ule, m, work.k));
    work.facts.push_back(exprs.logicalOr(exprs.eq(m, work.k), exprs.logicalNot(atM(guard))));
    work.facts.push_back(exprs.logicalOr(exprs.eq(m, exprs.constant(32, 0)), before(guard)));
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

/// The condition under which `latch` is one more than `header`; null where it may be anything else.
static Expr addsOne(ExprContext& c, Expr latch, Expr header) {
  if (latch->op == Op::Ite) {
    Expr then = addsOne(c, latch->operands[1], header), otherwise = addsOne(c, latch->operands[2], header);
    return then && otherwise ? c.ite(latch->operands[0], then, otherwise) : nullptr;
  }
  Expr step = c.sub(latch, header);
  if (step->op == Op::ZExt && step->operands[0]->width == 1) return step->operands[0];
  if (step->op == Op::Ite && isConst(step->operands[1]) && isConst(step->operands[2]))
    return addsOne(c, step, c.constant(step->width, 0));
  return isConst(step, 0) || isConst(step, 1) ? c.boolean(step->value != 0) : nullptr;
}

/// Values that each round counts up by one or leaves alone, as what is alike for all threads says.
void Execution::noteTallies(const LoopWork& work) {
  if (!work.headerExit || !work.stayIsExact) return;
  for (const PHINode* phi : work.phis) {
    const auto header = work.open.find(phi), latch = work.latch.find(phi);
    if (header == work.open.end() || latch == work.latch.end() || !phi->getType()->isIntegerTy(32)) continue;
    Expr holds = addsOne(exprs, latch->second, header->second);
    if (!holds || dependsOnLoop(work, holds, false)) continue;
    state.model.tallies[work.after.at(phi)] = {
        holds, work.k, work.trips ? exprs.constant(32, *work.trips) : exprs.of(work.exitCounter)};
  }
}

void Execution::closeForms(LoopWork& work) {
  for (const PHINode* phi : work.phis) {
    if (work.closed.count(phi) || !work.latch.count(phi) || phi->getType()->isFloatingPointTy()) continue;
    Expr header = exprs.of(work.inside[phi]), startValue = work.start[phi], latch = work.latch[phi];
    if (latch == header) {
      work.closed[phi] = startValue;
      continue;
    }
    if (Expr form = additive(work, phi, header, latch)) {
      work.closed[phi] = form;
      continue;
    }
    bool usesItself = anyNode(latch, [&](Expr n) { return n == header; });
    if (!usesItself && !dependsOnLoop(work, latch, false)) {
      // What the iteration before left here.
      Substitution previous(exprs);
      previous.set(work.k, exprs.add(work.k, exprs.constant(32, -1), NoSignedWrap));
      work.closed[phi] = exprs.ite(exprs.eq(work.k, exprs.constant(32, 0)), startValue, previous(latch));
    } else if (usesItself && !dependsOnLoop(work, latch, true, {work.inside[phi]})) {
      Expr form = wrappedSum(work, phi, header, latch);
      if (!form) form = product(work, phi, header, latch);
      if (!form) form = orbit(work, header, startValue, latch);
      if (form) work.closed[phi] = form;
    } else if (usesItself) {
      if (Expr form = growingSum(work, phi, header, latch)) work.closed[phi] = form;
    }
  }
  closeTogether(work);
  closeGuarded(work);
}

} // namespace kcheck::analyzer
