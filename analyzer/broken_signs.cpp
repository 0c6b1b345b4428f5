#include "analyzer/broken_signs.h"

#include "report/assumptions.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace kcheck::analyzer {
namespace {

bool isInteger(const Parameter& parameter) {
  return !parameter.isPointer && parameter.type.find("float") == std::string::npos &&
         parameter.type.find("double") == std::string::npos;
}

/// The least that an integer parameter was in the launches.
std::optional<std::int64_t> leastOf(std::size_t number, const Kernel& kernel,
                                    const std::vector<Launch>& launches) {
  std::optional<std::int64_t> least;
  for (const Launch& launch : launches) {
    if (launch.kernel != kernel.symbol || number >= launch.arguments.size()) continue;
    const auto& passed = launch.arguments[number].passed;
    const auto value = passed ? passed->integer(0, passed->bytes.size()) : std::nullopt;
    if (value) least = std::min(least.value_or(*value), *value);
  }
  return least;
}

} // namespace

std::vector<std::string> brokenSigns(const PropertyResult& property, const Kernel& kernel,
                                     const std::vector<Launch>& launches) {
  std::vector<std::string> broken;
  for (const std::string& assumption : property.assumptions) {
    const auto sign = signOf(assumption);
    if (!sign) continue;
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      const Parameter& parameter = kernel.parameters[i];
      if (!isInteger(parameter) || (!sign->isOfHost && sign->name != parameter.name)) continue;
      const auto least = leastOf(i, kernel, launches);
      if (!least || *least >= (sign->isPositive ? 1 : 0)) continue;
      broken.push_back(assumption);
      break;
    }
  }
  return broken;
}

} // namespace kcheck::analyzer
