#include "instrument/runtime/core/memory.h"

#include "instrument/runtime/core/allocations.h"
#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/host_guard.h"
#include "instrument/runtime/core/shadow.h"
#include "instrument/runtime/core/share.h"

#include <algorithm>
#include <cassert>

namespace kcheck::runtime {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::size_t kSmallestGap = 1024, kLargestGap = std::size_t{64} << 20;

std::size_t rounded(std::size_t bytes) { return (bytes + kAlignment - 1) & ~(kAlignment - 1); }

/// Redzone after an allocation: as large as the allocation within reason, so that a launch twice too large
/// does not end up in a neighbour.
std::size_t gapAfter(std::size_t bytes) { return std::clamp(rounded(bytes), kSmallestGap, kLargestGap); }

Address addressOf(const void* pointer) { return reinterpret_cast<Address>(pointer); }

/// Whether fresh memory of this kind counts as written: the host writes it unseen, or the loader has.
bool startsWritten(MemoryKind kind) {
  return kind != MemoryKind::Device && kind != MemoryKind::Array && kind != MemoryKind::Heap;
}

/// No cell of the line has been looked at.
bool isFresh(Address line) {
  if (lineOf(line).closed) return false;
  const Cell* cells = &openCellOf(line);
  return std::all_of(cells, cells + kLineWords, [](const Cell& cell) { return cell.write == kUnknown; });
}

} // namespace

Allocations::Zone& Allocations::zoneOf(MemoryKind kind) {
  return kind == MemoryKind::Pinned ? pinned : kind == MemoryKind::Managed ? managed : global;
}

Address Allocations::place(Zone& zone, std::size_t room) {
  if (zone.next + room <= zone.end) {
    Address base = zone.next;
    zone.next += room;
    return base;
  }
  while (true) {
    for (auto it = zone.holes.begin(); it != zone.holes.end(); ++it)
      if (it->second >= room) {
        Address base = it->first;
        std::size_t left = it->second - room;
        zone.holes.erase(it);
        if (left) zone.holes[base + room] = left;
        return base;
      }
    if (zone.quarantine.empty()) return 0;
    evict(zone);
  }
}

/// Forgets the allocation that has been free for longest, and joins its room with holes beside it.
void Allocations::evict(Zone& zone) {
  Address base = zone.quarantine.front();
  zone.quarantine.pop_front();
  auto found = all.find(base);
  assert(found != all.end() && !found->second.live);
  std::size_t room = roomOf(found->second.bytes, found->second.kind);
  if (last == &found->second) last = nullptr;
  all.erase(found);
  auto after = zone.holes.upper_bound(base);
  if (after != zone.holes.end() && base + room == after->first) {
    room += after->second;
    after = zone.holes.erase(after);
  }
  if (after != zone.holes.begin()) {
    auto before = std::prev(after);
    if (before->first + before->second == base) {
      before->second += room;
      return;
    }
  }
  zone.holes[base] = room;
}

std::size_t Allocations::roomOf(std::size_t bytes, MemoryKind kind) {
  std::size_t room = rounded(std::max<std::size_t>(bytes, 1)) + gapAfter(bytes);
  constexpr std::size_t page = 4096;
  bool ownPages = kind == MemoryKind::Managed || kind == MemoryKind::Pinned;
  return ownPages ? (room + page - 1) & ~(page - 1) : room;
}

void* Allocations::add(std::size_t bytes, MemoryKind kind, void* caller, const char* name) {
  Zone& zone = zoneOf(kind);
  std::size_t room = roomOf(bytes, kind);
  if (room < bytes || (kind != MemoryKind::Pinned && live + bytes > kDeviceMemoryBytes)) return nullptr;
  Address base = place(zone, room);
  if (!base) return nullptr;
  Allocation allocation;
  allocation.id = ++count;
  allocation.base = reinterpret_cast<void*>(base);
  allocation.bytes = bytes;
  allocation.kind = kind;
  allocation.allocatedAt = caller;
  allocation.name = name;
  all[base] = allocation;
  if (kind != MemoryKind::Pinned) live += bytes;
  return allocation.base;
}

FreeResult Allocations::remove(void* pointer, MemoryKind kind, void* caller) {
  Allocation* found = nearest(addressOf(pointer));
  if (!found) return FreeResult::NotAnAllocation;
  Address base = addressOf(found->base);
  if (base != addressOf(pointer)) {
    if (addressOf(pointer) - base >= found->bytes) return FreeResult::NotAnAllocation;
    return found->live ? FreeResult::NotTheStart : FreeResult::AlreadyFreed;
  }
  if (!found->live) return FreeResult::AlreadyFreed;
  if (found->name) return FreeResult::WrongKind; // a variable, managed perhaps
  bool isLinear = found->kind == MemoryKind::Device || found->kind == MemoryKind::Managed;
  bool wantsLinear = kind == MemoryKind::Device || kind == MemoryKind::Managed;
  if (found->kind != kind && !(isLinear && wantsLinear)) return FreeResult::WrongKind;
  found->live = false;
  found->freedAt = caller;
  if (found->kind != MemoryKind::Pinned) live -= found->bytes;
  dropShadow(base, found->bytes);
  zoneOf(found->kind).quarantine.push_back(base);
  return FreeResult::Ok;
}

Allocation* Allocations::nearest(Address address) {
  if (!inArena(address) || inShared(address) || all.empty()) return nullptr;
  Allocation* latest = last;
  if (latest && address - addressOf(latest->base) < latest->bytes) return latest;
  auto after = all.upper_bound(address);
  if (after == all.begin()) return last = &after->second;
  auto before = std::prev(after);
  Address end = before->first + before->second.bytes;
  if (address >= end && after != all.end() && after->first - address < address - end)
    return last = &after->second;
  return last = &before->second;
}

bool Allocations::materialise(Address address) {
  if (shareOfThread()) return false; // others use the lines around it
  Allocation* owner = nearest(address);
  if (!owner || !owner->live) return false;
  Address base = addressOf(owner->base), end = base + owner->bytes;
  Address word = address & ~Address{3};
  if (word >= end || word + 4 <= base) return false;
  constexpr Address chunk = 4096;
  Address from = std::max(base, word & ~(chunk - 1)), to = std::min(end, (word | (chunk - 1)) + 1);
  Token fresh = startsWritten(owner->kind) ? kOld : kUnwritten;
  for (Address at = from; at + 4 <= to; at += 4) {
    if (at % kLineBytes == 0 && at + kLineBytes <= to && isFresh(at)) {
      lineOf(at) = {fresh, 0, {}, 1, kAllSame, kAllSame, 0};
    }
    if (lineOf(at).closed) {
      at |= kLineBytes - 4;
      continue;
    }
    if (Cell& cell = cellOf(at); cell.write == kUnknown) cell = {fresh, 0};
  }
  if ((to & 3) && cellOf(to).write == kUnknown) { // the allocation ends within a word
    cellOf(to) = {kPoison, 0};
    fillShadow(to & ~Address{3}, to & 3, fresh);
  }
  cellOf(address); // opens its line: the caller has the cell at hand
  return true;
}

// The interface of memory.h: the same under the lock.

void* allocate(std::size_t bytes, MemoryKind kind, void* caller) {
  if (!mapArenas()) return nullptr;
  std::lock_guard lock(context().mutex);
  return context().allocations.add(bytes, kind, caller, nullptr);
}

FreeResult release(void* pointer, MemoryKind kind, void* caller) {
  std::lock_guard lock(context().mutex);
  showToHost(); // the room may be handed out again
  return context().allocations.remove(pointer, kind, caller);
}

const Allocation* find(const void* pointer) {
  std::lock_guard lock(context().mutex);
  return context().allocations.nearest(addressOf(pointer));
}

bool isDeviceAddress(const void* pointer) { return inArena(addressOf(pointer)); }

void registerHostRange(const void* pointer, std::size_t bytes) {
  std::lock_guard lock(context().mutex);
  context().registeredHost[addressOf(pointer)] = bytes;
}

void unregisterHostRange(const void* pointer) {
  std::lock_guard lock(context().mutex);
  context().registeredHost.erase(addressOf(pointer));
}

bool isRegisteredHost(const void* pointer, std::size_t bytes) {
  std::lock_guard lock(context().mutex);
  const auto& ranges = context().registeredHost;
  auto after = ranges.upper_bound(addressOf(pointer));
  if (after == ranges.begin()) return false;
  auto range = std::prev(after);
  Address offset = addressOf(pointer) - range->first;
  return offset <= range->second && bytes <= range->second - offset;
}

void registerHostCopy(const void* copy, std::size_t bytes, const char* symbol) {
  std::lock_guard lock(context().mutex);
  context().hostCopies[addressOf(copy)] = {bytes, symbol};
}

const char* symbolOfHostCopy(const void* address) {
  std::lock_guard lock(context().mutex);
  const auto& copies = context().hostCopies;
  auto after = copies.upper_bound(addressOf(address));
  if (after == copies.begin()) return nullptr;
  auto copy = std::prev(after);
  return addressOf(address) - copy->first < copy->second.bytes ? copy->second.symbol : nullptr;
}

std::size_t firstUnwritten(const void* pointer, std::size_t bytes) {
  std::lock_guard lock(context().mutex);
  Address begin = addressOf(pointer);
  for (Address at = begin; at < begin + bytes; at = (at | 3) + 1) {
    if (const Line& line = lineOf(at); line.closed && line.write != kUnwritten) {
      at |= kLineBytes - 1;
      continue;
    }
    Cell& cell = cellOf(at);
    if (cell.write == kUnknown && !context().allocations.materialise(at)) continue;
    if (cellOf(at).write == kUnwritten) return at - begin;
    if (cell.write != kBytes) continue;
    for (Address byte = at; byte < std::min((at | 3) + 1, begin + bytes); ++byte)
      if (byteCells(cell).cell[byte & 3].write == kUnwritten) return byte - begin;
  }
  return bytes;
}

} // namespace kcheck::runtime
