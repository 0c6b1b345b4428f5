// Words that a proof's list of assumptions and whoever looks for one in it must agree on.
#pragma once

#include <string>

namespace kcheck {

/// A `__builtin_assume` of the kernel.
inline std::string assumptionAt(unsigned line) {
  return "the assumption at line " + std::to_string(line) + " holds";
}

/// How assumptions end that an annotation makes (include/kcheck/annotations.h).
inline std::string annotatedIn(unsigned line) { return " (annotated in line " + std::to_string(line) + ")"; }

} // namespace kcheck
