#include "instrument/runtime/core/clock.h"

#include <algorithm>

namespace kcheck::runtime {

Clock::Entries::const_iterator Clock::place(const Entries& entries, std::uint64_t key) {
  return std::lower_bound(entries.begin(), entries.end(), key,
                          [](const Entry& entry, std::uint64_t wanted) { return entry.key < wanted; });
}

Token Clock::at(std::uint64_t key) const {
  if (!entries) return 0;
  auto found = place(*entries, key);
  return found != entries->end() && found->key == key ? found->token : 0;
}

void Clock::raise(std::uint64_t key, Token token) {
  if (at(key) >= token) return;
  auto changed = std::make_shared<Entries>();
  if (entries) {
    changed->reserve(entries->size() + 1);
    *changed = *entries;
  }
  auto found = changed->begin() + (place(*changed, key) - changed->cbegin());
  if (found != changed->end() && found->key == key)
    found->token = token;
  else
    changed->insert(found, {key, token});
  entries = std::move(changed);
}

void Clock::join(const Clock& other) {
  if (!other.entries || entries == other.entries) return;
  if (!entries) {
    entries = other.entries;
    return;
  }
  bool mineSuffices = true, othersSuffice = true;
  auto merged = std::make_shared<Entries>();
  merged->reserve(entries->size() + other.entries->size());
  auto mine = entries->begin(), theirs = other.entries->begin();
  while (mine != entries->end() || theirs != other.entries->end()) {
    if (theirs == other.entries->end() || (mine != entries->end() && mine->key < theirs->key)) {
      merged->push_back(*mine++);
      othersSuffice = false;
    } else if (mine == entries->end() || theirs->key < mine->key) {
      merged->push_back(*theirs++);
      mineSuffices = false;
    } else {
      mineSuffices &= mine->token >= theirs->token;
      othersSuffice &= theirs->token >= mine->token;
      merged->push_back({mine->key, std::max(mine->token, theirs->token)});
      ++mine, ++theirs;
    }
  }
  if (mineSuffices) return;
  entries = othersSuffice ? other.entries : std::move(merged);
}

} // namespace kcheck::runtime
