// What a launch makes known to the host before it ends: its stores of system scope to memory that both see,
// and all that comes before them. A host that may have read such a word comes after that.
#pragma once

#include "instrument/runtime/core/clock.h"
#include "instrument/runtime/core/epochs.h"

#include <deque>
#include <mutex>
#include <unordered_map>

namespace kcheck::runtime {

/// Of the launch that runs now.
class PublishedWords {
public:
  static bool isForHost(Address at);
  void note(Address at, const Clock& clock) { words[at >> 2].join(clock); }
  bool empty() const { return words.empty(); }
  void clear() { words.clear(); }

private:
  friend class HostKnowledge;
  std::unordered_map<Address, Clock> words; ///< by address / 4; no clock: nothing but itself
};

/// What the host has learnt of launches that it has not waited for.
class HostKnowledge {
public:
  /// The launch has ended, the other one of which it is a rehearsal included, or the host goes on beside it.
  void add(PublishedWords& published, Token first, std::uint32_t threads, bool inCompany);
  /// The host accesses something there.
  void meet(Address begin, Address end);
  bool isPublished(Address at) const;
  /// Whether the launch that the token is of talks with the host.
  bool talks(Token token) const;
  /// Whether what has been done with the token comes before what the host does now.
  bool knows(Token token) const;
  /// The host has waited for everything, or tokens begin anew.
  void forget();

private:
  struct Launch {
    Token first, behind;
    std::uint32_t threads; ///< of a block
    Epochs epochs;
    std::unordered_map<Address, Clock> words;
    Clock known;
  };
  static bool isOf(const Launch& launch, Token token);
  static constexpr std::size_t kRemembered = 64;
  std::deque<Launch> launches;
  mutable std::mutex mutex;
};

} // namespace kcheck::runtime
