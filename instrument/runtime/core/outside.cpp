#include "instrument/runtime/core/outside.h"

#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/events.h"
#include "instrument/runtime/core/fibre.h"
#include "instrument/runtime/core/race.h"
#include "instrument/runtime/core/rows.h"
#include "instrument/runtime/core/scheduler.h"

#include <link.h>
#include <sys/mman.h>

namespace kcheck::runtime {
namespace {

wire::Doing doing(AccessKind kind) {
  if (kind >= AccessKind::Atomic) return wire::Doing::Atomic;
  return kind == AccessKind::Write ? wire::Doing::Write : wire::Doing::Read;
}

wire::Finding findingAt(wire::Rule rule, ThreadState& thread, Address address, std::size_t bytes,
                        std::uint32_t site, AccessKind kind) {
  ++thread.strays;
  thread.strayAt = site;
  leaveShare(*thread.owner().launch);
  wire::Finding finding = emptyFinding(rule);
  finding.kernel = thread.owner().launch->name;
  finding.caller = reinterpret_cast<std::uint64_t>(thread.owner().launch->config.caller);
  finding.accessCount = 1;
  finding.access[0] = describeThread(thread, site, doing(kind));
  describeAccessed(thread.owner(), finding.memory, address, bytes);
  return finding;
}

/// Parts of loaded programs and libraries that nobody writes: string literals, tables.
bool inConstants(Address address) {
  struct Search {
    Address address;
    bool found;
  } search{address, false};
  dl_iterate_phdr(
      [](dl_phdr_info* image, std::size_t, void* data) {
        auto* search = static_cast<Search*>(data);
        for (int i = 0; i < image->dlpi_phnum; ++i) {
          const auto& part = image->dlpi_phdr[i];
          bool constant = part.p_type == PT_GNU_RELRO || (part.p_type == PT_LOAD && !(part.p_flags & PF_W));
          if (constant && search->address - (image->dlpi_addr + part.p_vaddr) < part.p_memsz)
            search->found = true;
        }
        return int(search->found);
      },
      &search);
  return search.found;
}

/// Whether anything is mapped at the address: no host memory is, where the kernel knows of no page.
bool isMapped(Address address) {
  constexpr Address page = 4096;
  unsigned char resident;
  return mincore(reinterpret_cast<void*>(address & ~(page - 1)), 1, &resident) == 0;
}

/// Whether the access leaves its array only because it is askew: the aligned place that it touches first is
/// inside. That it is misaligned says it all.
bool isOnlyAskew(const wire::Memory& memory) {
  if (!memory.bytes || memory.bytes & (memory.bytes - 1) || memory.bytes > 16) return false;
  if (!(memory.flags & wire::HasOffset) || !(memory.flags & wire::HasSize) || memory.flags & wire::Freed)
    return false;
  auto askew = static_cast<std::int64_t>(memory.address % memory.bytes);
  if (!askew || memory.offset < askew) return false;
  return static_cast<std::uint64_t>(memory.offset - askew) + memory.bytes <= memory.size;
}

bool inShared(const BlockState& block, Address address) {
  return address - reinterpret_cast<Address>(block.shared) + kWindowBytes / 2 < kWindowBytes;
}

} // namespace

bool inReserved(const BlockState& block, Address address) {
  if (!inShared(block, address)) return false;
  const KernelEntry& kernel = *block.launch->kernel;
  for (std::uint32_t i = 0; i < kernel.sharedCount; ++i)
    if (address - reinterpret_cast<Address>(block.shared) - kernel.shared[i].offset <
            kernel.shared[i].bytes &&
        std::string_view(kernel.shared[i].name) == abi::kReservedShared)
      return true;
  return false;
}

void describeAccessed(const BlockState& block, wire::Memory& memory, Address address, std::size_t bytes) {
  memory.address = address;
  memory.bytes = static_cast<std::uint32_t>(bytes);
  if (!inShared(block, address)) {
    describeMemory(memory, reinterpret_cast<void*>(address), static_cast<std::uint32_t>(bytes));
    return;
  }
  memory.space = static_cast<std::uint8_t>(MemorySpace::Shared);
  const KernelEntry& kernel = *block.launch->kernel;
  auto base = reinterpret_cast<Address>(block.shared);
  auto dynamic = reinterpret_cast<Address>(block.dynamicSharedBase);
  std::uint64_t best = ~std::uint64_t{0};
  auto consider = [&](Address start, std::size_t size, const char* name) {
    std::uint64_t distance = address < start          ? start - address
                             : address < start + size ? 0
                                                      : address - start - size + 1;
    if (distance >= best) return;
    best = distance;
    memory.size = size;
    memory.offset = static_cast<std::int64_t>(address - start);
    memory.name = text(name);
    memory.flags |= wire::HasSize | wire::HasOffset;
  };
  for (std::uint32_t i = 0; i < kernel.sharedCount; ++i)
    consider(base + kernel.shared[i].offset, kernel.shared[i].bytes, kernel.shared[i].name);
  if (dynamic && (block.dynamicShared || best > 64)) consider(dynamic, block.dynamicShared, "");
}

void reportOutside(ThreadState& thread, Address address, std::size_t bytes, std::uint32_t site,
                   AccessKind kind) {
  wire::Finding finding = findingAt(wire::Rule::OutOfBounds, thread, address, bytes, site, kind);
  if (isOnlyAskew(finding.memory)) return;
  bool within = finding.memory.flags & wire::HasOffset && finding.memory.offset >= 0 &&
                static_cast<std::uint64_t>(finding.memory.offset) < finding.memory.size;
  if (within && (finding.memory.flags & wire::Freed)) finding.rule = wire::Rule::UseAfterFree;
  report(finding);
}

void reportBeyond(ThreadState& thread, std::uint32_t array, Address address, std::size_t bytes,
                  std::uint32_t site, AccessKind kind) {
  const Address base = thread.owner().launch->arrays[array].base;
  wire::Finding finding = findingAt(wire::Rule::OutOfBounds, thread, base, bytes, site, kind);
  finding.memory.address = address;
  finding.memory.offset = static_cast<std::int64_t>(address - base);
  if (const Allocation* other = find(reinterpret_cast<void*>(address));
      other && other->live && address - reinterpret_cast<Address>(other->base) < other->bytes &&
      other->allocatedAt != reinterpret_cast<void*>(finding.memory.allocatedBy))
    finding.numbers[1] = reinterpret_cast<std::uint64_t>(other->allocatedAt);
  if (isOnlyAskew(finding.memory)) return reportMisaligned(thread, address, bytes, site, kind);
  report(finding);
}

void reportMisaligned(ThreadState& thread, Address address, std::size_t bytes, std::uint32_t site,
                      AccessKind kind) {
  thread.owner().launch->askew = true;
  report(findingAt(wire::Rule::Misaligned, thread, address, bytes, site, kind));
}

namespace {

[[noreturn]] void stopAt(wire::Rule rule, abi::ThreadContext* context, const char* sentence,
                         std::uint32_t site, wire::Doing doing) {
  ThreadState& thread = *static_cast<ThreadState*>(context);
  settleRows(*thread.owner().launch);
  wire::Finding finding = findingAt(rule, thread, 0, 0, site, AccessKind::Read);
  finding.access[0].doing = doing;
  finding.memory = {};
  finding.text = text(sentence);
  report(finding);
  abandonThread(thread, DeviceFault::IllegalAddress);
}

} // namespace

void stopWithoutObject(abi::ThreadContext* thread, const char* sentence, std::uint32_t site) {
  stopAt(wire::Rule::WrongSpace, thread, sentence, site, wire::Doing::Read);
}

void stopWithoutFunction(abi::ThreadContext* thread, const char* sentence, std::uint32_t site) {
  stopAt(wire::Rule::WrongSpace, thread, sentence, site, wire::Doing::None);
}

void stopBesideObject(abi::ThreadContext* thread, const char* sentence, std::uint32_t site, AccessKind kind) {
  stopAt(wire::Rule::OutOfBounds, thread, sentence, site, doing(kind));
}

void stopStray(ThreadState& thread) {
  thread.strays = 0;
  const std::string sentence = "has left its arrays " + std::to_string(kMostStrays) +
                               " times, and is stopped here: its loop may have no end";
  stopAt(wire::Rule::Trap, &thread, sentence.c_str(), thread.strayAt, wire::Doing::None);
}

bool isLocal(const ThreadState& thread, Address address) {
  if (const SharedLocal* local = thread.owner().sharedLocals.at(address))
    return local->thread == thread.linear;
  return thread.owner().frames.holds(reinterpret_cast<void*>(address)) || onDeviceStack(thread, address);
}

void checkForeign(ThreadState& thread, Address address, std::size_t bytes, std::uint32_t site,
                  AccessKind kind) {
  if (isLocal(thread, address) || reportOthersLocal(thread, address, bytes, site, doing(kind))) return;
  if (kind == AccessKind::Read && inConstants(address)) return;
  if (isRegisteredHost(reinterpret_cast<const void*>(address), bytes)) return;
  bool null = address < 65536;
  bool nowhere = null || !isMapped(address);
  wire::Finding finding = findingAt(nowhere ? wire::Rule::OutOfBounds : wire::Rule::WrongSpace, thread,
                                    address, bytes, site, kind);
  finding.memory.flags |= null ? wire::IsNull : wire::NoAllocation;
  report(finding);
}

void checkLocal(ThreadState& thread, Address base, std::size_t arrayBytes, Address address, std::size_t bytes,
                std::uint32_t site) {
  if (address - base <= arrayBytes && bytes <= arrayBytes - (address - base)) return;
  const abi::SiteInfo* info = context().site(site);
  AccessKind kind = info && info->kind == abi::SiteKind::Write ? AccessKind::Write : AccessKind::Read;
  wire::Finding finding = findingAt(wire::Rule::OutOfBounds, thread, address, bytes, site, kind);
  finding.memory = {};
  finding.memory.space = static_cast<std::uint8_t>(MemorySpace::Local);
  finding.memory.flags = wire::HasSize | wire::HasOffset;
  finding.memory.bytes = static_cast<std::uint32_t>(bytes);
  finding.memory.size = arrayBytes;
  finding.memory.address = address;
  finding.memory.offset = static_cast<std::int64_t>(address - base);
  report(finding);
}

} // namespace kcheck::runtime
