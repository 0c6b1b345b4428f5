#include "analyzer/other_choices.h"

#include "analyzer/block_widths.h"
#include "analyzer/expr/range.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <optional>
#include <set>

namespace kcheck::analyzer {
namespace {

using Shape = std::array<std::optional<std::uint32_t>, 3>;

/// A comparison with a number, or a remainder or quotient by one.
struct AskedNumber {
  unsigned line, column; ///< of the access or branch that hangs on it
  bool compares;
  std::int64_t number;
  friend auto operator<=>(const AskedNumber&, const AskedNumber&) = default;
};

std::optional<std::pair<bool, std::int64_t>> askedBy(const Node& n) {
  if (n.operands.size() != 2) return {};
  const bool isRight = isConst(n.operands[1]);
  if (!isRight && !isConst(n.operands[0])) return {};
  const std::int64_t number = signExtend(n.operands[isRight]->value, n.operands[isRight]->width);
  constexpr std::int64_t kFar = std::int64_t{1} << 32; // no thread's number, nor one that it is divided by
  if (number < -kFar || number > kFar || variesOf(n.operands[isRight ? 0 : 1]) == Varies::Never) return {};
  switch (n.op) {
  case Op::Eq:
  case Op::Ult:
  case Op::Ule:
  case Op::Slt:
  case Op::Sle: return std::pair(true, number);
  case Op::And: return std::pair(false, number + 1);
  case Op::LShr:
  case Op::AShr:
    return isRight && number >= 0 && number < 32 ? std::optional(std::pair(false, std::int64_t{1} << number))
                                                 : std::nullopt;
  case Op::UDiv:
  case Op::SDiv:
  case Op::URem:
  case Op::SRem: return isRight ? std::optional(std::pair(false, number)) : std::nullopt;
  default: return {};
  }
}

/// What each expression of the model is for, and where.
void eachExpression(const KernelModel& model, const std::function<void(Expr, const Location&)>& visit) {
  for (const Phase& phase : model.gridPhases)
    for (const ModelAccess& access : phase.accesses)
      for (Expr e : {access.condition, access.offset})
        if (e) visit(e, access.where);
  for (const BarrierControl& control : model.barriers)
    for (Expr e : {control.condition, control.reached, control.comes})
      if (e) visit(e, control.branch);
}

/// Those that are not the same for all threads of the launch.
std::set<AskedNumber> numbersAskedIn(const KernelModel& model) {
  std::set<AskedNumber> result;
  Ranges ranges(Ranges::Wrapping::Exact);
  eachExpression(model, [&](Expr e, const Location& where) {
    anyNode(e, [&](Expr n) {
      const auto asked = askedBy(*n);
      if (!asked) return false;
      const auto& [compares, number] = *asked;
      const Range range = ranges.of(compares ? n : n->operands[0]);
      const bool differs = compares ? !range.isConstant() : range.hi >= number && number > 0;
      if (differs) result.insert({where.line, where.column, compares, number});
      return false;
    });
  });
  return result;
}

/// Whether the kernel asks which block a thread is of, along that axis, by number.
bool asksForBlock(const KernelModel& model, std::size_t axis) {
  bool found = false;
  eachExpression(model, [&](Expr e, const Location&) {
    found = found || anyNode(e, [&](Expr n) {
              const auto asked = askedBy(*n);
              const Expr index = model.blockIdx[axis];
              return asked && asked->first && !isConst(index) &&
                     (n->operands[0] == index || n->operands[1] == index);
            });
  });
  return found;
}

/// `e` as a multiple of something, by a constant, as the 64 bits of it.
std::pair<Expr, std::uint64_t> multiple(Expr e) {
  if (e->op == Op::ZExt || e->op == Op::SExt) return multiple(e->operands[0]);
  if (e->op != Op::Mul || !isConst(e->operands[1])) return {e, 1};
  const auto [base, factor] = multiple(e->operands[0]);
  return {base, factor * static_cast<std::uint64_t>(signExtend(e->operands[1]->value, e->width))};
}

/// Whether places of so many blocks along the axis lie side by side: `2 * x + blockIdx.y`.
bool liesBetween(const KernelModel& model, std::size_t axis, std::uint64_t blocks) {
  bool found = false;
  eachExpression(model, [&](Expr e, const Location&) {
    found = found || anyNode(e, [&](Expr n) {
              if (n->op != Op::Add) return false;
              const auto own = std::ranges::find_if(
                  n->operands, [&](Expr part) { return multiple(part).first == model.blockIdx[axis]; });
              return own != n->operands.end() && std::ranges::any_of(n->operands, [&](Expr part) {
                       return part != *own && multiple(part).second == blocks * multiple(*own).second;
                     });
            });
  });
  return found;
}

std::vector<Shape> otherBlocks(const LaunchPlan& plan, const Shape& block) {
  const auto rounded = [](std::uint32_t width) { return std::bit_floor(width); };
  std::vector<Shape> result{{rounded(*block[0]), rounded(*block[1]), rounded(*block[2])}};
  if (plan.isFitted) return result;
  const bool isFlat = *block[1] == 1 && *block[2] == 1;
  if (isFlat)
    for (std::uint32_t threads : {32u, 64u, 256u, 512u}) result.push_back({threads, 1, 1});
  else if (*block[2] == 1)
    for (const auto& [x, y] : {std::array{16u, 16u}, {32u, 8u}, {8u, 8u}, {32u, 32u}})
      result.push_back({x, y, 1});
  return result;
}

std::uint64_t threadsOf(const Shape& block) { return std::uint64_t{*block[0]} * *block[1] * *block[2]; }

} // namespace

bool asksAsMuch(const KernelModel& other, const KernelModel& chosen, const KernelModel& any) {
  const std::set<AskedNumber> written = numbersAskedIn(any), now = numbersAskedIn(other);
  return std::ranges::all_of(numbersAskedIn(chosen), [&](const AskedNumber& one) {
    return now.contains(one) || !written.contains(one);
  });
}

std::vector<PlannedCase> otherChoices(const LaunchPlan& plan, const KernelModel& chosen,
                                      const std::function<bool(const LaunchCase&)>& doesAsMuch) {
  constexpr std::size_t kMost = 6;
  const LaunchCase& own = plan.concrete.front().launch;
  std::vector<LaunchCase> others;
  for (const std::uint32_t blocks : {2u, 3u})
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto isMeant = [&] { return asksForBlock(chosen, axis) || liesBetween(chosen, axis, blocks); };
      if (*own.grid[axis] <= blocks || !isMeant()) continue;
      others.push_back(own);
      others.back().grid[axis] = blocks;
    }
  for (const Shape& block : otherBlocks(plan, own.block)) {
    others.push_back(own);
    others.back().block = block;
  }
  std::vector<PlannedCase> result;
  std::set<std::pair<Shape, Shape>> known{{own.block, own.grid}};
  for (const LaunchCase& other : others) {
    if (result.size() == kMost || !known.insert({other.block, other.grid}).second ||
        threadsOf(other.block) > plan.any.mostThreads.value_or(kMostThreads) || !doesAsMuch(other))
      continue;
    PlannedCase& planned = result.emplace_back(plan.concrete.front());
    planned.launch = other;
    planned.shown.block = Extent(other.block[0], other.block[1], other.block[2]);
    planned.shown.grid = Extent(other.grid[0], other.grid[1], other.grid[2]);
    planned.holdsFor =
        fmt::format("<<<{}, {}>>>", toString(planned.shown.grid), toString(planned.shown.block));
  }
  return result;
}

bool goesWrong(const KernelAnswers& answers) {
  const auto isSure = [](const auto& result) { return result.witness.exact(); };
  return std::ranges::any_of(
             answers.races, [](const RaceResult& race) { return !race.sameValue && race.witness.exact(); }) ||
         std::ranges::any_of(answers.divergences, isSure) || std::ranges::any_of(answers.bounds, isSure);
}

bool goesWell(const KernelAnswers& answers) {
  const auto isWritten = [&] {
    return answers.unwritten.empty() &&
           (!answers.initialized || answers.initialized->answer == Answer::Proved);
  };
  return isWritten() && std::ranges::all_of(answers.properties, [](const PropertyResult& result) {
           return result.property == Property::InBounds ? result.answer != Answer::Refuted
                                                        : result.answer == Answer::Proved;
         });
}

} // namespace kcheck::analyzer
