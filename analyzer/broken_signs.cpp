#include "analyzer/broken_signs.h"

#include "report/assumptions.h"

#include <algorithm>
#include <cstdint>

namespace kcheck::analyzer {
namespace {

bool isInteger(const Parameter& parameter) {
  return !parameter.isPointer && parameter.type.find("float") == std::string::npos &&
         parameter.type.find("double") == std::string::npos;
}

/// Whether the assumption is about that parameter, or may be, and does not hold for the number.
bool isBroken(const std::string& assumption, const std::string& parameter, std::int64_t number,
              unsigned bits) {
  if (assumption.starts_with(kHostsInt)) return number < 0 || number > INT32_MAX;
  return number < 0 && (assumption == notNegative(parameter) || assumption == fromZero(parameter, bits));
}

} // namespace

std::optional<BrokenSign> brokenSign(const PropertyResult& property, const Kernel& kernel,
                                     const std::vector<Launch>& launches) {
  for (const Launch& launch : launches) {
    if (launch.kernel != kernel.symbol) continue;
    for (std::size_t i = 0; i < std::min(kernel.parameters.size(), launch.arguments.size()); ++i) {
      const auto& passed = launch.arguments[i].passed;
      if (!passed || !isInteger(kernel.parameters[i])) continue;
      const std::size_t bytes = passed->bytes.size();
      const auto number = bytes >= 4 ? passed->integer(0, bytes) : std::nullopt;
      if (!number) continue;
      for (const std::string& assumption : property.assumptions)
        if (isBroken(assumption, kernel.parameters[i].name, *number, unsigned(bytes * 8)))
          return BrokenSign{assumption, *number};
    }
  }
  return std::nullopt;
}

} // namespace kcheck::analyzer
