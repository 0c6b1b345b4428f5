#include "analyzer/decide/usual_sizes.h"

#include "analyzer/decide/pitches.h"
#include "analyzer/expr/evaluate.h"
#include "analyzer/expr/range.h"
#include "report/assumptions.h"

#include <algorithm>
#include <map>
#include <set>

namespace kcheck::analyzer {
namespace {

/// Integer parameters that are negative in a witness.
std::vector<Expr> negativeParameters(const Verdict& verdict) {
  std::vector<Expr> result;
  for (Expr constraint : verdict.constraints)
    anyNode(constraint, [&](Expr n) {
      if (n->op == Op::Symbol && n->symbol->kind == SymbolKind::Parameter && n->width >= 32 &&
          n->symbol->lo < 0 && signExtend(verdict.values.of(n->symbol), n->width) < 0 &&
          std::find(result.begin(), result.end(), n) == result.end())
        result.push_back(n);
      return false;
    });
  std::sort(result.begin(), result.end(), [](Expr x, Expr y) { return x->id < y->id; });
  return result;
}

bool isOrder(Expr n) { return n->op == Op::Slt || n->op == Op::Sle || n->op == Op::Ult || n->op == Op::Ule; }

/// Numbers beyond which threads stay away (`x < width`): the launch may be wider then.
std::vector<Expr> guardsOf(std::initializer_list<const ModelAccess*> accesses) {
  std::vector<Expr> result;
  const auto note = [&](Expr n) {
    if (isNumber(n) && std::ranges::find(result, n) == result.end()) result.push_back(n);
    return false;
  };
  for (const ModelAccess* access : accesses)
    anyNode(access->condition, [&](Expr n) {
      if (isOrder(n) && anyNode(n, isIndex)) anyNode(n, note);
      return false;
    });
  return result;
}

/// Those of them that keep the threads within rows and columns of the place itself.
std::vector<Expr> guardsWithin(Expr place, std::initializer_list<const ModelAccess*> accesses) {
  std::vector<Expr> result;
  const auto isIn = [&](Expr index) { return anyNode(place, [&](Expr n) { return n == index; }); };
  for (const ModelAccess* access : accesses)
    anyNode(access->condition, [&](Expr n) {
      if (!isOrder(n) || !anyNode(n, isIndex) || anyNode(n, [&](Expr e) { return isIndex(e) && !isIn(e); }))
        return false;
      anyNode(n, [&](Expr e) {
        if (isNumber(e) && std::ranges::find(result, e) == result.end()) result.push_back(e);
        return false;
      });
      return false;
    });
  return result;
}

/// How many threads there are along axes: along the one that has most, where that is known, else along each;
/// none where all axes are one wide, or follow the program.
std::vector<Expr> widthsOf(ExprContext& context, const KernelModel& model) {
  std::vector<Expr> widths;
  std::uint64_t most = 1;
  for (unsigned axis = 0; axis < 3; ++axis) {
    const Expr block = model.blockDim[axis], grid = model.gridDim[axis];
    if (isConst(block) && isConst(grid))
      most = std::max(most, std::uint64_t(block->value * grid->value));
    else if (!model.hiddenSize.empty())
      return {};
    else
      widths.push_back(context.mul(context.extend(Op::ZExt, 64, block), context.extend(Op::ZExt, 64, grid)));
  }
  if (most > 1) widths.push_back(context.constant(64, most));
  return widths;
}

} // namespace

namespace {

/// That `pitch` is at least `times` the number, both read with sign.
Expr isAtLeast(ExprContext& context, Expr pitch, Expr number, std::int64_t times) {
  return context.binary(Op::Sle, context.mul(wide(context, number), context.constant(64, times)),
                        wide(context, pitch));
}

std::int64_t valueOf(const Verdict& verdict, Expr e) {
  return signExtend(evaluate(e, verdict.values).value, e->width);
}

std::string listed(const std::vector<Expr>& numbers) {
  std::string names;
  for (Expr number : numbers) names += (names.empty() ? "" : " and ") + nameOf(number);
  return names;
}

/// Where guards keep threads within numbers, but not within that by which the rows lie apart: that one may be
/// less than what a row takes, in elements or in bytes.
void doubtShorterThanGuards(const Check& check, std::initializer_list<const ModelAccess*> accesses,
                            const std::vector<Expr>& guards, Verdict& verdict,
                            const std::function<Verdict(Expr wanted)>& again) {
  constexpr std::size_t kMost = 4;
  ExprContext& context = check.decider.view().context;
  const Expr size = (*accesses.begin())->size;
  if (guards.size() > kMost || !isConst(size)) return;
  for (const auto& [pitch, inRow] : pitchesOf(context, accesses)) {
    if (std::ranges::find(guards, pitch) != guards.end()) continue;
    for (Expr guard : guards)
      for (const std::int64_t times : {std::int64_t{1}, size->value}) {
        if (valueOf(verdict, pitch) >= times * valueOf(verdict, guard)) continue;
        const Expr wanted = isAtLeast(context, pitch, guard, times);
        if (again(wanted).outcome != Verdict::Outcome::Never) continue;
        verdict.leans.push_back(
            {CauseKind::Launch, nameOf(pitch) + ", too small for rows of " + nameOf(guard)});
        return;
      }
    // Planes of rows.
    const std::vector<Expr> sides = inRow ? guardsWithin(inRow, accesses) : std::vector<Expr>();
    if (sides.size() != 2) continue;
    const Expr plane = context.mul(wide(context, sides[0]), wide(context, sides[1]));
    if (valueOf(verdict, pitch) >= valueOf(verdict, plane) ||
        again(isAtLeast(context, pitch, plane, 1)).outcome == Verdict::Outcome::Happens)
      continue;
    verdict.leans.push_back({CauseKind::Launch, nameOf(pitch) + ", too small for planes of " +
                                                    nameOf(sides[0]) + " x " + nameOf(sides[1])});
    return;
  }
}

} // namespace

/// Whether the kernel itself compares something with the number on the way to the accesses: then it says what
/// it takes to lie within.
static bool isAskedFor(Expr number, std::initializer_list<const ModelAccess*> accesses) {
  return std::ranges::any_of(accesses, [&](const ModelAccess* access) {
    return anyNode(access->condition,
                   [&](Expr n) { return isOrder(n) && anyNode(n, [&](Expr e) { return e == number; }); });
  });
}

/// The same of rows that are written in other ways, and of the whole place in them.
static void doubtNarrowRows(const Check& check, std::initializer_list<const ModelAccess*> accesses,
                            Verdict& verdict, const std::function<Verdict(Expr wanted)>& again) {
  ExprContext& context = check.decider.view().context;
  Expr wanted = context.boolean(true);
  std::vector<Expr> numbers;
  for (const Row& row : rowsOf(check.decider.view(), accesses)) {
    if (isAskedFor(row.number, accesses)) continue;
    wanted = context.logicalAnd(wanted, row.isInside);
    if (std::ranges::find(numbers, row.number) == numbers.end()) numbers.push_back(row.number);
  }
  if (numbers.empty()) return;
  const Verdict inside = check.decider.quickly([&] { return again(wanted); });
  if (inside.outcome != Verdict::Outcome::Never) return;
  verdict.leans.push_back(
      {CauseKind::Launch, "rows of " + listed(numbers) + " shorter than the kernel's own"});
}

/// Whether guards keep threads within numbers along all axes that the places hang on: along others, a grid of
/// whole blocks would be wider than the rows, and the guard is missing.
static bool areThreadsGuarded(std::initializer_list<const ModelAccess*> accesses) {
  std::set<Expr> threads, guarded;
  const auto collect = [](Expr e, std::set<Expr>& into) {
    anyNode(e, [&](Expr n) {
      if (n->op == Op::Symbol && n->symbol->kind == SymbolKind::ThreadIdx) into.insert(n);
      return false;
    });
  };
  for (const ModelAccess* access : accesses) {
    collect(access->offset, threads);
    anyNode(access->condition, [&](Expr n) {
      if (isOrder(n)) collect(n, guarded);
      return false;
    });
  }
  return std::ranges::includes(guarded, threads);
}

/// The same of strides that the launch brings along, if there is an order in which no part lies over another.
static void doubtStrides(const Check& check, std::initializer_list<const ModelAccess*> accesses,
                         Verdict& verdict, const std::function<Verdict(Expr wanted)>& again) {
  const Nesting nesting = nestingOf(check.decider.view(), accesses, [&](Expr number) {
    return isNumber(number) && !isAskedFor(number, accesses);
  });
  if (nesting.numbers.empty()) return;
  ExprContext& context = check.decider.view().context;
  const auto isOpen = [&](Expr way) { // a thread can come to a place that lies so
    ModelAccess& one = check.answers.narrowed->emplace_back(**accesses.begin());
    one.condition = context.logicalAnd(one.condition, way);
    const auto comes = [&] { return check.decider.leaves(one, context.constant(64, 0)); };
    return check.decider.quickly(comes).outcome == Verdict::Outcome::Happens;
  };
  const auto isApart = [&](Expr way) {
    return check.decider.quickly([&] { return again(way); }).outcome == Verdict::Outcome::Never &&
           isOpen(way);
  };
  if (std::ranges::any_of(nesting.ways, isApart))
    verdict.leans.push_back(
        {CauseKind::Launch, listed(nesting.numbers) + ", by which parts of the array lie over each other"});
}

void doubtShortRows(const Check& check, std::initializer_list<const ModelAccess*> accesses, Verdict& verdict,
                    const std::function<Verdict(Expr wanted)>& again) {
  if (verdict.outcome != Verdict::Outcome::Happens) return;
  const std::size_t leans = verdict.leans.size();
  if (const auto guards = guardsOf(accesses); !guards.empty()) {
    doubtShorterThanGuards(check, accesses, guards, verdict, again);
    if (verdict.leans.size() == leans && areThreadsGuarded(accesses))
      doubtStrides(check, accesses, verdict, again);
    return;
  }
  ExprContext& context = check.decider.view().context;
  const std::vector<Expr> widths = widthsOf(context, check.model);
  if (widths.empty()) return;
  Expr wanted = context.boolean(true);
  std::vector<Expr> tooSmall;
  for (const auto& [pitch, inRow] : pitchesOf(context, accesses)) {
    const bool isPlaced = hasNumber(inRow); // it begins somewhere in the row
    if (isPlaced)
      wanted =
          context.logicalAnd(wanted, context.binary(Op::Ult, wide(context, inRow), wide(context, pitch)));
    bool isSmall = isPlaced;
    for (Expr width : widths) {
      if (!isPlaced)
        wanted = context.logicalAnd(wanted, context.binary(Op::Sle, width, wide(context, pitch)));
      isSmall |= valueOf(verdict, pitch) < valueOf(verdict, width);
    }
    if (isSmall && std::ranges::find(tooSmall, pitch) == tooSmall.end()) tooSmall.push_back(pitch);
  }
  if (!tooSmall.empty() && again(wanted).outcome == Verdict::Outcome::Never) {
    verdict.leans.push_back(
        {CauseKind::Launch, listed(tooSmall) + ", less than the launch has threads along an axis"});
    return;
  }
  doubtNarrowRows(check, accesses, verdict, again);
  if (verdict.leans.size() == leans) doubtStrides(check, accesses, verdict, again);
}

/// What is the same for all threads, hangs on numbers of the launch, and is multiplied by what is not.
static std::vector<Expr> stepsOf(std::initializer_list<const ModelAccess*> accesses) {
  std::vector<Expr> result;
  const auto note = [&](Expr product) {
    if (product->op != Op::Mul) return false;
    for (std::size_t i : {0u, 1u}) {
      Expr step = product->operands[i];
      const bool isStep = variesOf(step) == Varies::Never && hasNumber(step) &&
                          variesOf(product->operands[1 - i]) != Varies::Never;
      if (isStep && std::ranges::find(result, step) == result.end()) result.push_back(step);
    }
    return false;
  };
  for (const ModelAccess* access : accesses) anyNode(access->offset, note);
  return result;
}

void preferSteps(const Check& check, std::initializer_list<const ModelAccess*> accesses, Verdict& verdict,
                 const std::function<Verdict(Expr wanted)>& again) {
  if (verdict.outcome != Verdict::Outcome::Happens) return;
  ExprContext& context = check.decider.view().context;
  Expr wanted = context.boolean(true), still = nullptr;
  for (Expr step : stepsOf(accesses)) {
    if (valueOf(verdict, step) == 0) still = still ? still : step;
    wanted = context.logicalAnd(wanted, context.binary(Op::Slt, context.constant(step->width, 0), step));
  }
  if (!still) return;
  Verdict usual = again(wanted);
  if (usual.outcome == Verdict::Outcome::Happens) {
    verdict = std::move(usual);
    return;
  }
  Expr number = nullptr;
  anyNode(still, [&](Expr n) {
    if (isNumber(n)) number = number ? number : n;
    return number != nullptr;
  });
  verdict.leans.push_back({CauseKind::Launch, "a step " + nameOf(number) + " of 0"});
}

Expr preferColumnsInRows(const Check& check, std::initializer_list<const ModelAccess*> accesses,
                         Verdict& verdict, const std::function<Verdict(Expr wanted)>& again) {
  ExprContext& context = check.decider.view().context;
  Expr wanted = context.boolean(true);
  if (verdict.outcome != Verdict::Outcome::Happens) return wanted;
  const auto columns = columnsOf(context, accesses);
  for (const Column& column : columns) wanted = context.logicalAnd(wanted, column.isInRow);
  // What differs between the threads has no value of its own here.
  const auto isShown = [&](const Column& column) {
    return variesOf(column.isInRow) == Varies::Never && valueOf(verdict, column.isInRow) != 0;
  };
  if (std::ranges::all_of(columns, isShown)) return wanted;
  Verdict usual = again(wanted);
  if (usual.outcome == Verdict::Outcome::Happens) {
    verdict = std::move(usual);
    return wanted;
  }
  const auto beyond = std::ranges::find_if_not(columns, isShown);
  verdict.leans.push_back(
      {CauseKind::Launch, nameOf(beyond->number) + ", beyond the end of rows of " + beyond->length});
  return wanted;
}

/// Parameters of the accesses that may be negative.
static std::vector<Expr> signedParameters(std::initializer_list<const ModelAccess*> accesses) {
  std::vector<Expr> result;
  const auto note = [&](Expr n) {
    if (n->op == Op::Symbol && isNumber(n) && n->symbol->lo < 0 &&
        std::ranges::find(result, n) == result.end())
      result.push_back(n);
    return false;
  };
  for (const ModelAccess* access : accesses)
    for (Expr e : {access->offset, access->condition}) anyNode(e, note);
  return result;
}

/// Whether something is divided by it: the language says nothing of what follows where that is 0.
static bool isDivisor(Expr number, std::initializer_list<const ModelAccess*> accesses) {
  const auto divides = [&](Expr n) {
    const bool isDivision = n->op == Op::SDiv || n->op == Op::UDiv || n->op == Op::SRem || n->op == Op::URem;
    return isDivision && anyNode(n->operands[1], [&](Expr part) { return part == number; });
  };
  return std::ranges::any_of(accesses, [&](const ModelAccess* access) {
    return anyNode(access->offset, divides) || anyNode(access->condition, divides);
  });
}

bool mayBeNegative(std::initializer_list<const ModelAccess*> accesses) {
  return !signedParameters(accesses).empty();
}

void tryNotNegative(const Check& check, PropertyAnswer& answer,
                    std::initializer_list<const ModelAccess*> accesses, Verdict& verdict,
                    const std::function<Verdict(Expr wanted)>& again) {
  constexpr std::size_t kMost = 4;
  ExprContext& context = check.decider.view().context;
  const std::vector<Expr> numbers = signedParameters(accesses);
  if (verdict.outcome != Verdict::Outcome::Unknown || numbers.empty() || numbers.size() > kMost) return;
  std::map<Expr, bool> divides;
  for (Expr n : numbers) divides[n] = isDivisor(n, accesses);
  const auto leastOf = [&](Expr n) { return divides.at(n) ? 1 : 0; };
  std::vector<std::vector<Expr>> choices;
  for (Expr n : numbers) choices.push_back({n});
  if (numbers.size() > 1) choices.push_back(numbers);
  for (const std::vector<Expr>& chosen : choices) {
    Expr wanted = context.boolean(true);
    for (Expr n : chosen)
      wanted = context.logicalAnd(wanted, context.binary(Op::Sle, context.constant(n->width, leastOf(n)), n));
    const auto forbids = [&](const ModelAccess* access) {
      return check.decider.happensOnlyWrapped(*access) || check.decider.asksAgainst(*access, wanted);
    };
    if (std::ranges::any_of(accesses, forbids)) continue;
    Verdict usual = check.decider.quickly([&] { return again(wanted); });
    if (usual.outcome != Verdict::Outcome::Never) continue;
    verdict = std::move(usual);
    for (Expr n : chosen)
      answer.assume(leastOf(n) == 1 ? positive(n->symbol->name) : notNegative(n->symbol->name));
    return;
  }
}

void preferNotNegative(const Check& check, PropertyAnswer& answer,
                       std::initializer_list<const ModelAccess*> accesses, Verdict& verdict,
                       const std::function<Verdict(Expr wanted)>& again) {
  const auto isWrapped = [&](const ModelAccess* access) { return check.decider.happensOnlyWrapped(*access); };
  if (std::ranges::any_of(accesses, isWrapped)) return;
  constexpr int kMostRounds = 3; // other parameters may turn negative
  ExprContext& context = check.decider.view().context;
  Expr wanted = context.boolean(true);
  std::vector<std::string> assumptions;
  const Verdict first = verdict;
  for (int round = 0; round < kMostRounds && verdict.outcome == Verdict::Outcome::Happens; ++round) {
    const auto negative = negativeParameters(verdict);
    if (negative.empty()) return;
    for (Expr n : negative) {
      assumptions.push_back(notNegative(n->symbol->name));
      wanted = context.logicalAnd(wanted, context.binary(Op::Sle, context.constant(n->width, 0), n));
    }
    const auto isAskedFor = [&](const ModelAccess* access) {
      return check.decider.asksAgainst(*access, wanted);
    };
    if (std::ranges::any_of(accesses, isAskedFor)) {
      verdict = first; // it is for negative ones that the kernel does this
      return;
    }
    verdict = again(wanted);
  }
  if (verdict.outcome == Verdict::Outcome::Never)
    for (const std::string& text : assumptions) answer.assume(text);
}

} // namespace kcheck::analyzer
