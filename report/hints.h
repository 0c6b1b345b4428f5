// Hints by which one pass knows what the other one says.
#pragma once

#include <string_view>

namespace kcheck {

/// What there is to say of two blocks where nothing more is known of what the program means.
inline constexpr std::string_view kOrderOfBlocks =
    "blocks of a launch are ordered by atomics with fences, a grid barrier or a second launch only";

/// How hints end that say of locks which one is to be taken.
inline constexpr std::string_view kTakeTheSame = ": take the same one in both places";

/// Whether the static pass's hint is worth more than that of the run, which does not tell which locks are
/// held.
inline bool saysMore(std::string_view fromStatic, std::string_view fromRun) {
  return !fromStatic.empty() &&
         (fromRun.empty() || fromRun == kOrderOfBlocks || fromStatic.ends_with(kTakeTheSame));
}

} // namespace kcheck
