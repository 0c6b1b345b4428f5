#include "instrument/runtime/core/stream_memory.h"

#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/events.h"
#include "instrument/runtime/core/race.h"

#include <cstring>
#include <optional>

namespace kcheck::runtime {

namespace {

/// A use that the launch has left in the shadow.
struct Used {
  bool writes;
  std::uint16_t site;
};

std::optional<Used> usedIn(LaunchState& launch, const Cell& cell, const CellSites& sites) {
  if (!isReserved(cell.write) && cell.write >= launch.began) return Used{true, sites.write};
  const bool isRead =
      isReadSet(cell.read) ? readSetOf(launch, cell.read) != nullptr : cell.read >= launch.began;
  if (isRead) return Used{false, sites.read};
  return std::nullopt;
}

/// The first place that the launch has used.
void checkArray(LaunchState& launch, const Allocation& array) {
  const auto begin = reinterpret_cast<Address>(array.base), end = begin + array.bytes;
  for (Address at = begin; at < end; at += 4) {
    const Line& line = lineOf(at);
    std::optional<Used> used;
    if (line.closed) {
      used = usedIn(launch, {line.write, line.read}, line.sites);
      if (!used) at |= kLineBytes - 4;
    } else if (const Cell& cell = openCellOf(at); cell.write == kBytes) {
      for (unsigned byte = 0; byte < 4 && !used; ++byte)
        used = usedIn(launch, byteCells(cell).cell[byte], byteCells(cell).sites[byte]);
    } else {
      used = usedIn(launch, cell, sitesOf(at));
    }
    if (!used) continue;
    wire::Access use{};
    use.site = used->site == kWideSite ? wire::kNoSite : used->site;
    use.doing = used->writes ? wire::Doing::Write : wire::Doing::Read;
    return reportBeforeAllocation(at, use, launch.kernel->displayName);
  }
}

} // namespace

bool comesAfterItsAllocation(const Allocation& array) {
  return !array.sequence || context().streams.knowsOperation(array.stream, array.sequence);
}

void reportBeforeAllocation(Address at, const wire::Access& use, const char* kernel) {
  wire::Finding finding = emptyFinding(wire::Rule::RaceHost);
  finding.nearness = wire::Nearness::Host;
  finding.accessCount = 1;
  finding.access[0] = use;
  finding.caller = use.caller;
  finding.text = text("allocates");
  finding.kernel = text(kernel);
  describeMemory(finding.memory, reinterpret_cast<void*>(at), 1);
  report(finding);
}

void checkArraysAllocated(LaunchState& launch) {
  if (launch.inCompany || !context().options.races || context().streams.onlyLegacy()) return;
  for (std::uint32_t offset = 0; offset + sizeof(Address) <= launch.kernel->argumentBytes;
       offset += sizeof(Address)) {
    Address pointer = 0;
    std::memcpy(&pointer, static_cast<const std::byte*>(launch.arguments) + offset, sizeof pointer);
    if (!inArena(pointer) || inShared(pointer)) continue;
    const Allocation* array = context().allocations.nearest(pointer);
    if (array && array->live && !comesAfterItsAllocation(*array)) checkArray(launch, *array);
  }
}

} // namespace kcheck::runtime
