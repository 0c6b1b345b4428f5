#include "instrument/runtime/core/events.h"

#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/log.h"
#include "instrument/runtime/core/share.h"
#include "instrument/runtime/core/state.h"

#include <cstring>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>

namespace kcheck::runtime {
namespace {

/// What makes two findings the same one.
using Key = std::tuple<wire::Rule, wire::TextRef, std::uint32_t, std::uint32_t, std::uint64_t, std::uint64_t,
                       wire::TextRef>;

struct Known {
  std::mutex mutex;
  std::map<Key, wire::Finding*> findings;
  std::unordered_map<std::string, wire::TextRef> texts;
  std::set<std::uint32_t> sites;
};

Known& known() {
  static Known* instance = new Known;
  return *instance;
}

bool isRace(wire::Rule rule) { return rule <= wire::Rule::RaceHost; }

/// A pair of sites is one finding, whether its threads are of one warp or further apart.
bool isPlainRace(wire::Rule rule) { return rule <= wire::Rule::RaceWarp; }

Key keyOf(const wire::Finding& finding) {
  std::uint32_t first = finding.accessCount > 0 ? finding.access[0].site : wire::kNoSite;
  std::uint32_t second = finding.accessCount > 1 ? finding.access[1].site : wire::kNoSite;
  if (isRace(finding.rule) && second < first) std::swap(first, second);
  if (finding.rule == wire::Rule::BarrierDivergence) second = wire::kNoSite; // one per barrier that is missed
  // Device findings are told apart by their sites, host findings by the place of the call and the memory.
  bool host = first == wire::kNoSite;
  wire::Rule rule = isPlainRace(finding.rule) ? wire::Rule::RaceGlobal : finding.rule;
  std::uint64_t allocation = finding.rule == wire::Rule::Leak ? finding.memory.allocatedBy : 0;
  return {rule,       finding.kernel,         first, second, host ? finding.caller : 0,
          allocation, host ? finding.text : 0};
}

/// Found before the rehearsal that is under way.
bool isKnown(const wire::Finding& finding) {
  std::lock_guard lock(known().mutex);
  auto place = known().findings.find(keyOf(finding));
  return place != known().findings.end() && place->second && !(place->second->flags & wire::Rehearsed);
}

void copyWithoutHead(wire::Finding& to, const wire::Finding& from) {
  wire::Record head = to.head;
  to = from;
  to.head = head;
}

/// The witness whose threads are furthest apart says most.
void widen(wire::Finding& logged, const wire::Finding& seen) {
  if (!isPlainRace(seen.rule) || seen.nearness <= logged.nearness) return;
  std::uint64_t count = logged.count;
  std::uint8_t flags = logged.flags;
  copyWithoutHead(logged, seen);
  logged.count = count;
  logged.flags |= flags;
}

} // namespace

wire::Finding emptyFinding(wire::Rule rule) {
  wire::Finding finding{};
  finding.rule = rule;
  for (wire::Access& access : finding.access) {
    access.site = wire::kNoSite;
    access.doing = wire::Doing::None;
  }
  return finding;
}

void describeMemory(wire::Memory& memory, const void* address, std::uint32_t bytes) {
  memory.address = reinterpret_cast<std::uint64_t>(address);
  memory.bytes = bytes;
  const Allocation* allocation = find(address);
  if (!allocation) {
    memory.flags |= wire::NoAllocation;
    if (const char* symbol = symbolOfHostCopy(address)) {
      memory.flags |= wire::HostCopy;
      memory.name = text(symbol);
    }
    return;
  }
  memory.space = static_cast<std::uint8_t>(allocation->kind == MemoryKind::Constant ? MemorySpace::Constant
                                                                                    : MemorySpace::Global);
  memory.kind = static_cast<std::uint16_t>(allocation->kind);
  memory.flags |= wire::HasSize | wire::HasOffset | (allocation->live ? 0 : wire::Freed);
  memory.size = allocation->bytes;
  memory.offset = static_cast<const std::byte*>(address) - static_cast<const std::byte*>(allocation->base);
  memory.allocatedBy = reinterpret_cast<std::uint64_t>(allocation->allocatedAt);
  memory.freedBy = reinterpret_cast<std::uint64_t>(allocation->freedAt);
  if (allocation->name) memory.name = text(allocation->name);
}

wire::TextRef text(const char* string) {
  if (!string || !*string) return 0;
  std::lock_guard lock(known().mutex);
  auto [place, fresh] = known().texts.try_emplace(string, 0);
  if (fresh) place->second = log().addText(string);
  return place->second;
}

void describeSite(std::uint32_t number) {
  const abi::SiteInfo* info = context().site(number);
  if (!info) return;
  {
    std::lock_guard lock(known().mutex);
    if (!known().sites.insert(number).second) return;
  }
  wire::TextRef file = text(info->file);
  auto* site = log().reserve<wire::Site>();
  if (!site) return;
  site->site = number;
  site->kind = static_cast<std::uint8_t>(info->kind);
  site->space = info->space;
  site->flags = info->flags;
  site->bytes = info->bytes;
  site->file = file;
  site->line = info->line;
  site->column = info->column;
  Log::complete(site->head, wire::RecordKind::Site);
}

wire::Finding* report(const wire::Finding& finding) {
  if (Share* share = shareOfThread()) share->leave();
  const LaunchState* running = context().launch;
  bool again = running && running->rehearsal;
  const bool isOfOrder = finding.rule <= wire::Rule::RaceScope || finding.rule == wire::Rule::Hang ||
                         finding.rule == wire::Rule::BarrierDivergence;
  if (again && (!isOfOrder || isKnown(finding))) return nullptr;
  for (unsigned i = 0; i < finding.accessCount; ++i)
    if (finding.access[i].site != wire::kNoSite) describeSite(finding.access[i].site);
  std::lock_guard lock(known().mutex);
  wire::Finding*& place = known().findings[keyOf(finding)];
  if (!place) {
    place = log().reserve<wire::Finding>();
    if (!place) return nullptr;
    copyWithoutHead(*place, finding);
    if (again) place->flags |= wire::Rehearsed;
    Log::complete(place->head, wire::RecordKind::Finding);
    log().header().findings.fetch_add(1, std::memory_order_relaxed);
  } else {
    if (again) { // how often says nothing: threads wait for each other there
      widen(*place, finding);
      return place;
    }
    if (place->flags & wire::Withdrawn) copyWithoutHead(*place, finding);
    if (finding.rule == wire::Rule::UninitializedRead) // what weighs most
      place->numbers[0] = std::min(place->numbers[0], finding.numbers[0]);
    place->flags &= static_cast<std::uint8_t>(~wire::Rehearsed);
    widen(*place, finding);
  }
  std::atomic_ref(place->count).fetch_add(1, std::memory_order_relaxed);
  return place;
}

void* devicePlace(std::uint32_t site) {
  describeSite(site);
  return reinterpret_cast<void*>(wire::kDevicePlace | site);
}

void reportHostEvent(const HostEvent& event) {
  wire::Finding finding = emptyFinding(event.rule);
  finding.caller = reinterpret_cast<std::uint64_t>(event.caller);
  finding.kernel = text(event.kernel);
  finding.text = text(event.message);
  finding.hint = text(event.hint);
  if (event.isOfCall) finding.flags |= wire::OfCall;
  if (event.pointer) describeMemory(finding.memory, event.pointer, static_cast<std::uint32_t>(event.bytes));
  report(finding);
}

void reportLeaks() {
  if (context().fault != DeviceFault::None) return; // the context is lost: nothing can be freed any more
  std::vector<Allocation> left;
  {
    std::lock_guard lock(context().mutex);
    context().allocations.forEach([&](const Allocation& allocation) {
      if (allocation.live && !allocation.name) // variables live as long as the program
        left.push_back(allocation);
    });
  }
  for (const Allocation& allocation : left) {
    wire::Finding finding = emptyFinding(wire::Rule::Leak);
    describeMemory(finding.memory, allocation.base, 0);
    finding.caller = finding.memory.allocatedBy;
    if (wire::Finding* logged = report(finding)) logged->numbers[0] += allocation.bytes;
  }
}

/// How many of the bytes from `at` on nobody has written.
static std::size_t unwrittenFrom(const std::byte* from, std::size_t bytes, std::size_t at) {
  std::size_t missing = 0;
  while ((at += firstUnwritten(from + at, bytes - at)) < bytes) ++missing, ++at;
  return missing;
}

void reportUnwritten(const void* pointer, std::size_t bytes, std::size_t first, void* caller) {
  wire::Finding finding = emptyFinding(wire::Rule::UnwrittenOutput);
  finding.caller = reinterpret_cast<std::uint64_t>(caller);
  finding.numbers[0] = first;
  finding.numbers[1] = bytes;
  describeMemory(finding.memory, static_cast<const std::byte*>(pointer) + first,
                 unwrittenFrom(static_cast<const std::byte*>(pointer), bytes, first));
  report(finding);
}

void noteEnd() { log().header().ended = 1; }

} // namespace kcheck::runtime
