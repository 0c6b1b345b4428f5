// What a thread knows of others: for threads and whole blocks, up to which token their accesses come before
// everything that the thread does from now on. Sparse and shared: most threads know nothing beyond their
// barriers, and threads that learn the same thing hold the same table. A table is a tree by parts of the key,
// and tables that differ share those of its branches that do not: a chain of blocks, or of flags, costs each
// of them what is new to it.
#pragma once

#include "instrument/runtime/core/shadow.h"

#include <initializer_list>
#include <memory>
#include <span>

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
  void raise(std::span<const Entry> entries);
  void raise(std::initializer_list<Entry> entries) { raise(std::span(entries.begin(), entries.size())); }
  void join(const Clock& other);
  bool sharesTableWith(const Clock& other) const { return table == other.table; }

  struct Table;

private:
  std::shared_ptr<const Table> table;
};

} // namespace kcheck::runtime
