// Order between whole operations: launches, copies and fills in streams, events, and the host that waits.
// Each operation has a token; device accesses of a launch carry later tokens, up to the next operation's.
#pragma once

#include "instrument/abi.h"
#include "instrument/runtime/core/host_threads.h"
#include "instrument/runtime/core/shadow.h"

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <set>

namespace kcheck::runtime {

struct Operation {
  Token token = 0;
  std::uint64_t stream = 0, sequence = 0;
  const abi::KernelEntry* kernel = nullptr; ///< null: a copy or fill, or a library's function
  void* caller = nullptr;
  const char* library = nullptr; ///< the function's name, which lives as long as the program
};

class Streams {
public:
  /// The next operation of the stream; it comes after the stream's earlier ones, what the stream has waited
  /// for, and all that the host has seen finished.
  const Operation& begin(std::uint64_t stream, Token token, const abi::KernelEntry* kernel, void* caller,
                         const char* library = nullptr);
  /// The current operation again if it is a copy or fill in the same stream that the host has not seen
  /// finished, and after which no event was recorded.
  const Operation* continued(std::uint64_t stream, void* caller) const;

  /// The current operation, which others may come between.
  struct Running {
    Operation operation;
    std::map<std::uint64_t, std::uint64_t> known;
  };
  Running running() const { return {operations.back(), current}; }
  /// It goes on: tokens from here on are its own again.
  void resume(const Running& running, Token token);
  /// It stops for others. `next` is the next token to be taken.
  void pause(Token next);
  /// Whether work of the second stream waits for what the first one has.
  bool waitFor(std::uint64_t first, std::uint64_t second) const;

  /// Tokens below come before the current operation.
  Token floor() const { return currentFloor; }
  /// Whether the operation that owns the token comes before the current one.
  bool before(Token token) const;
  /// Whether the calling thread of the host has waited for it, or heard that another has.
  bool beforeHost(Token token) const;
  /// Whether that operation comes before the current one.
  bool knowsOperation(std::uint64_t stream, std::uint64_t sequence) const {
    auto known = current.find(stream);
    return known != current.end() && known->second >= sequence;
  }
  const Operation* latest() const { return operations.empty() ? nullptr : &operations.back(); }
  /// Whether some thread of the host has waited for it.
  bool hostKnows(std::uint64_t stream, std::uint64_t sequence) const;
  /// Whether all that begins from now on comes after it, whichever thread of the host begins it.
  bool allKnow(std::uint64_t stream, std::uint64_t sequence) const;
  bool allKnow(Token token) const;
  /// Whether something runs that not every thread of the host knows to be finished.
  bool pending() const;
  /// Nothing has run but in the legacy default stream, and nothing can run beside that.
  bool onlyLegacy() const;
  /// Null when it is so old that it comes before everything.
  const Operation* operationOf(Token token) const;

  void created(std::uint64_t stream, bool blocking);
  /// Not a stream of the program's: a branch of a graph that runs in `whole`.
  void isBranch(std::uint64_t stream, std::uint64_t whole) { branches[stream] = whole; }
  /// Whether the operation and the current one are both in branches.
  bool bothInBranches(const Operation* operation) const;
  void synchronized(std::uint64_t stream);
  void deviceSynchronized();
  void recorded(std::uint64_t event, std::uint64_t stream);
  void waits(std::uint64_t stream, std::uint64_t event);
  void eventSynchronized(std::uint64_t event);
  /// Whether the calling thread of the host has waited for all work of the stream so far, and for that before
  /// the event.
  bool isWaitedFor(std::uint64_t stream) const;
  bool isEventWaitedFor(std::uint64_t event) const;
  /// All tokens are renewed: what was, comes before everything.
  void forget();

  /// Of the program's threads (host_threads.h). One that has no entry counts as knowing all that any has
  /// waited for. The new thread knows what `parent` does, or all without one.
  void enter(HostThread thread, HostThread parent);
  void leave(HostThread thread);
  /// The thread may have heard of everything that others have waited for until now.
  void learns(HostThread thread);
  /// Grows when some thread has waited for something.
  std::uint64_t waitsSoFar() const { return waited.load(std::memory_order_acquire); }

private:
  using Known =
      std::map<std::uint64_t, std::uint64_t>; ///< stream -> sequence number up to which all is known
  struct Stream {
    std::uint64_t sequence = 0;
    Known known;
  };
  static void join(Known& into, const Known& from);
  static bool knows(const Known& known, const Operation& operation);
  Known after(std::uint64_t stream) const;
  void hostWaitedFor(const Known& known);
  bool iKnow(const Known& known) const;
  const Known& mine() const;
  bool allKnow(const Operation& operation) const;
  void prune();

  std::map<std::uint64_t, Stream> streams;
  std::set<std::uint64_t> nonBlocking;
  std::map<std::uint64_t, std::uint64_t> branches; ///< and the stream that each is part of
  std::map<std::uint64_t, Known> events;
  Known host, current;             ///< `host`: what any of its threads has waited for
  std::map<HostThread, Known> own; ///< and what each that has entered knows of that
  std::atomic<std::uint64_t> waited{0};
  mutable std::mutex threads;       ///< several may wait at the same time
  std::deque<Operation> operations; ///< by token; those that the host knows are dropped from the front
  Token currentFloor = kFirstToken;
  bool closed = false; ///< an event has been recorded since the last operation
};

} // namespace kcheck::runtime
