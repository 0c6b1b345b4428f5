// How often a loop goes round: the condition for another iteration, as a function of the counter, and what
// holds of all iterations because those before went on.
#include "analyzer/model/loops/courses.h"
#include "analyzer/model/loops/loop_work.h"

#include "analyzer/expr/range.h"

#include "llvm/IR/CFG.h"

#include <algorithm>
#include <numeric>

using namespace llvm;

namespace kcheck::analyzer {

/// The condition for another iteration, with the closed forms in place: from the header's branch where that
/// alone leaves the loop, else from all edges that do.
Expr Execution::stayCondition(LoopWork& work) {
  if (!work.headerExit) {
    runBody(work, false);
    Expr leaves = exprs.boolean(false);
    SmallVector<std::pair<BasicBlock*, BasicBlock*>> list;
    work.loop->getExitEdges(list);
    for (auto& [from, to] : list) {
      auto edge = edges.find({from, to});
      if (edge == edges.end()) continue;
      Expr relative = withoutPrefix(exprs, edge->second, work.bodyEntry);
      if (!relative) return nullptr;
      leaves = exprs.logicalOr(leaves, relative);
    }
    return exprs.logicalNot(leaves);
  }
  bool wasRecording = recording;
  recording = false;
  auto storedBefore = stored;
  for (const PHINode* phi : work.phis) {
    if (work.closed.count(phi))
      env[phi] = work.closed[phi];
    else
      env[phi] = work.open.count(phi) ? work.open[phi] : exprs.of(work.inside[phi]);
  }
  runBlock(work.loop->getHeader(), work.bodyEntry);
  stored = std::move(storedBefore);
  recording = wasRecording;
  Expr taken = value(work.headerExit->getCondition());
  return work.loop->contains(work.headerExit->getSuccessor(0)) ? taken : exprs.logicalNot(taken);
}

namespace {
bool isOrdering(Op op) { return op == Op::Slt || op == Op::Sle || op == Op::Ult || op == Op::Ule; }

/// By how much a round moves e, where that is always the same.
std::optional<std::int64_t> stepOf(Expr e, Expr counter) {
  if (e == counter) return 1;
  if (!anyNode(e, [&](Expr n) { return n == counter; })) return 0;
  if (e->op == Op::ZExt || e->op == Op::SExt) // the counter is not negative
    return e->operands[0] == counter ? std::optional<std::int64_t>(1) : std::nullopt;
  if (e->op != Op::Add && (e->op != Op::Mul || !isConst(e->operands[1]))) return {};
  const auto first = stepOf(e->operands[0], counter);
  if (e->op == Op::Mul) {
    constexpr std::int64_t kMost = 1 << 20;
    const std::int64_t factor = e->operands[1]->value;
    if (!first || std::abs(factor) > kMost || std::abs(*first) > kMost) return {};
    return *first * factor;
  }
  const auto second = stepOf(e->operands[1], counter);
  if (!first || !second) return {};
  return *first + *second;
}

/// The way in steps of this size, where it is surely so many whole ones: null otherwise.
Expr stepsOf(ExprContext& exprs, Expr way, std::int64_t step) {
  constexpr std::int64_t kLongest = 1 << 20;
  if (step == 0 || std::abs(step) > kLongest) return nullptr;
  if (way->op == Op::Const)
    return way->value % step == 0 ? exprs.constant(way->width, way->value / step) : nullptr;
  if (way->op == Op::Add) {
    Expr first = stepsOf(exprs, way->operands[0], step), second = stepsOf(exprs, way->operands[1], step);
    return first && second ? exprs.add(first, second, way->flags & NoSignedWrap) : nullptr;
  }
  if (step == 1) return way;
  if (way->op == Op::SExt) {
    Expr steps = stepsOf(exprs, way->operands[0], step);
    return steps ? exprs.extend(Op::SExt, way->width, steps) : nullptr;
  }
  if (way->op != Op::Mul || !isConst(way->operands[1])) return nullptr;
  Expr factor = way->operands[0];
  const std::int64_t number = way->operands[1]->value, common = std::gcd(number, step);
  const bool isSmall = way->width == 64 && (factor->op == Op::SExt || factor->op == Op::ZExt) &&
                       factor->operands[0]->width <= 32 && std::abs(number) <= kLongest;
  if (!isSmall && !(way->flags & NoSignedWrap)) return nullptr;
  Expr steps = stepsOf(exprs, factor, std::abs(step) / common);
  if (!steps) return nullptr;
  return exprs.mul(steps, exprs.constant(way->width, step < 0 ? -number / common : number / common),
                   NoSignedWrap);
}

bool touchesMemory(const BasicBlock& block) {
  return std::any_of(block.begin(), block.end(),
                     [](const Instruction& i) { return i.mayReadOrWriteMemory(); });
}

/// From a != b, the pair; from its negation nothing.
std::optional<std::pair<Expr, Expr>> unequal(Expr e) {
  if (e->op != Op::Xor || e->width != 1 || !isConst(e->operands[1], 1) || e->operands[0]->op != Op::Eq)
    return {};
  return std::pair{e->operands[0]->operands[0], e->operands[0]->operands[1]};
}
} // namespace

/// Iterations that never come need no values.
void Execution::trimChains(LoopWork& work, std::int64_t trips) {
  Substitution never(exprs);
  for (std::int64_t j = trips + 1; j < 80; ++j)
    never.set(exprs.eq(work.k, exprs.constant(32, j)), exprs.boolean(false));
  for (auto& [phi, form] : work.closed) form = never(form);
}

/// i != n, i going up from at most n by steps that lead there: until then i < n. And the mirror image.
void Execution::takeForOrder(LoopWork& work, Expr moving, Expr bound, Expr first) {
  const auto step = stepOf(moving, work.k);
  if (!step || *step == 0) return;
  Expr start = first, end = bound, at = moving;
  if (std::abs(*step) != 1) { // counted in steps
    end = stepsOf(exprs, exprs.sub(bound, first), *step);
    if (!end) return;
    start = exprs.constant(end->width, 0);
    at = work.counterAs(exprs, end->width);
  } else if (*step < 0) {
    std::swap(start, end);
  }
  const bool isDown = *step == -1;
  Expr runsAway = exprs.binary(Op::Slt, end, start);
  // All threads alike would go round until the number wraps, further than loops are taken to run.
  const bool isLong = first->width == 64 || (isConst(first, 0) && std::abs(*step) == 1);
  work.stayIsExact = true;
  if (!isLong || variesOf(runsAway) != Varies::Never || isTrue(runsAway))
    return work.facts.push_back(exprs.logicalOr(runsAway, isDown ? exprs.binary(Op::Sle, start, at)
                                                                 : exprs.binary(Op::Sle, at, end)));
  work.assumptions.insert(kNoLongLoops);
  work.facts.push_back(isDown ? exprs.binary(Op::Sle, start, at) : exprs.binary(Op::Sle, at, end));
  work.stay = work.order = isDown ? exprs.binary(Op::Slt, start, at) : exprs.binary(Op::Slt, at, end);
}

/// Of a condition for going on that data decides, the parts that the counter alone does: `j >= first` of
/// `j >= first && a[j] > v`. They held whenever the loop went on.
void Execution::boundByParts(LoopWork& work, Expr stay) {
  Expr kept = exprs.boolean(true);
  for (Expr part : conjunctsOf(stay))
    if (!dependsOnLoop(work, part, false) && dependsOnLoop(work, part, true) &&
        heldBefore(part, work.k) != Held::Perhaps)
      kept = exprs.logicalAnd(kept, part);
  if (isTrue(kept)) return;
  work.stay = kept;
  Substitution previous(exprs);
  previous.set(work.k, exprs.add(work.k, exprs.constant(32, -1), NoSignedWrap));
  work.facts.push_back(exprs.logicalOr(exprs.eq(work.k, exprs.constant(32, 0)), previous(kept)));
}

/// Of numbers read without sign that go up one by one: past the greatest one they would be below every bound
/// again, but the loop is over before.
void Execution::keepFromZero(LoopWork& work) {
  if (work.stay->op != Op::Ult && work.stay->op != Op::Ule) return;
  Expr moving = work.stay->operands[0];
  if (stepOf(moving, work.k) != 1 || dependsOnLoop(work, work.stay->operands[1], true)) return;
  Substitution toFirst(exprs);
  toFirst.set(work.k, exprs.constant(32, 0));
  Expr first = toFirst(moving);
  if (!isNonNegative(first)) work.facts.push_back(exprs.binary(Op::Ule, first, moving));
}

void Execution::findTripCount(LoopWork& work) {
  if (stops && state.barrierLoops.count(work.loop) && !work.headerExit) return; // may stop instead of leaving
  Expr stay = stayCondition(work);
  if (!stay) return;
  if (dependsOnLoop(work, stay, false)) {
    countSteps(work, stay);
    if (!work.trips) boundByParts(work, stay);
    return;
  }
  work.stay = stay;
  work.stayIsWhole = true;
  auto valueAt = [&](Expr e, Expr count) {
    Substitution substitution(exprs);
    substitution.set(work.k, count);
    return substitution(e);
  };
  auto at = [&](Expr count) { return valueAt(stay, count); };
  if (dependsOnLoop(work, stay, true)) {
    for (std::int64_t j = 0; j < 2048; ++j) {
      Expr now = at(exprs.constant(32, j));
      if (!isConst(now)) break;
      if (!isFalse(now)) continue;
      work.trips = j;
      trimChains(work, j);
      work.counter->hi = std::min<Int>(work.counter->hi, j);
      work.stayIsExact = true;
      return;
    }
  } else if (isTrue(stay)) {
    return; // left by something else, or never
  }
  Expr isFirst = exprs.eq(work.k, exprs.constant(32, 0));
  Expr previous = exprs.add(work.k, exprs.constant(32, -1), NoSignedWrap);
  const Held held = heldBefore(stay, work.k);
  work.stayIsExact = held != Held::Perhaps;
  if (held == Held::SinceFirst) work.facts.push_back(exprs.logicalOr(isFirst, at(exprs.constant(32, 0))));
  keepFromZero(work);
  if (auto sides = unequal(stay);
      sides && sides->first->width >= 32 && !state.objects.isPointer(sides->first)) {
    // i != n, i going up from at most n by steps that lead there: until then i < n. And the mirror image.
    Expr moving = sides->first, bound = sides->second;
    if (!dependsOnLoop(work, moving, true)) std::swap(moving, bound);
    if (!dependsOnLoop(work, bound, true))
      takeForOrder(work, moving, bound, valueAt(moving, exprs.constant(32, 0)));
  }
  if (!work.stayIsExact)
    work.facts.push_back(exprs.logicalOr(isFirst, exprs.logicalAnd(at(exprs.constant(32, 0)), at(previous))));
  else if (!work.headerExit || touchesMemory(*work.loop->getHeader())) {
    // What comes before the loop's test is there because the round before went on.
    const auto known = conjunctsOf(work.entry), before = conjunctsOf(at(exprs.constant(32, -1)));
    const bool fromStart = std::all_of(before.begin(), before.end(), [&](Expr part) {
      return isTrue(part) || std::find(known.begin(), known.end(), part) != known.end();
    });
    work.facts.push_back(fromStart ? at(previous) : exprs.logicalOr(isFirst, at(previous)));
  }
}

/// Whether nothing on the way from the counter to `e` wraps, by its flags.
static bool keepsCount(Expr e, Expr counter, std::uint8_t flag) {
  return !anyNode(e, [&](Expr n) {
    return (n->op == Op::Add || n->op == Op::Mul) && !(n->flags & flag) &&
           anyNode(n, [&](Expr part) { return part == counter; });
  });
}

/// The last iteration of a loop that counts up to a bound: as many as lie between, or none. In as many bits
/// as the loop counts in.
Expr Execution::lastIteration(const LoopWork& work) {
  if (!work.stay || !work.stayIsExact || !isOrdering(work.stay->op)) return nullptr;
  Expr moving = work.stay->operands[0], bound = work.stay->operands[1];
  const auto step = stepOf(moving, work.k);
  const unsigned width = moving->width;
  if ((width != 32 && width != 64) || !step || *step < 1 || dependsOnLoop(work, bound, true)) return nullptr;
  const bool isSigned = work.stay->op == Op::Slt || work.stay->op == Op::Sle;
  if (*step > 1 && !keepsCount(moving, work.k, isSigned ? NoSignedWrap : NoUnsignedWrap)) return nullptr;
  Substitution toFirst(exprs);
  toFirst.set(work.k, exprs.constant(32, 0));
  Expr first = toFirst(moving), zero = exprs.constant(width, 0);
  const std::uint8_t flags = isNonNegative(first) && isNonNegative(bound) ? NoSignedWrap : NoFlags;
  Expr between = exprs.sub(bound, first, flags);
  const bool isClosed = work.stay->op == Op::Sle || work.stay->op == Op::Ule;
  if (*step > 1) {
    if (!isClosed) between = exprs.add(between, exprs.constant(width, -1), flags);
    between = exprs.binary(Op::UDiv, between, exprs.constant(width, *step));
  }
  if (*step > 1 || isClosed) between = exprs.add(between, exprs.constant(width, 1), flags);
  return exprs.ite(toFirst(work.stay), between, zero);
}

/// After how many rounds the condition may begin anew: `k % 8 != 7`, `(k & 7) != 7`. 1: nothing says so.
static std::int64_t periodOf(Expr condition) {
  constexpr std::int64_t kLongest = 16;
  std::int64_t period = 1;
  anyNode(condition, [&](Expr n) {
    if (n->operands.size() != 2 || !isConst(n->operands[1])) return false;
    const std::int64_t number = n->operands[1]->value;
    const bool isMask = n->op == Op::And && n->width > 1 && isPowerOf2_64(std::uint64_t(number) + 1);
    const std::int64_t rounds = isMask ? number + 1 : n->op == Op::URem || n->op == Op::SRem ? number : 0;
    if (rounds > 1 && rounds <= kLongest) period = std::max(period, rounds);
    return false;
  });
  return period;
}

/// In a run that stops at barriers, a loop around one comes round only past all of them: what that takes held
/// in every iteration before. Returns whether it is possible at all.
bool Execution::comesRoundPastBarriers(LoopWork& work) {
  runBody(work, false);
  Expr round = exprs.boolean(false);
  for (const BasicBlock* from : predecessors(work.loop->getHeader()))
    if (auto edge = edges.find({from, work.loop->getHeader()});
        work.loop->contains(from) && edge != edges.end())
      round = exprs.logicalOr(round, edge->second);
  Expr relative = whereHolds(exprs, round, work.bodyEntry);
  work.pastIsExact = false;
  if (dependsOnLoop(work, relative, false)) return true;
  Expr zero = exprs.constant(32, 0);
  Substitution toFirst(exprs);
  toFirst.set(work.k, zero);
  Expr first = toFirst(relative);
  Ranges ranges(Ranges::Wrapping::Exact);
  if (isFalse(first) || !ranges.assume(exprs.logicalAnd(work.entry, first))) return false;
  work.past = relative;
  work.pastIsExact = heldBefore(relative, work.k) != Held::Perhaps;
  const std::int64_t rounds = work.pastIsExact ? 1 : periodOf(relative);
  for (std::int64_t ago = 1; ago <= rounds; ++ago) {
    Substitution before(exprs);
    before.set(work.k, exprs.add(work.k, exprs.constant(32, -ago), NoSignedWrap));
    Expr held = ago == 1 ? exprs.logicalAnd(first, before(relative)) : before(relative);
    Expr isEarlier =
        ago == 1 ? exprs.eq(work.k, zero) : exprs.binary(Op::Slt, work.k, exprs.constant(32, ago));
    work.facts.push_back(exprs.logicalOr(isEarlier, held));
  }
  return true;
}

} // namespace kcheck::analyzer
