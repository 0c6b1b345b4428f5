#include "instrument/runtime/core/host_accesses.h"

#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/events.h"

#include <algorithm>

#include <link.h>

namespace kcheck::runtime {
namespace {

/// The program's own code; its libraries (memcpy) are left alone, for the runtime calls them too.
bool inProgram(Address pc) {
  struct Search {
    Address pc;
    bool found;
  } search{pc, false};
  dl_iterate_phdr(
      [](dl_phdr_info* image, std::size_t, void* data) { // the first is the program itself
        auto* search = static_cast<Search*>(data);
        for (int i = 0; i < image->dlpi_phnum; ++i) {
          const auto& part = image->dlpi_phdr[i];
          if (part.p_type == PT_LOAD && (part.p_flags & PF_X) &&
              search->pc - (image->dlpi_addr + part.p_vaddr) < part.p_memsz)
            search->found = true;
        }
        return 1;
      },
      &search);
  return search.found;
}

void reportDeviceMemory(Address address, Address pc, bool writes) {
  // Variables may be __managed__; the device module does not tell.
  const Allocation* owner = find(reinterpret_cast<void*>(address));
  if (owner && owner->kind != MemoryKind::Device && owner->kind != MemoryKind::Array &&
      owner->kind != MemoryKind::Heap)
    return;
  HostEvent event{wire::Rule::WrongSpace};
  event.caller = reinterpret_cast<void*>(pc + 1); // return addresses stand behind the call
  event.message = writes ? "host code writes device memory through a device pointer"
                         : "host code reads device memory through a device pointer";
  event.hint = "copy with cudaMemcpy, or allocate with cudaMallocManaged";
  event.pointer = reinterpret_cast<void*>(address);
  event.bytes = 1;
  reportHostEvent(event);
}

void reportTooEarly(Address address, Address pc, bool writes, Token token, std::uint16_t site,
                    bool earlierWrites) {
  const Operation* other = context().streams.operationOf(token);
  wire::Finding finding = emptyFinding(wire::Rule::RaceHost);
  finding.nearness = wire::Nearness::Host;
  finding.accessCount = 2;
  finding.flags = wire::NoWait;
  if (context().hostKnows.talks(token)) finding.flags |= wire::NarrowFence;
  finding.access[0].doing = wire::Doing::Host;
  finding.access[0].unused = writes;
  finding.access[0].caller = finding.caller = pc + 1;
  wire::Access& theirs = finding.access[1];
  bool kernel = other && other->kernel;
  theirs.doing = !kernel ? wire::Doing::Host : earlierWrites ? wire::Doing::Write : wire::Doing::Read;
  theirs.unused = earlierWrites;
  theirs.site = kernel && site != kWideSite ? site : wire::kNoSite;
  theirs.caller = other ? reinterpret_cast<std::uint64_t>(other->caller) : 0;
  if (kernel) finding.kernel = text(other->kernel->displayName);
  theirs.library = other ? text(other->library) : 0;
  describeMemory(finding.memory, reinterpret_cast<void*>(address), 1);
  report(finding);
}

} // namespace

void checkHostAccess(Address address, Address pc, Address stack, bool writes) {
  // memset and memcpy keep nothing on the stack: their caller stands on top of it.
  if (!inProgram(pc)) pc = *reinterpret_cast<const Address*>(stack) - 1;
  if (!inProgram(pc)) return;
  if (address < kManagedBase) return reportDeviceMemory(address, pc, writes);
  const HostKnowledge& host = context().hostKnows;
  if (host.isPublished(address)) return; // made for being accessed while the kernel runs
  const Cell* cell = &cellOf(address);
  const CellSites* sites = &sitesOf(address);
  if (cell->write == kBytes) {
    sites = &byteCells(*cell).sites[address & 3];
    cell = &byteCells(*cell).cell[address & 3];
  }
  auto isBefore = [&](Token token) { return context().streams.beforeHost(token) || host.knows(token); };
  if (!isReserved(cell->write) && !isBefore(cell->write))
    reportTooEarly(address, pc, writes, cell->write, sites->write, true);
  else if (writes && cell->read >= kFirstToken && cell->read < kReadSet && !isBefore(cell->read))
    reportTooEarly(address, pc, writes, cell->read, sites->read, false);
}

bool isInUse(Address begin, Address end) {
  const Streams& streams = context().streams;
  const HostKnowledge& host = context().hostKnows;
  Token last = 0;
  const auto isOpen = [&](Token token) {
    if (token == last || isReserved(token)) return false;
    last = token;
    return !streams.allKnow(token) && !host.knows(token);
  };
  const auto isCellOpen = [&](const Cell& cell) {
    return isOpen(cell.write) || (cell.read >= kFirstToken && cell.read < kReadSet && isOpen(cell.read));
  };
  for (Address at = begin; at < end; at += 4) {
    const Cell& cell = cellOf(at);
    const bool open =
        cell.write == kBytes ? std::ranges::any_of(byteCells(cell).cell, isCellOpen) : isCellOpen(cell);
    if (open && !host.isPublished(at)) return true;
  }
  return false;
}

} // namespace kcheck::runtime
