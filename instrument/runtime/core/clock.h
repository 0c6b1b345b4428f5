// What a thread knows of others: for threads and whole blocks, up to which token their accesses come before
// everything that the thread does from now on. Sparse and shared: most threads know nothing beyond their
// barriers, and threads that learn the same thing hold the same table. Tables that differ share what they say
// of a block, so that a chain of blocks costs each of them no more than the number of its predecessors.
#pragma once

#include "instrument/runtime/core/shadow.h"

#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace kcheck::runtime {

class Clock {
public:
  /// Everything that `thread` of `block` did up to its token. Copies of a thread count as threads too
  /// (kCopies).
  static std::uint64_t threadKey(std::uint64_t block, std::uint32_t thread) {
    return block << 12 | (thread + 1);
  }
  /// Everything that the block did up to the token.
  static std::uint64_t blockKey(std::uint64_t block) { return block << 12; }
  /// The atomic operations on one word that had happened when the token counter stood at the token.
  static std::uint64_t wordKey(Address address) { return std::uint64_t{1} << 63 | address >> 2; }

  struct Entry {
    std::uint64_t key;
    Token token;
  };

  bool empty() const { return !table; }
  void clear() { table.reset(); }
  Token at(std::uint64_t key) const;
  bool covers(std::uint64_t block, std::uint32_t thread, Token token) const {
    return table && (at(blockKey(block)) >= token || at(threadKey(block, thread)) >= token);
  }
  void raise(std::uint64_t key, Token token) { raise({{key, token}}); }
  /// All of one block, or of one word, by key.
  void raise(std::span<const Entry> entries);
  void raise(std::initializer_list<Entry> entries) { raise(std::span(entries.begin(), entries.size())); }
  void join(const Clock& other);
  bool sharesTableWith(const Clock& other) const { return table == other.table; }

private:
  using Entries = std::vector<Entry>; ///< by key
  struct Part {
    std::uint64_t group;
    std::shared_ptr<const Entries> entries;
  };
  using Table = std::vector<Part>; ///< by group

  /// Blocks, and words that are near each other.
  static std::uint64_t groupOf(std::uint64_t key) { return key >> (key >> 63 ? 6 : 12); }
  static Table::const_iterator place(const Table& parts, std::uint64_t group);
  static std::pair<bool, bool> compare(const Entries& a, const Entries& b);
  static std::pair<bool, bool> compare(const Table& a, const Table& b);
  static std::shared_ptr<const Entries> merge(std::span<const Entry> a, std::span<const Entry> b);
  static std::shared_ptr<const Table> merge(const Table& a, const Table& b);
  std::shared_ptr<const Table> table;
};

} // namespace kcheck::runtime
