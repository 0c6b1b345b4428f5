#include "analyzer/broken_signs.h"

#include "report/assumptions.h"

#include <algorithm>

namespace kcheck::analyzer {
namespace {

bool isInteger(const Parameter& parameter) {
  return !parameter.isPointer && parameter.type.find("float") == std::string::npos &&
         parameter.type.find("double") == std::string::npos;
}

bool isPowerOfTwo(std::int64_t number) { return number > 0 && (number & (number - 1)) == 0; }

/// Whether the assumption is that the parameter is not negative, or that a number of the host's is not, from
/// which it may be computed.
bool isAbout(const std::string& assumption, const std::string& parameter, unsigned bits) {
  return assumption == notNegative(parameter) || assumption == fromZero(parameter, bits) ||
         assumption.starts_with(kHostsInt);
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
      const std::string& name = kernel.parameters[i].name;
      for (const std::string& assumption : property.assumptions) {
        const bool isBroken = (*number < 0 && isAbout(assumption, name, unsigned(bytes * 8))) ||
                              (*number <= 0 && assumption == positive(name)) ||
                              (!isPowerOfTwo(*number) && assumption == powerOfTwo(name));
        if (isBroken) return BrokenSign{assumption, *number};
      }
    }
  }
  return std::nullopt;
}

} // namespace kcheck::analyzer
