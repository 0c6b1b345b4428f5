#include "instrument/runtime/api/round_trips.h"

#include "instrument/runtime/core/events.h"
#include "instrument/runtime/core/host_guard.h"
#include "instrument/runtime/core/memory.h"

#include <cstring>
#include <map>
#include <vector>

namespace kcheck::runtime::api {

namespace {

/// Smaller copies are counters and sizes: what they cost is the call.
constexpr std::size_t kLeast = 256;

struct ArrivedCopy {
  const std::byte* from;
  std::size_t bytes;
  std::uint64_t allocation; ///< that `from` lies in
  void* caller;
};

/// All under the lock of those who perform work.
struct Trips {
  std::map<const std::byte*, ArrivedCopy> arrived; ///< by place in host memory; they do not overlap
  std::vector<wire::Finding> returned;             ///< told when another kernel follows
  bool anyKernel = false;
};
Trips& trips() {
  static auto* all = new Trips;
  return *all;
}

std::uint64_t liveAllocation(const std::byte* address) {
  const Allocation* found = find(address);
  return found && found->live ? found->id : 0;
}

/// The copy that has brought all of the range to the host.
const ArrivedCopy* arrivalOf(const std::byte* at, std::size_t bytes, std::size_t& offset) {
  auto after = trips().arrived.upper_bound(at);
  if (after == trips().arrived.begin()) return nullptr;
  const auto& [start, copy] = *std::prev(after);
  offset = static_cast<std::size_t>(at - start);
  return offset <= copy.bytes && bytes <= copy.bytes - offset ? &copy : nullptr;
}

/// The same few bytes again and again, zeros for one: the host may well have written them anew.
bool isMonotonous(const std::byte* host, std::size_t bytes) {
  constexpr std::size_t period = 16;
  return std::memcmp(host, host + period, bytes - period) == 0;
}

bool sameContent(const std::byte* device, const std::byte* host, std::size_t bytes) {
  DeviceAccess access;
  return std::memcmp(device, host, bytes) == 0;
}

} // namespace

void noteCopyToHost(const std::byte* to, const std::byte* from, std::size_t bytes, void* caller) {
  auto& arrived = trips().arrived;
  auto at = arrived.lower_bound(to);
  if (at != arrived.begin() && std::prev(at)->first + std::prev(at)->second.bytes > to) --at;
  while (at != arrived.end() && at->first < to + bytes) at = arrived.erase(at);
  if (trips().anyKernel && bytes >= kLeast) arrived[to] = {from, bytes, liveAllocation(from), caller};
}

void noteCopyToDevice(const std::byte* from, std::size_t bytes, void* caller) {
  std::size_t offset = 0;
  const ArrivedCopy* copy = bytes >= kLeast ? arrivalOf(from, bytes, offset) : nullptr;
  if (!copy || !copy->allocation || liveAllocation(copy->from) != copy->allocation) return;
  if (!sameContent(copy->from + offset, from, bytes) || isMonotonous(from, bytes)) return;
  wire::Finding finding = emptyFinding(wire::Rule::RedundantTransfer);
  finding.caller = reinterpret_cast<std::uint64_t>(caller);
  finding.numbers[0] = bytes;
  finding.numbers[1] = reinterpret_cast<std::uint64_t>(copy->caller);
  trips().returned.push_back(finding);
}

void noteKernel() {
  trips().anyKernel = true;
  for (const wire::Finding& finding : trips().returned) report(finding);
  trips().returned.clear();
}

} // namespace kcheck::runtime::api
