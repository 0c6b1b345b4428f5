#include "instrument/runtime/core/clock.h"

#include "instrument/runtime/core/context.h"

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
  context().clockEntries += entries->size() + other.entries->size();
  auto [mineSuffices, othersSuffice] = compare(*entries, *other.entries);
  if (mineSuffices) return;
  entries = othersSuffice ? other.entries : merge(*entries, *other.entries);
}

/// Whether each of two tables says all that the other one says.
std::pair<bool, bool> Clock::compare(const Entries& a, const Entries& b) {
  bool first = a.size() >= b.size(), second = b.size() >= a.size();
  auto mine = a.begin(), theirs = b.begin();
  while ((first || second) && mine != a.end() && theirs != b.end()) {
    first &= mine->key < theirs->key || (mine->key == theirs->key && mine->token >= theirs->token);
    second &= theirs->key < mine->key || (mine->key == theirs->key && theirs->token >= mine->token);
    bool same = mine->key == theirs->key, before = mine->key < theirs->key;
    mine += same || before;
    theirs += same || !before;
  }
  return {first && theirs == b.end(), second && mine == a.end()};
}

std::shared_ptr<const Clock::Entries> Clock::merge(const Entries& a, const Entries& b) {
  auto merged = std::make_shared<Entries>();
  merged->reserve(a.size() + b.size());
  auto mine = a.begin(), theirs = b.begin();
  while (mine != a.end() && theirs != b.end()) {
    if (mine->key == theirs->key)
      merged->push_back({mine->key, std::max(mine++->token, theirs++->token)});
    else
      merged->push_back(mine->key < theirs->key ? *mine++ : *theirs++);
  }
  merged->insert(merged->end(), mine, a.end());
  merged->insert(merged->end(), theirs, b.end());
  return merged;
}

} // namespace kcheck::runtime
