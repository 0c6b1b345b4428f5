#include "analyzer/other_choices.h"

#include "analyzer/block_widths.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <set>

namespace kcheck::analyzer {
namespace {

using Shape = std::array<std::optional<std::uint32_t>, 3>;

/// How many different numbers the index has at least for what is done with it, and this number, to differ
/// between some of them: `i < 64`, `i == 64`, `i & 31`, `i / 32`. 0: it is nothing of the kind.
std::int64_t leastFor(const Node& operation, std::size_t side) {
  const Expr number = operation.operands[1 - side];
  if (!isConst(number) || number->value < 0 || number->value > kMostThreads) return 0;
  switch (operation.op) {
  case Op::Eq: return number->value + 1;
  case Op::Ult:
  case Op::Slt: return number->value + (side == 0 ? 0 : 2);
  case Op::Ule:
  case Op::Sle: return number->value + 1;
  case Op::And: return number->value + 2;
  case Op::URem:
  case Op::SRem:
  case Op::UDiv:
  case Op::SDiv: return side == 0 ? number->value + 1 : 0;
  case Op::LShr:
  case Op::AShr: return side == 0 && number->value < 10 ? (std::int64_t{1} << number->value) + 1 : 0;
  default: return 0;
  }
}

/// How wide an axis is at least, by what the kernel does with its index.
std::int64_t leastWidth(const KernelModel& model, Expr index) {
  std::int64_t least = 1;
  const auto look = [&](Expr n) {
    if (n->operands.size() == 2)
      for (std::size_t side : {0u, 1u})
        if (n->operands[side] == index) least = std::max(least, leastFor(*n, side));
    return false;
  };
  for (const Phase& phase : model.gridPhases)
    for (const ModelAccess& access : phase.accesses)
      for (Expr e : {access.condition, access.offset})
        if (e) anyNode(e, look);
  return least;
}

bool isWideEnough(const KernelModel& model, const LaunchCase& launch) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (*launch.block[axis] < leastWidth(model, model.threadIdx[axis]) ||
        *launch.grid[axis] < leastWidth(model, model.blockIdx[axis]))
      return false;
  return true;
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

std::vector<PlannedCase> otherChoices(const LaunchPlan& plan, const KernelModel& chosen,
                                      const std::function<bool(const LaunchCase&)>& doesAsMuch) {
  constexpr std::size_t kMost = 4;
  const LaunchCase& own = plan.concrete.front().launch;
  std::vector<LaunchCase> others;
  for (const Shape& block : otherBlocks(plan, own.block)) {
    others.push_back(own);
    others.back().block = block;
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (*own.grid[axis] <= 2) continue;
    others.push_back(own);
    others.back().grid[axis] = 2;
  }
  std::vector<PlannedCase> result;
  std::set<std::pair<Shape, Shape>> known{{own.block, own.grid}};
  for (const LaunchCase& other : others) {
    if (result.size() == kMost || !known.insert({other.block, other.grid}).second ||
        threadsOf(other.block) > plan.any.mostThreads.value_or(kMostThreads) ||
        !isWideEnough(chosen, other) || !doesAsMuch(other))
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
