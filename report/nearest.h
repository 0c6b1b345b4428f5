// What a misspelt word was probably meant to be: for rules, groups, kernels and options.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kcheck {

/// Number of single-character insertions, deletions, substitutions and swaps of neighbours between two words.
std::size_t editDistance(std::string_view a, std::string_view b);

/// The candidate nearest to `word` (the first of several), or nothing when none is near enough to be meant.
std::optional<std::string> nearestWord(std::string_view word, const std::vector<std::string>& candidates);

} // namespace kcheck
