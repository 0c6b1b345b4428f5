// Words that a proof's list of assumptions and whoever looks for one in it must agree on.
#pragma once

#include <optional>
#include <string>

namespace kcheck {

/// A `__builtin_assume` of the kernel.
inline std::string assumptionAt(unsigned line) {
  return "the assumption at line " + std::to_string(line) + " holds";
}

/// How assumptions end that an annotation makes (include/kcheck/annotations.h).
inline std::string annotatedIn(unsigned line) { return " (annotated in line " + std::to_string(line) + ")"; }

/// What a proof takes for granted of a size or step: a kernel's parameter, or a value of host code.
struct SignAssumption {
  std::string name;
  bool isOfHost = false;
  bool isPositive = false; ///< else not negative
};

inline std::string toString(const SignAssumption& sign) {
  return (sign.isOfHost ? "the host's `" : "`") + sign.name + "` is " +
         (sign.isPositive ? "positive"
          : sign.isOfHost ? "an int and not negative"
                          : "not negative");
}

/// Nothing where the assumption is another one.
inline std::optional<SignAssumption> signOf(const std::string& assumption) {
  const std::size_t first = assumption.find('`'), last = assumption.find("` is ");
  if (first == std::string::npos || last == std::string::npos || last <= first) return std::nullopt;
  const std::string name = assumption.substr(first + 1, last - first - 1);
  for (const bool isOfHost : {false, true})
    for (const bool isPositive : {false, true}) {
      SignAssumption sign{name, isOfHost, isPositive};
      if (toString(sign) == assumption) return sign;
    }
  return std::nullopt;
}

} // namespace kcheck
