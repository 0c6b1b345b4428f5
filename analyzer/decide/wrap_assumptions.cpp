// What a proof rests on where arithmetic of the program may wrap, and when that may be assumed not to happen.
#include "analyzer/decide/choices.h"
#include "analyzer/decide/pitches.h"
#include "analyzer/decide/question.h"
#include "analyzer/decide/search.h"
#include "report/assumptions.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace kcheck::analyzer {
namespace {

/// `blockIdx.x * blockDim.x + threadIdx.x`, or a part of it, or the next one: no more than the threads along
/// the axis, also where a number that is no larger stands for the block. Products and sums of such may wrap
/// in a launch that is allowed.
bool isGlobalIndex(Expr e, const KernelModel& model) {
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
      const bool isBlocks = isOf(x, {SymbolKind::BlockIdx, SymbolKind::GridDim});
      const Expr block = isBlocks && *axis < 3 ? model.blockDim[*axis] : nullptr;
      const bool isKnownBlock =
          block && isConst(y) && isConst(block) && y->value > 0 && y->value <= block->value;
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

/// That indices of the launch do not wrap is another matter.
bool isOfLaunch(Expr condition, const KernelModel& model) {
  return condition->operands.size() == 2 && std::ranges::all_of(condition->operands, [&](Expr side) {
           return isConst(side) || isGlobalIndex(side, model);
         });
}

/// What must not leave its type: indices of the launch, and other arithmetic of an access.
struct Wraps {
  const KernelModel& model;
  bool ofLaunch = false, other = false;

  void note(Expr e) { (isGlobalIndex(e, model) ? ofLaunch : other) = true; }
  void addTo(std::vector<std::string>& assumptions, const ModelAccess& access) const {
    if (ofLaunch) assumptions.push_back(kFewThreads);
    if (other)
      assumptions.push_back("index arithmetic in line " + std::to_string(access.where.line) +
                            " does not wrap");
  }
};

} // namespace

const std::vector<std::string>& Decider::wrapAssumptions(const ModelAccess& access) {
  auto [entry, isNew] = assumptions.try_emplace(&access);
  std::vector<std::string>& result = entry->second;
  if (!isNew) return result;
  AccessView& view = viewOf(access, Ranges::Wrapping::Assumed);
  Wraps wraps{kernel.model};
  std::set<std::string> sizes;
  auto look = [&](Expr n) {
    if (isSize(n) && view.ranges.assumed().count(n)) {
      sizes.insert(n->op == Op::Apply
                       ? fmt::format("sizes in `{}` are from 0 to 2^{} - 1", n->function->name, n->width - 1)
                       : fromZero(n->symbol->name, n->width));
    }
    if (n->op != Op::Add && n->op != Op::Mul && n->op != Op::Shl && n->op != Op::Trunc) return false;
    if (n->width == 1 || !view.ranges.isExact(n) || !view.ranges.assumed().count(n)) return false;
    wraps.note(n);
    return false;
  };
  for (Expr e : {access.offset, access.size, access.condition})
    if (e) anyNode(e, look);
  result.insert(result.end(), sizes.begin(), sizes.end());
  wraps.addTo(result, access);
  return result;
}

const std::vector<std::string>& Decider::signedAssumptions(const ModelAccess& access) {
  auto [entry, isNew] = ofSigned.try_emplace(&access);
  std::vector<std::string>& result = entry->second;
  if (!isNew) return result;
  AccessView& view = viewOf(access, Ranges::Wrapping::Exact);
  Wraps wraps{kernel.model};
  const auto look = [&](Expr n) {
    const bool isArithmetic = n->op == Op::Add || n->op == Op::Mul || n->op == Op::Shl;
    if (!isArithmetic || n->width > 32 || n->width == 1 || view.ranges.staysWithin(n)) return false;
    wraps.note(n);
    return wraps.ofLaunch && wraps.other;
  };
  for (Expr e : {access.offset, access.condition})
    if (e) anyNode(e, look);
  wraps.addTo(result, access);
  assumeSteps(access, result);
  return result;
}

static bool keepsWithin(Expr choice);

/// Of threads or of a number of the launch alone, or a thread's place that is kept within one: `x < n ? x :
/// n - 1`.
static bool isSideOfGuard(Expr e) {
  const auto isNegative = [](Expr n) { return isConst(n) && signExtend(n->value, n->width) < 0; };
  const auto turnsSign = [&](Expr n) {
    return (n->op == Op::Mul || n->op == Op::Xor) && std::ranges::any_of(n->operands, isNegative);
  };
  if (anyNode(e, turnsSign)) return false;
  if (!anyNode(e, isIndex) || !anyNode(e, isNumber)) return true;
  return e->op == Op::Ite && keepsWithin(e->operands[0]) && isSideOfGuard(e->operands[1]) &&
         isSideOfGuard(e->operands[2]);
}

/// Whether the choice asks where the thread is, compared with a number of the launch, and nothing of the
/// number by itself, such as whether it is negative.
static bool keepsWithin(Expr choice) {
  if (!anyNode(choice, isIndex)) return false;
  switch (choice->op) {
  case Op::Slt:
  case Op::Sle:
  case Op::Ult:
  case Op::Ule: return std::ranges::all_of(choice->operands, isSideOfGuard);
  case Op::And:
  case Op::Or:
  case Op::Xor:
    return std::ranges::all_of(choice->operands,
                               [](Expr part) { return isConst(part) || keepsWithin(part); });
  default: return false;
  }
}

/// What the place is chosen by, but for how far the threads go.
static std::vector<Expr> choicesOf(const ModelAccess& access) {
  std::vector<Expr> choices;
  if (access.offset)
    anyNode(access.offset, [&](Expr n) {
      if (n->op != Op::Ite || n->width == 1) return false;
      Expr choice = n->operands[0];
      const bool isNew = std::ranges::find(choices, choice) == choices.end();
      if (isNew && !(anyNode(choice, isNumber) && keepsWithin(choice))) choices.push_back(choice);
      return false;
    });
  return choices;
}

static bool isContradictory(ExprContext& context, AccessView& view) {
  return !view.isPossible || isFalse(settled(context, view.ranges, view.condition)) ||
         view.contradictsItself();
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
/// by whether something has wrapped.
bool Decider::happensOnlyWrapped(const ModelAccess& access) {
  const auto [known, isNew] = onlyWrapped.try_emplace(&access, false);
  if (!isNew || wrapAssumptions(access).empty()) return known->second;
  const std::vector<Expr> choices = wrapsInRounds(access) ? std::vector<Expr>() : choicesOf(access);
  ExprContext& c = kernel.context;
  std::set<Expr, bool (*)(Expr, Expr)> sizes([](Expr x, Expr y) { return x->id < y->id; });
  for (Expr n : viewOf(access, Ranges::Wrapping::Assumed).ranges.assumed())
    if (isSize(n)) sizes.insert(n);
  Expr areSizes = c.boolean(true);
  for (Expr n : sizes) areSizes = c.logicalAnd(areSizes, c.binary(Op::Sle, c.constant(n->width, 0), n));
  const auto isBehindWrap = [&](Expr choice) {
    return comesOnlyWrapped(c.logicalAnd(access.condition, choice), areSizes);
  };
  known->second = (!isTrue(areSizes) && isDecidedBy(access.condition, access.offset, areSizes)) ||
                  isBehindWrap(c.boolean(true)) || std::ranges::any_of(choices, [&](Expr choice) {
                    return !isOfLaunch(choice, kernel.model) &&
                           (isBehindWrap(choice) || isBehindWrap(c.logicalNot(choice)));
                  });
  return known->second;
}

/// Whether arithmetic that is taken not to wrap does so for these values, or a size is negative.
static bool wraps(Expr n, Evaluator& evaluate) {
  const Int value = evaluate(n).value;
  if (isSize(n)) return value < 0;
  const Int x = evaluate(n->operands[0]).value;
  switch (n->op) {
  case Op::Add: return x + evaluate(n->operands[1]).value != value;
  case Op::Mul: return x * evaluate(n->operands[1]).value != value;
  case Op::Trunc: return x != value;
  default: return signExtend(std::int64_t(x), n->width) != x; // shifts
  }
}

/// Whether one of the first threads, or the last, does so in sizes that soon wrap.
static bool happensInLargeSizes(const std::vector<Expr>& constraints) {
  std::vector<const Symbol*> symbols;
  std::set<const Symbol*> seen;
  for (Expr constraint : constraints)
    anyNode(constraint, [&](Expr n) {
      if (n->op == Op::Symbol && seen.insert(n->symbol).second) symbols.push_back(n->symbol);
      return false;
    });
  constexpr std::int64_t kSizes[] = {0x7fffffff, 0x55555555, 0x40000001, 0x30000000,
                                     0x12345679, 0x10001,    -1,         -0x40000000};
  constexpr std::size_t kPlaces = 5, kApart = 3; // every third symbol in a row has another size
  for (std::size_t size = 0; size < std::size(kSizes); ++size)
    for (std::size_t place = 0; place < kPlaces; ++place)
      for (std::size_t step = 0; step < kApart; ++step) {
        Assignment values;
        std::size_t number = 0;
        for (const Symbol* s : symbols) {
          const bool isSize = s->kind == SymbolKind::Parameter || s->kind == SymbolKind::Unknown;
          const Int value = isSize                 ? Int(kSizes[(size + step * number++) % std::size(kSizes)])
                            : place + 1 == kPlaces ? s->hi
                                                   : Int(place);
          values.symbols[s] = std::int64_t(std::clamp(value, s->lo, s->hi));
        }
        if (satisfies(values, constraints)) return true;
      }
  return false;
}

/// Whether that is not excluded: where values are found that wrap, and none that do not, it counts as
/// excluded.
bool Decider::happensWithoutWrap(const ModelAccess& access, Expr condition) {
  using Outcome = Verdict::Outcome;
  constexpr double kEasily = 200; // milliseconds
  std::vector<Expr> constraints{condition};
  constraints.insert(constraints.end(), kernel.facts.begin(), kernel.facts.end());
  const auto& assumed = viewOf(access, Ranges::Wrapping::Assumed).ranges.assumed();
  const auto fits = [&](const Assignment& values) {
    Evaluator evaluate(values);
    return std::ranges::none_of(assumed, [&](Expr n) { return wraps(n, evaluate); });
  };
  if (const auto found = searchWitness(constraints, copies, std::nullopt); found && fits(*found)) return true;
  const double usual = std::exchange(patience, std::min(patience, kEasily));
  const Outcome fitting = askSolver(constraints, std::nullopt).outcome;
  const bool isDecided = fitting == Outcome::Happens || happensInLargeSizes(constraints);
  const Verdict any = isDecided ? Verdict() : askSolver(constraints, std::nullopt, Ranges::Wrapping::Exact);
  patience = usual;
  if (isDecided) return fitting == Outcome::Happens;
  if (fitting == Outcome::Never) return any.outcome == Outcome::Never;
  return any.outcome != Outcome::Happens || fits(any.values);
}

/// As happensOnlyWrapped, with more effort: worth it where a proof would rest on the assumption.
bool Decider::isShownOnlyWrapped(const ModelAccess& access) {
  if (onlyWrapped[&access] || wrapAssumptions(access).empty()) return false;
  const auto [known, isNew] = shownOnlyWrapped.try_emplace({access.condition, access.offset}, false);
  if (isNew) {
    constexpr std::size_t kMostChoices = 4;
    std::vector<Expr> choices = wrapsInRounds(access) ? std::vector<Expr>() : choicesOf(access);
    choices.resize(std::min(choices.size(), kMostChoices));
    ExprContext& c = kernel.context;
    const auto isVacuous = [&](Expr choice) {
      return !happensWithoutWrap(access, c.logicalAnd(access.condition, choice));
    };
    known->second =
        isVacuous(c.boolean(true)) || std::ranges::any_of(choices, [&](Expr choice) {
          return !isOfLaunch(choice, kernel.model) && (isVacuous(choice) || isVacuous(c.logicalNot(choice)));
        });
  }
  onlyWrapped[&access] = known->second;
  return known->second;
}

bool Decider::mayAssumeNoWrap(const PairQuestion& q) {
  if (wrapAssumptions(*q.a).empty() && wrapAssumptions(*q.b).empty()) return false;
  const auto isAssumable = [&](const ModelAccess& access) {
    return wrapAssumptions(access).empty() || isOpen(access, viewOf(access, Ranges::Wrapping::Exact));
  };
  return isAssumable(*q.a) && isAssumable(*q.b);
}

/// Ways into a part of the condition that may be taken beside others. Where loops end by themselves is no
/// question that the program asks.
static std::vector<Expr> alternativesOf(Expr condition) {
  std::vector<Expr> result;
  anyNode(condition, [&](Expr n) {
    if (n->op != Op::Or || n->width != 1) return false;
    const bool isOfLoop = anyNode(
        n, [](Expr part) { return part->op == Op::Symbol && part->symbol->kind == SymbolKind::LoopCounter; });
    if (!isOfLoop)
      for (Expr part : n->operands)
        if (part->op != Op::Or) result.push_back(part);
    return false;
  });
  return result;
}

/// The condition without what only says that a loop has no rounds: `i < n` asks how far to go, not whether
/// `n` is negative.
static Expr withoutLoopEnds(ExprContext& c, const KernelModel& model, Expr condition) {
  Expr result = c.boolean(true);
  for (Expr part : conjunctsOf(condition))
    if (!model.loopEnds.contains(part)) result = c.logicalAnd(result, part);
  return result;
}

bool Decider::contradicts(Expr condition) {
  auto [known, isNew] = contradictions.try_emplace(condition);
  if (isNew) {
    AccessView view(kernel, condition, nullptr, nullptr, Ranges::Wrapping::Exact);
    known->second = isContradictory(kernel.context, view);
  }
  return known->second;
}

bool Decider::asksAgainst(const ModelAccess& access, Expr wanted) {
  if (secondsLeft() <= 0) return true; // nothing is assumed that has not been looked at
  ExprContext& c = kernel.context;
  const auto excludes = [&](Expr condition) {
    return contradicts(c.logicalAnd(condition, wanted)) && !contradicts(condition); // the former is rare
  };
  const Expr asked = withoutLoopEnds(c, kernel.model, access.condition);
  const auto excludesHere = [&](Expr part) { return excludes(c.logicalAnd(asked, part)); };
  if (excludes(asked)) return true;
  return std::ranges::any_of(alternativesOf(asked), excludesHere) ||
         std::ranges::any_of(
             choicesOf(access),
             [&](Expr choice) { return excludesHere(choice) || excludesHere(c.logicalNot(choice)); }) ||
         isDecidedBy(asked, access.offset, wanted);
}

/// Whether part of the place or of the condition is one number where `wanted` holds, and may be others: a
/// mask made of a sign.
bool Decider::isDecidedBy(Expr condition, Expr offset, Expr wanted) {
  Ranges any(Ranges::Wrapping::Exact), some(Ranges::Wrapping::Exact);
  if (!any.assume(condition) || !some.assume(kernel.context.logicalAnd(condition, wanted))) return false;
  const auto isDecided = [&](Expr n) {
    return n->width > 1 && !isConst(n) && some.of(n).isConstant() && !any.of(n).isConstant();
  };
  return anyNode(condition, isDecided) || (offset && anyNode(offset, isDecided));
}

void withdrawWhereWrapped(Verdict& verdict, const ModelAccess& access) {
  if (verdict.outcome != Verdict::Outcome::Never || !verdict.assumesNoWrap) return;
  verdict = {};
  verdict.reason = fmt::format("the index arithmetic in line {} wraps", access.where.line);
}

} // namespace kcheck::analyzer
