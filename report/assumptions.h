// Words that a proof's list of assumptions and whoever looks for one in it must agree on.
#pragma once

#include <string>
#include <string_view>

namespace kcheck {

/// A `__builtin_assume` of the kernel.
inline std::string assumptionAt(unsigned line) {
  return "the assumption at line " + std::to_string(line) + " holds";
}

/// How assumptions end that an annotation makes (include/kcheck/annotations.h).
inline std::string annotatedIn(unsigned line) { return " (annotated in line " + std::to_string(line) + ")"; }

/// Of launches of any size: what their indices go up to.
inline constexpr const char* kFewThreads = "a launch has fewer than 2^31 threads along each axis";

/// Of sizes and places that the launch hands over.
inline std::string notNegative(const std::string& parameter) { return "`" + parameter + "` is not negative"; }

/// The same, where something is divided by it.
inline std::string positive(const std::string& parameter) { return "`" + parameter + "` is positive"; }

/// Not negative, where it is read without sign.
inline std::string fromZero(const std::string& parameter, unsigned bits) {
  return "`" + parameter + "` is from 0 to 2^" + std::to_string(bits - 1) + " - 1";
}

/// Of what masks are made of (`i & (stride - 1)`).
inline std::string powerOfTwo(const std::string& parameter) {
  return "`" + parameter + "` is a power of two";
}

/// Of what host code computes sizes from.
inline constexpr std::string_view kHostsInt = "the host's `";
inline std::string smallOfHost(const std::string& variable) {
  return std::string(kHostsInt) + variable + "` is an int and not negative";
}

/// How assumptions begin that are for host code to keep, which no run looks at: where a counter starts, what
/// is in memory, what is computed.
inline constexpr std::string_view kCounter = "the counter", kFlag = "the flag",
                                  kHostLeaves = "host code leaves `",
                                  kHostComputes = "what the host computes from `";
/// How those end of memory that pointers in memory and in structures lead to.
inline constexpr std::string_view kReachedApart = "overlaps no other array";
inline bool isUpToHost(std::string_view assumption) {
  return assumption.starts_with(kHostsInt) || assumption.starts_with(kCounter) ||
         assumption.starts_with(kFlag) || assumption.starts_with(kHostLeaves) ||
         assumption.starts_with(kHostComputes) || assumption.ends_with(kReachedApart);
}

} // namespace kcheck
