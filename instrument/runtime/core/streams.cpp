#include "instrument/runtime/core/streams.h"

#include <algorithm>

namespace kcheck::runtime {
namespace {
constexpr std::uint64_t kLegacy = 0;
/// Beyond this many unfinished operations the oldest count as ordered.
constexpr std::size_t kRemembered = 1 << 16;
/// As many of those that some thread of the host has waited for, and not every one knows of it.
constexpr std::size_t kRememberedForThreads = 1 << 10;
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
  const std::lock_guard lock(threads);
  prune();
  Stream& mine = streams[stream];
  join(mine.known, this->mine());
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
  const std::lock_guard lock(threads);
  const Operation* operation = operationOf(token);
  return !operation || knows(mine(), *operation);
}

bool Streams::pending() const {
  const std::lock_guard lock(threads);
  return std::ranges::any_of(operations, [&](const Operation& one) { return !allKnow(one); });
}

/// Drops operations from the front that everything from now on knows: those all threads of the host have seen
/// finished, and all when only one stream was ever used and cannot race with itself.
void Streams::prune() {
  bool oneStream = streams.size() == 1 && !nonBlocking.count(streams.begin()->first);
  auto isOld = [&](const Operation& operation) {
    if (operations.size() > kRemembered || (oneStream && operations.size() > 64)) return true;
    return knows(host, operation) && (operations.size() > kRememberedForThreads || allKnow(operation));
  };
  while (operations.size() > 1 && isOld(operations.front())) operations.pop_front();
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

/// What the operation that the calling thread begins comes after.
const Streams::Known& Streams::mine() const {
  auto found = own.find(thisHostThread());
  return found == own.end() ? host : found->second;
}

void Streams::hostWaitedFor(const Known& known) {
  join(host, known);
  if (auto found = own.find(thisHostThread()); found != own.end()) join(found->second, known);
  waited.fetch_add(1, std::memory_order_release);
}

bool Streams::allKnow(const Operation& operation) const {
  return knows(host, operation) &&
         std::ranges::all_of(own, [&](const auto& thread) { return knows(thread.second, operation); });
}

bool Streams::allKnow(std::uint64_t stream, std::uint64_t sequence) const {
  const std::lock_guard lock(threads);
  return allKnow(Operation{.stream = stream, .sequence = sequence});
}

bool Streams::allKnow(Token token) const {
  const std::lock_guard lock(threads);
  const Operation* operation = operationOf(token);
  return !operation || allKnow(*operation);
}

bool Streams::hostKnows(std::uint64_t stream, std::uint64_t sequence) const {
  const std::lock_guard lock(threads);
  return knows(host, Operation{.stream = stream, .sequence = sequence});
}

void Streams::enter(HostThread thread, HostThread parent) {
  const std::lock_guard lock(threads);
  auto found = own.find(parent);
  own[thread] = found == own.end() ? host : Known(found->second);
}

void Streams::leave(HostThread thread) {
  const std::lock_guard lock(threads);
  own.erase(thread);
}

void Streams::learns(HostThread thread) {
  const std::lock_guard lock(threads);
  if (auto found = own.find(thread); found != own.end()) found->second = host;
}

void Streams::synchronized(std::uint64_t stream) {
  const std::lock_guard lock(threads);
  hostWaitedFor(after(stream));
}

void Streams::deviceSynchronized() {
  const std::lock_guard lock(threads);
  for (auto& [stream, state] : streams) hostWaitedFor(after(stream));
}

void Streams::recorded(std::uint64_t event, std::uint64_t stream) {
  const std::lock_guard lock(threads);
  events[event] = after(stream);
  closed = true;
}

void Streams::waits(std::uint64_t stream, std::uint64_t event) {
  const std::lock_guard lock(threads);
  auto found = events.find(event);
  if (found != events.end()) join(streams[stream].known, found->second);
}

void Streams::eventSynchronized(std::uint64_t event) {
  const std::lock_guard lock(threads);
  auto found = events.find(event);
  if (found != events.end()) hostWaitedFor(found->second);
}

bool Streams::iKnow(const Known& known) const {
  return std::ranges::all_of(known, [&](const auto& reached) {
    return reached.second == 0 ||
           knows(mine(), Operation{.stream = reached.first, .sequence = reached.second});
  });
}

bool Streams::isWaitedFor(std::uint64_t stream) const {
  const std::lock_guard lock(threads);
  return iKnow(after(stream));
}

bool Streams::isEventWaitedFor(std::uint64_t event) const {
  const std::lock_guard lock(threads);
  auto found = events.find(event);
  return found == events.end() || iKnow(found->second);
}

void Streams::forget() {
  operations.clear();
  currentFloor = kFirstToken;
}

} // namespace kcheck::runtime
