#include "instrument/runtime/core/clock.h"

#include "instrument/runtime/core/context.h"

#include <algorithm>

namespace kcheck::runtime {

Clock::Table::const_iterator Clock::place(const Table& parts, std::uint64_t group) {
  return std::ranges::lower_bound(parts, group, {}, &Part::group);
}

Token Clock::at(std::uint64_t key) const {
  if (!table) return 0;
  auto part = place(*table, groupOf(key));
  if (part == table->end() || part->group != groupOf(key)) return 0;
  auto found = std::ranges::lower_bound(*part->entries, key, {}, &Entry::key);
  return found != part->entries->end() && found->key == key ? found->token : 0;
}

void Clock::raise(std::span<const Entry> entries) {
  if (std::ranges::all_of(entries, [&](const Entry& entry) { return at(entry.key) >= entry.token; })) return;
  const std::uint64_t group = groupOf(entries.front().key);
  auto changed = std::make_shared<Table>();
  if (table) {
    changed->reserve(table->size() + 1);
    *changed = *table;
  }
  auto part = changed->begin() + (place(*changed, group) - changed->cbegin());
  if (part != changed->end() && part->group == group)
    part->entries = merge(*part->entries, entries);
  else
    changed->insert(part, {group, merge({}, entries)});
  table = std::move(changed);
}

void Clock::join(const Clock& other) {
  if (!other.table || table == other.table) return;
  if (!table) {
    table = other.table;
    return;
  }
  context().clockEntries += table->size() + other.table->size();
  auto [mineSuffices, othersSuffice] = compare(*table, *other.table);
  if (mineSuffices) return;
  table = othersSuffice ? other.table : merge(*table, *other.table);
}

/// Whether each of two lists says all that the other one says.
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

std::pair<bool, bool> Clock::compare(const Table& a, const Table& b) {
  bool first = a.size() >= b.size(), second = b.size() >= a.size();
  auto mine = a.begin(), theirs = b.begin();
  while ((first || second) && mine != a.end() && theirs != b.end()) {
    if (mine->group != theirs->group) {
      const bool before = mine->group < theirs->group;
      (before ? second : first) = false;
      (before ? mine : theirs)++;
      continue;
    }
    if (mine->entries != theirs->entries) {
      context().clockEntries += mine->entries->size() + theirs->entries->size();
      auto [mineSuffices, othersSuffice] = compare(*mine->entries, *theirs->entries);
      first &= mineSuffices;
      second &= othersSuffice;
    }
    ++mine, ++theirs;
  }
  return {first && theirs == b.end(), second && mine == a.end()};
}

std::shared_ptr<const Clock::Entries> Clock::merge(std::span<const Entry> a, std::span<const Entry> b) {
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

std::shared_ptr<const Clock::Table> Clock::merge(const Table& a, const Table& b) {
  auto merged = std::make_shared<Table>();
  merged->reserve(std::max(a.size(), b.size()) + 1);
  auto mine = a.begin(), theirs = b.begin();
  while (mine != a.end() && theirs != b.end()) {
    if (mine->group != theirs->group) {
      merged->push_back(mine->group < theirs->group ? *mine++ : *theirs++);
      continue;
    }
    if (mine->entries == theirs->entries) {
      merged->push_back(*mine);
    } else {
      auto [mineSuffices, othersSuffice] = compare(*mine->entries, *theirs->entries);
      merged->push_back(mineSuffices    ? *mine
                        : othersSuffice ? *theirs
                                        : Part{mine->group, merge(*mine->entries, *theirs->entries)});
    }
    ++mine, ++theirs;
  }
  merged->insert(merged->end(), mine, a.end());
  merged->insert(merged->end(), theirs, b.end());
  return merged;
}

} // namespace kcheck::runtime
