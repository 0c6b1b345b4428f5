#include "analyzer/samples.h"

#include "analyzer/formula_variables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

namespace kcheck::analyzer {

namespace {

/// No multiple of 16, and so of no usual block.
constexpr std::int64_t kFirst = 1000, kStep = 17;

class Sampler {
public:
  std::optional<std::int64_t> operator()(const Formula& formula) {
    if (formula.op == Formula::Op::Constant) return formula.constant;
    if (formula.op == Formula::Op::Variable) {
      mayDivide |= formula.mayDivide;
      const std::int64_t sample = kFirst + kStep * std::int64_t(values.size());
      return values.try_emplace(formula.number, std::min(sample, formula.most)).first->second;
    }
    const auto left = (*this)(formula.operands[0]);
    if (!left) return std::nullopt;
    if (formula.op == Formula::Op::Not) return *left == 0;
    if (formula.op == Formula::Op::Choice) return (*this)(formula.operands[*left ? 1 : 2]);
    const auto right = (*this)(formula.operands[1]);
    if (!right) return std::nullopt;
    std::int64_t result = 0;
    switch (formula.op) {
    case Formula::Op::Less: return *left < *right;
    case Formula::Op::Equal: return *left == *right;
    case Formula::Op::And: return *left && *right;
    case Formula::Op::Or: return *left || *right;
    case Formula::Op::Rem: return *right ? std::optional(*left % *right) : std::nullopt;
    case Formula::Op::Add:
      return __builtin_add_overflow(*left, *right, &result) ? std::nullopt : std::optional(result);
    case Formula::Op::Sub:
      return __builtin_sub_overflow(*left, *right, &result) ? std::nullopt : std::optional(result);
    case Formula::Op::Mul:
      return __builtin_mul_overflow(*left, *right, &result) ? std::nullopt : std::optional(result);
    default: return *right ? std::optional(*left / *right) : std::nullopt;
    }
  }

  std::map<unsigned, std::int64_t> values;
  bool mayDivide = false;
};

/// Adds `n = 1000` for each variable that is not named yet.
void addValues(const Formula& formula, const SampledFacts& sample, std::vector<std::string>& words) {
  for (const Formula& operand : formula.operands) addValues(operand, sample, words);
  const auto value = sample.values.find(formula.number);
  if (formula.op != Formula::Op::Variable || value == sample.values.end()) return;
  std::string word = fmt::format("`{}` = {}", formula.variable, value->second);
  if (std::ranges::find(words, word) == words.end()) words.push_back(std::move(word));
}

/// Large enough for any program's usual case, small enough to count quickly.
constexpr std::int64_t kMostBlocks = 1 << 16;

/// Whether the conditions on the way to the launch hold.
bool mayBe(const Launch& launch, Sampler& sampler) {
  return !launch.unfollowed.known() && std::ranges::all_of(launch.conditions, [&](const Formula& condition) {
    return sampler(condition).value_or(0) != 0;
  });
}

/// Of a grid that hangs on nothing but the numbers that the kernel is given, or else the sizes of its
/// buffers: what comes from elsewhere is one size, and the work another.
bool sampleGrid(Launch& launch, const std::vector<Allocation>& allocations, Sampler& sampler) {
  std::set<unsigned> given = variablesOfNumbers(launch);
  if (given.empty()) given = variablesOfSizes(launch, allocations);
  bool any = false;
  for (unsigned axis = 0; axis < 3; ++axis) {
    std::optional<std::uint32_t>& extent = axis == 0   ? launch.grid.x
                                           : axis == 1 ? launch.grid.y
                                                       : launch.grid.z;
    if (extent || !launch.gridFormulas[axis]) continue;
    if (!std::ranges::includes(given, variablesOf(*launch.gridFormulas[axis]))) continue;
    const auto value = sampler(*launch.gridFormulas[axis]);
    if (!value || *value <= 0 || *value > kMostBlocks) continue;
    extent = std::uint32_t(*value);
    any = true;
  }
  return any && launch.grid.whole();
}

} // namespace

std::optional<SampledFacts> sampled(const Facts& facts) {
  SampledFacts sample{facts, {}};
  Sampler sampler;
  bool any = false;
  for (Launch& launch : sample.facts.launches) {
    if (!mayBe(launch, sampler)) continue;
    any |= sampleGrid(launch, facts.allocations, sampler);
    for (Argument& argument : launch.arguments)
      if (!argument.value && argument.formula) argument.value = sampler(*argument.formula);
  }
  if (!any || sampler.mayDivide) return std::nullopt;
  for (Allocation& allocation : sample.facts.allocations)
    if (const auto bytes =
            !allocation.bytes && allocation.formula ? sampler(*allocation.formula) : std::nullopt;
        bytes && *bytes > 0)
      allocation.bytes = std::uint64_t(*bytes);
  sample.values = std::move(sampler.values);
  return sample;
}

void wordAsSample(Finding& finding, const SampledFacts& sample, const Launch& launch) {
  std::vector<std::string> values;
  for (const auto& formula : launch.gridFormulas)
    if (formula) addValues(*formula, sample, values);
  finding.verdict = Verdict::Possible;
  finding.message = fmt::format("for {}: {}", fmt::join(values, ", "), finding.message);
  finding.reason =
      values.size() == 1 ? "a size that the block does not divide" : "sizes that the block does not divide";
}

} // namespace kcheck::analyzer
