#include "instrument/runtime/core/rehearsal.h"

#include "instrument/runtime/core/context.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace kcheck::runtime {
namespace {

constexpr unsigned kRehearsalsPerKernel = 4;
constexpr std::size_t kMostMemory = std::size_t{128} << 20;

template <class Visit> void eachLive(Visit visit) {
  std::lock_guard lock(context().mutex);
  context().allocations.forEach([&](const Allocation& allocation) {
    if (allocation.live && allocation.bytes) visit(allocation);
  });
}

} // namespace

MemoryCopy::MemoryCopy() {
  eachLive([&](const Allocation& allocation) {
    Part& part = parts.emplace_back(Part{reinterpret_cast<Address>(allocation.base), allocation.bytes, {}});
    part.content = std::make_unique_for_overwrite<std::byte[]>(part.bytes);
    std::memcpy(part.content.get(), allocation.base, part.bytes);
  });
}

std::size_t MemoryCopy::bytes() const {
  std::size_t sum = 0;
  for (const Part& part : parts) sum += part.bytes;
  return sum;
}

void MemoryCopy::restore() const {
  for (const Part& part : parts) {
    void* memory = reinterpret_cast<void*>(part.base);
    const Allocation* allocation = find(memory);
    if (!allocation || !allocation->live || allocation->base != memory) continue;
    if (std::memcmp(memory, part.content.get(), part.bytes) != 0)
      std::memcpy(memory, part.content.get(), part.bytes);
  }
}

std::uint8_t UnwrittenCopy::stateOf(Address at) {
  if (const Line& line = lineOf(at); line.closed) return line.write == kUnwritten ? 0xF : 0;
  const Cell& cell = openCellOf(at);
  if (cell.write == kUnknown) return kFresh;
  if (cell.write == kUnwritten) return 0xF;
  if (cell.write != kBytes) return 0;
  std::uint8_t bits = 0;
  for (unsigned i = 0; i < 4; ++i)
    bits |= static_cast<std::uint8_t>((byteCells(cell).cell[i].write == kUnwritten) << i);
  return bits;
}

UnwrittenCopy::UnwrittenCopy() {
  eachLive([&](const Allocation& allocation) {
    Part& part = parts.emplace_back(Part{reinterpret_cast<Address>(allocation.base), {}});
    part.words.resize((allocation.bytes + 3) / 4);
    for (std::size_t i = 0; i < part.words.size(); ++i) part.words[i] = stateOf(part.base + 4 * i);
  });
}

void UnwrittenCopy::restore() const {
  for (const Part& part : parts)
    for (std::size_t i = 0; i < part.words.size(); ++i) {
      Address at = part.base + 4 * i;
      std::uint8_t before = part.words[i];
      if (!before || stateOf(at) == before) continue;
      if (before & 0xF0) fillShadow(at, 4, kUnknown);
      for (unsigned byte = 0; byte < 4; ++byte)
        if (before >> byte & 1) fillShadow(at + byte, 1, kUnwritten);
    }
}

bool mayRehearse(const LaunchState& launch) {
  const RuntimeOptions& options = context().options;
  if (launch.logged || !options.races || !options.twice || options.schedule != ScheduleKind::Fair ||
      !context().registeredHost.empty() || std::uint64_t{launch.blockThreads} * launch.gridBlocks < 2)
    return false;
  std::uint32_t traits = launch.kernel->usesGridSync;
  if ((traits & abi::TraitsKnown) && !(traits & abi::TraitHandsOver)) return false;
  static auto* launches = new std::map<const KernelEntry*, unsigned>;
  if (++(*launches)[launch.kernel] > kRehearsalsPerKernel) return false;
  std::size_t bytes = 0;
  eachLive([&](const Allocation& allocation) { bytes += allocation.bytes; });
  return bytes <= kMostMemory;
}

std::uint64_t costOf(const LaunchState& launch) {
  constexpr std::uint64_t entriesPerTurn = 512; // about as long as a turn takes
  return launch.work + (context().clockEntries - launch.clockEntriesBefore) / entriesPerTurn;
}

bool isLarge(const LaunchState& launch) { return launch.blockThreads * launch.gridBlocks > kMostRehearsed; }

std::uint64_t rehearsalLimit(Rehearsal order, std::uint64_t first, bool large) {
  constexpr std::uint64_t cheap = 400'000; // half a second
  std::uint64_t most = std::max(first, cheap);
  // Waiting costs more the other way round where each block waits for the one before it.
  if (order == Rehearsal::Backwards) return std::min(8 * first + 10'000, most);
  return std::min(cheap, most / 2) / (large ? 4 : 1);
}

unsigned attemptsAt(Rehearsal order) { return order == Rehearsal::Uneven ? 12 : 1; }

std::vector<Rehearsal> rehearsals(const LaunchState& launch) {
  std::vector<Rehearsal> orders;
  bool atomics = launch.received || !launch.atomicScope.empty();
  bool large = isLarge(launch);
  if (launch.received) orders.push_back(Rehearsal::Backwards);
  if (atomics && !large) orders.push_back(Rehearsal::InStep);
  if (launch.received && !large) orders.push_back(Rehearsal::Staggered);
  if (atomics && !(large && launch.config.cooperative)) orders.push_back(Rehearsal::Uneven);
  return orders;
}

} // namespace kcheck::runtime
