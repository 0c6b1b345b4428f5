#include "instrument/runtime/core/streams.h"

#include <algorithm>

namespace kcheck::runtime {
namespace {
constexpr std::uint64_t kLegacy = 0;
/// Beyond this many unfinished operations the oldest count as ordered.
constexpr std::size_t kRemembered = 1 << 16;
} // namespace

void Streams::join(Known& into, const Known& from) {
  for (auto [stream, sequence] : from) into[stream] = std::max(into[stream], sequence);
}

bool Streams::knows(const Known& known, const Operation& operation) {
  auto found = known.find(operation.stream);
  return found != known.end() && found->second >= operation.sequence;
}

/// What somebody knows who has waited for the stream's last operation.
Streams::Known Streams::after(std::uint64_t stream) const {
  auto found = streams.find(stream);
  if (found == streams.end()) return {};
  Known known = found->second.known;
  known[stream] = found->second.sequence;
  return known;
}

const Operation& Streams::begin(std::uint64_t stream, Token token, const abi::KernelEntry* kernel,
                                void* caller, const char* library) {
  prune();
  Stream& mine = streams[stream];
  join(mine.known, host);
  // The legacy default stream and the blocking streams wait for each other.
  if (stream == kLegacy) {
    for (auto& [other, state] : streams)
      if (other != kLegacy && !nonBlocking.count(other)) join(mine.known, after(other));
  } else if (!nonBlocking.count(stream)) {
    join(mine.known, after(kLegacy));
  }
  current = after(stream);
  mine.sequence++;
  operations.push_back({token, stream, mine.sequence, kernel, caller, library});
  currentFloor = token;
  closed = false;
  for (const Operation& operation : operations)
    if (!knows(current, operation)) {
      currentFloor = operation.token;
      break;
    }
  return operations.back();
}

const Operation* Streams::continued(std::uint64_t stream, void* caller) const {
  if (operations.empty() || closed) return nullptr;
  const Operation& last = operations.back();
  return last.stream == stream && !last.kernel && last.caller == caller && !knows(host, last) ? &last
                                                                                              : nullptr;
}

const Operation* Streams::operationOf(Token token) const {
  auto after =
      std::upper_bound(operations.begin(), operations.end(), token,
                       [](Token wanted, const Operation& operation) { return wanted < operation.token; });
  return after == operations.begin() ? nullptr : &*(after - 1);
}

bool Streams::before(Token token) const {
  const Operation* operation = operationOf(token);
  bool itself = operation && operation->stream == operations.back().stream &&
                operation->sequence == operations.back().sequence;
  return !operation || itself || knows(current, *operation);
}

bool Streams::beforeHost(Token token) const {
  const Operation* operation = operationOf(token);
  return !operation || knows(host, *operation);
}

/// Drops operations from the front that everything from now on knows: those the host has seen finished, and
/// all when only one stream was ever used and cannot race with itself.
void Streams::prune() {
  bool oneStream = streams.size() == 1 && !nonBlocking.count(streams.begin()->first);
  while (operations.size() > 1 && (knows(host, operations.front()) || operations.size() > kRemembered ||
                                   (oneStream && operations.size() > 64)))
    operations.pop_front();
}

void Streams::resume(const Running& running, Token token) {
  current = running.known;
  operations.push_back(running.operation);
  operations.back().token = token;
  closed = true;
}

void Streams::pause(Token next) {
  if (operations.size() > 1 && operations.back().token == next) operations.pop_back(); // it took none
  closed = true;
}

bool Streams::waitFor(std::uint64_t first, std::uint64_t second) const {
  for (auto branch = branches.find(first); branch != branches.end(); branch = branches.find(first))
    first = branch->second;
  return first == second || (first == kLegacy && !nonBlocking.count(second)) ||
         (second == kLegacy && !nonBlocking.count(first));
}

bool Streams::onlyLegacy() const {
  return streams.size() == 1 && streams.contains(kLegacy) && nonBlocking.empty();
}

void Streams::created(std::uint64_t stream, bool blocking) {
  if (blocking)
    nonBlocking.erase(stream);
  else
    nonBlocking.insert(stream);
}

bool Streams::bothInBranches(const Operation* operation) const {
  return operation && branches.contains(operation->stream) && !operations.empty() &&
         branches.contains(operations.back().stream);
}

void Streams::synchronized(std::uint64_t stream) { join(host, after(stream)); }

void Streams::deviceSynchronized() {
  for (auto& [stream, state] : streams) join(host, after(stream));
}

void Streams::recorded(std::uint64_t event, std::uint64_t stream) {
  events[event] = after(stream);
  closed = true;
}

void Streams::waits(std::uint64_t stream, std::uint64_t event) {
  auto found = events.find(event);
  if (found != events.end()) join(streams[stream].known, found->second);
}

void Streams::eventSynchronized(std::uint64_t event) {
  auto found = events.find(event);
  if (found != events.end()) join(host, found->second);
}

void Streams::forget() {
  operations.clear();
  currentFloor = kFirstToken;
}

} // namespace kcheck::runtime
