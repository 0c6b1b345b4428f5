#include "instrument/runtime/core/quiet.h"

#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/row_words.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace kcheck::runtime {

namespace {

/// Whether all addresses of a row are from `low` to `low + last`, and multiples of `bytes`.
KCHECK_VECTORS bool allWithin(const Address* at, Address low, Address last, std::uint32_t bytes) {
  Address odd = 0;
  std::uint32_t wrong = 0;
  for (std::uint32_t i = 0; i < kWarpSize; ++i) {
    wrong |= at[i] - low > last ? 1u : 0u;
    odd |= at[i];
  }
  return !wrong && !(odd & (bytes - 1u));
}

/// Bytes looked at per thread of the launch, at most, to see whether an array has been written as a whole.
constexpr std::uint64_t kBytesPerThread = 1024;

const void* pointerAt(const LaunchState& launch, std::uint32_t offset) {
  const void* pointer = nullptr;
  std::memcpy(&pointer, static_cast<const std::byte*>(launch.arguments) + offset, sizeof pointer);
  return pointer;
}

/// The live allocation that the pointer leads into.
Allocation* allocationOf(const void* pointer) {
  auto address = reinterpret_cast<Address>(pointer);
  Allocation* found = context().allocations.nearest(address);
  bool isInside = found && address - reinterpret_cast<Address>(found->base) < found->bytes;
  return isInside && found->live ? found : nullptr;
}

} // namespace

bool isWritten(Allocation& array, std::uint64_t atMost) {
  std::size_t left = array.bytes - array.writtenFrom;
  if (!left) return true;
  if (left > atMost) return false;
  array.writtenFrom += firstUnwritten(static_cast<std::byte*>(array.base) + array.writtenFrom, left);
  return array.writtenFrom == array.bytes;
}

std::optional<std::set<const Allocation*>> arraysWrittenBy(const LaunchState& launch) {
  const KernelEntry& kernel = *launch.kernel;
  if (!(kernel.usesGridSync & abi::TraitWritesKnown)) return std::nullopt;
  std::set<const Allocation*> written;
  for (std::uint32_t i = 0; i < kernel.writtenCount; ++i) {
    const void* pointer = pointerAt(launch, kernel.written[i]);
    const Allocation* array = allocationOf(pointer);
    if (!array && isDeviceAddress(pointer)) return std::nullopt; // before a start or at an end: of which?
    written.insert(array);
  }
  return written;
}

std::optional<std::vector<MemoryRange>> memoryWrittenBy(const LaunchState& launch) {
  const std::optional<std::set<const Allocation*>> written = arraysWrittenBy(launch);
  if (!written) return std::nullopt;
  std::vector<MemoryRange> ranges;
  for (const Allocation* array : *written)
    if (array && array->bytes) ranges.push_back({reinterpret_cast<Address>(array->base), array->bytes});
  for (const abi::ModuleEntry* module : context().modules)
    for (const abi::GlobalEntry& global : std::span(module->globals, module->globalCount))
      if (global.bytes && global.space != static_cast<std::uint8_t>(MemorySpace::Constant))
        ranges.push_back({reinterpret_cast<Address>(*global.slot), global.bytes});
  std::ranges::sort(ranges, {}, &MemoryRange::base);
  const auto repeated = std::ranges::unique(ranges, {}, &MemoryRange::base);
  ranges.erase(repeated.begin(), repeated.end());
  return ranges;
}

bool QuietArrays::Range::holdsAll(const Address* at, Address last, std::uint32_t bytes) const {
  return allWithin(at, low, last, bytes);
}

void QuietArrays::find(const LaunchState& launch) {
  count = 0;
  between = {};
  if (!context().streams.onlyLegacy()) return;
  std::optional<std::set<const Allocation*>> written = arraysWrittenBy(launch);
  if (!written) return;
  std::uint64_t atMost = launch.gridBlocks * launch.blockThreads * kBytesPerThread;
  // A parameter may be a structure: each of its words may be a pointer.
  for (std::uint32_t offset = 0; offset + sizeof(void*) <= launch.kernel->argumentBytes && count < kMost;
       offset += sizeof(void*)) {
    Allocation* array = allocationOf(pointerAt(launch, offset));
    bool isLinear = array && (array->kind == MemoryKind::Device || array->kind == MemoryKind::Heap);
    if (!isLinear || !written->insert(array).second) continue;
    if (!isWritten(*array, atMost)) continue;
    auto low = reinterpret_cast<Address>(array->base);
    ranges[count++] = {low, low + array->bytes};
  }
}

void QuietArrays::lookAtWrite(const Address* at, std::uint32_t lanes, std::uint32_t bytes, bool isRun) {
  Reach reach = isRun ? Reach{at[0], at[lanes - 1], 0} : reachOf(at);
  between = {0, ~Address{0}};
  for (std::uint32_t i = 0; i < count; ++i) {
    if (ranges[i].end <= reach.low) {
      between.low = std::max(between.low, ranges[i].end);
    } else if (ranges[i].low >= reach.high + bytes) {
      between.end = std::min(between.end, ranges[i].low);
    } else {
      count = 0;
      return;
    }
  }
}

} // namespace kcheck::runtime
