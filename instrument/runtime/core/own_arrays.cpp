#include "instrument/runtime/core/own_arrays.h"

#include "instrument/runtime/core/context.h"

#include <cstring>
#include <span>

namespace kcheck::runtime {

namespace {

const Allocation* liveAt(Address address) {
  const Allocation* found = context().allocations.nearest(address);
  return found && found->live && address - reinterpret_cast<Address>(found->base) < found->bytes ? found
                                                                                                 : nullptr;
}

std::int64_t numberAt(const std::byte* at, std::uint32_t bytes) {
  std::int32_t narrow = 0;
  std::int64_t wide = 0;
  if (bytes == sizeof wide) std::memcpy(&wide, at, sizeof wide);
  if (bytes == sizeof narrow) std::memcpy(&narrow, at, sizeof narrow);
  return bytes == sizeof narrow ? narrow : wide;
}

/// Whether some number among the arguments leads from `base` into `other`, counted in elements of any size.
bool isPassedDistance(const LaunchState& launch, Address base, const Allocation& other) {
  const KernelEntry& kernel = *launch.kernel;
  const auto* arguments = static_cast<const std::byte*>(launch.arguments);
  const auto begin = reinterpret_cast<Address>(other.base);
  auto leadsThere = [&](std::int64_t number) {
    for (Address element = 1; number && element <= 64; element *= 2)
      if (base + static_cast<Address>(number) * element - begin < other.bytes) return true;
    return false;
  };
  for (const abi::ParameterInfo& parameter : std::span(kernel.parameters, kernel.parameterCount))
    for (std::uint32_t at = 0; at + 4 <= parameter.bytes; at += 4) {
      const std::byte* word = arguments + parameter.offset + at;
      const bool isWide = at % 8 == 0 && at + 8 <= parameter.bytes;
      if (isWide && inArena(static_cast<Address>(numberAt(word, 8)))) {
        at += 4; // a pointer, and none of its halves a number
        continue;
      }
      if (leadsThere(numberAt(word, 4)) || (isWide && leadsThere(numberAt(word, 8)))) return true;
    }
  return false;
}

} // namespace

void findOwnArrays(LaunchState& launch) {
  const KernelEntry& kernel = *launch.kernel;
  launch.arrays.assign(1 + kernel.arrayCount, {});
  for (std::size_t i = 0; i < kernel.arrayCount; ++i) {
    Address pointer = 0;
    std::memcpy(&pointer, static_cast<const std::byte*>(launch.arguments) + kernel.arrays[i], sizeof pointer);
    if (!inArena(pointer) || inShared(pointer)) continue;
    const Allocation* array = liveAt(pointer);
    if (array && reinterpret_cast<Address>(array->base) == pointer)
      launch.arrays[1 + i] = {pointer, array->bytes};
  }
}

bool leavesOwnArray(LaunchState& launch, std::uint32_t array, Address address, std::size_t bytes) {
  OwnArray& own = launch.arrays[array];
  if (own.holds(address, address, bytes)) return false;
  const Allocation* other = liveAt(address);
  if (!other || !isPassedDistance(launch, own.base, *other)) return true;
  own = {}; // it may go there
  return false;
}

} // namespace kcheck::runtime
