#include "analyzer/formula_variables.h"

namespace kcheck::analyzer {

std::set<unsigned> variablesOfNumbers(const Launch& launch) {
  std::set<unsigned> numbers;
  for (const Argument& argument : launch.arguments)
    if (argument.formula) numbers.merge(variablesOf(*argument.formula));
  return numbers;
}

std::set<unsigned> variablesOfSizes(const Launch& launch, const std::vector<Allocation>& allocations) {
  std::set<unsigned> numbers;
  for (const Argument& argument : launch.arguments) {
    if (!argument.allocation || *argument.allocation >= allocations.size()) continue;
    if (const auto& size = allocations[*argument.allocation].formula) numbers.merge(variablesOf(*size));
  }
  return numbers;
}

} // namespace kcheck::analyzer
