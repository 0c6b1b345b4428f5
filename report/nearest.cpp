// Damerau–Levenshtein distance in its "optimal string alignment" form; words are short, so the full table is
// fine.
#include "report/nearest.h"

#include <algorithm>

namespace kcheck {

std::size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t substitute = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, substitute});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  return cost[a.size()][b.size()];
}

std::optional<std::string> nearestWord(std::string_view word, const std::vector<std::string>& candidates) {
  std::optional<std::string> best;
  std::size_t bestDistance = std::max<std::size_t>(1, word.size() / 3) + 1; // further away is another word
  for (const std::string& candidate : candidates) {
    std::size_t distance = editDistance(word, candidate);
    // A word cut short (`race-glob`, `uncoal`) is meant as well.
    bool beginning = word.size() >= 3 && candidate.starts_with(word);
    if (beginning) distance = std::min<std::size_t>(distance, 1);
    if (distance < bestDistance) best = candidate, bestDistance = distance;
  }
  return best;
}

} // namespace kcheck
