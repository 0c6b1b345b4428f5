#include "instrument/runtime/core/clock.h"

#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/vectors.h"

#include <algorithm>
#include <array>
#include <vector>

namespace kcheck::runtime {
namespace {

constexpr unsigned kBits = 6;               ///< of a key, for each level of the tree
constexpr std::uint64_t kCostOfTokens = 16; ///< to compare them, in parts of a branch

/// Of neighbouring threads of a block, or of words, by the last bits of the key. 0: nothing is known.
using Tokens = std::array<Token, 1u << kBits>;

/// By the bits of the key from `shift` on, what the lower ones lead to.
template <class Child, unsigned shift> struct Branch {
  struct Part {
    std::uint64_t group;
    std::shared_ptr<const Child> child;
  };
  std::vector<Part> parts; ///< by group

  static std::uint64_t groupOf(std::uint64_t key) { return key >> shift; }
  auto place(std::uint64_t group) const { return std::ranges::lower_bound(parts, group, {}, &Part::group); }
};
/// Some words, or threads of a block; a block; blocks; all.
using Block = Branch<Tokens, kBits>;
using Blocks = Branch<Block, 2 * kBits>;
using All = Branch<Blocks, 3 * kBits>;

std::size_t indexOf(std::uint64_t key) { return key & ((1u << kBits) - 1); }

Token at(const Tokens& tokens, std::uint64_t key) { return tokens[indexOf(key)]; }
template <class Child, unsigned shift> Token at(const Branch<Child, shift>& branch, std::uint64_t key) {
  const auto part = branch.place(branch.groupOf(key));
  return part != branch.parts.end() && part->group == branch.groupOf(key) ? at(*part->child, key) : 0;
}

void raise(Tokens& tokens, const Clock::Entry& entry) {
  Token& token = tokens[indexOf(entry.key)];
  token = std::max(token, entry.token);
}
template <class Child, unsigned shift> void raise(Branch<Child, shift>& branch, const Clock::Entry& entry) {
  const std::uint64_t group = branch.groupOf(entry.key);
  auto part = branch.parts.begin() + (branch.place(group) - branch.parts.cbegin());
  if (part == branch.parts.end() || part->group != group)
    part = branch.parts.insert(part, {group, std::make_shared<const Child>()});
  auto child = std::make_shared<Child>(*part->child);
  raise(*child, entry);
  part->child = std::move(child);
}

/// Whether each of two says all that the other one says.
struct Covering {
  bool first, second;
};

KCHECK_VECTORS Covering compareTokens(const Token* a, const Token* b) {
  std::uint32_t less = 0, more = 0;
  for (std::uint32_t i = 0; i < 1u << kBits; ++i) {
    less |= a[i] < b[i];
    more |= a[i] > b[i];
  }
  return {!less, !more};
}

KCHECK_VECTORS void takeLatest(const Token* a, const Token* b, Token* to) {
  for (std::uint32_t i = 0; i < 1u << kBits; ++i) to[i] = std::max(a[i], b[i]);
}

Covering compare(const Tokens& a, const Tokens& b) {
  context().clockEntries += kCostOfTokens;
  return compareTokens(a.data(), b.data());
}
template <class Child, unsigned shift>
Covering compare(const Branch<Child, shift>& a, const Branch<Child, shift>& b) {
  context().clockEntries += a.parts.size() + b.parts.size();
  bool first = a.parts.size() >= b.parts.size(), second = b.parts.size() >= a.parts.size();
  auto mine = a.parts.begin(), theirs = b.parts.begin();
  while ((first || second) && mine != a.parts.end() && theirs != b.parts.end()) {
    if (mine->group != theirs->group) {
      const bool before = mine->group < theirs->group;
      (before ? second : first) = false;
      (before ? mine : theirs)++;
      continue;
    }
    if (mine->child != theirs->child) {
      const Covering covering = compare(*mine->child, *theirs->child);
      first &= covering.first;
      second &= covering.second;
    }
    ++mine, ++theirs;
  }
  return {first && theirs == b.parts.end(), second && mine == a.parts.end()};
}

using OneOfTokens = std::shared_ptr<const Tokens>;
OneOfTokens joined(const OneOfTokens& a, const OneOfTokens& b) {
  if (a == b) return a;
  const Covering covering = compareTokens(a->data(), b->data());
  if (covering.first || covering.second) return covering.first ? a : b;
  auto tokens = std::make_shared<Tokens>();
  takeLatest(a->data(), b->data(), tokens->data());
  return tokens;
}
template <class Child, unsigned shift>
std::shared_ptr<const Branch<Child, shift>> joined(const std::shared_ptr<const Branch<Child, shift>>& a,
                                                   const std::shared_ptr<const Branch<Child, shift>>& b);

/// Writes what both say to `made`, and tells which of the two says as much.
template <class Child, unsigned shift>
Covering merge(const Branch<Child, shift>& a, const Branch<Child, shift>& b, Branch<Child, shift>& made) {
  auto& parts = made.parts;
  parts.reserve(std::max(a.parts.size(), b.parts.size()) + 1);
  auto mine = a.parts.begin(), theirs = b.parts.begin();
  bool first = true, second = true;
  while (mine != a.parts.end() && theirs != b.parts.end()) {
    if (mine->group == theirs->group) {
      parts.push_back({mine->group, joined(mine->child, theirs->child)});
      first &= parts.back().child == mine++->child;
      second &= parts.back().child == theirs++->child;
    } else {
      const bool before = mine->group < theirs->group;
      (before ? second : first) = false;
      parts.push_back(before ? *mine++ : *theirs++);
    }
  }
  const Covering covering{first && theirs == b.parts.end(), second && mine == a.parts.end()};
  parts.insert(parts.end(), mine, a.parts.end());
  parts.insert(parts.end(), theirs, b.parts.end());
  return covering;
}

template <class Child, unsigned shift>
std::shared_ptr<const Branch<Child, shift>> joined(const std::shared_ptr<const Branch<Child, shift>>& a,
                                                   const std::shared_ptr<const Branch<Child, shift>>& b) {
  if (a == b) return a;
  auto made = std::make_shared<Branch<Child, shift>>();
  const Covering covering = merge(*a, *b, *made);
  return covering.first ? a : covering.second ? b : made;
}

} // namespace

struct Clock::Table : All {};

Token Clock::at(std::uint64_t key) const { return table ? runtime::at(*table, key) : 0; }

void Clock::raise(std::span<const Entry> entries) {
  if (std::ranges::all_of(entries, [&](const Entry& entry) { return at(entry.key) >= entry.token; })) return;
  auto changed = table ? std::make_shared<Table>(*table) : std::make_shared<Table>();
  for (const Entry& entry : entries) runtime::raise(*changed, entry);
  table = std::move(changed);
}

void Clock::join(const Clock& other) {
  if (!other.table || table == other.table) return;
  if (!table) {
    table = other.table;
    return;
  }
  const Covering covering = compare(*table, *other.table);
  if (covering.first) return;
  if (covering.second) {
    table = other.table;
    return;
  }
  auto made = std::make_shared<Table>();
  merge(*table, *other.table, *made);
  table = std::move(made);
}

} // namespace kcheck::runtime
