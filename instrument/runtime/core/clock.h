// What a thread knows of others: for threads and whole blocks, up to which token their accesses come before
// everything that the thread does from now on. Sparse and shared: most threads know nothing beyond their
// barriers, and threads that learn the same thing hold the same table.
#pragma once

#include "instrument/runtime/core/shadow.h"

#include <memory>
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

  bool empty() const { return !entries; }
  void clear() { entries.reset(); }
  Token at(std::uint64_t key) const;
  bool covers(std::uint64_t block, std::uint32_t thread, Token token) const {
    return entries && (at(blockKey(block)) >= token || at(threadKey(block, thread)) >= token);
  }
  void raise(std::uint64_t key, Token token);
  void join(const Clock& other);
  std::size_t size() const { return entries ? entries->size() : 0; }
  bool sharesTableWith(const Clock& other) const { return entries == other.entries; }

private:
  struct Entry {
    std::uint64_t key;
    Token token;
  };
  using Entries = std::vector<Entry>; ///< by key
  static Entries::const_iterator place(const Entries& entries, std::uint64_t key);
  static std::pair<bool, bool> compare(const Entries& a, const Entries& b);
  static std::shared_ptr<const Entries> merge(const Entries& a, const Entries& b);
  std::shared_ptr<const Entries> entries;
};

} // namespace kcheck::runtime
