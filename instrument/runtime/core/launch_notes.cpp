#include "instrument/runtime/core/launch_notes.h"

#include "instrument/runtime/core/events.h"
#include "instrument/runtime/core/log.h"
#include "instrument/runtime/core/memory.h"

#include <cstring>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <vector>

namespace kcheck::runtime {
namespace {

/// More ways than that to launch a kernel are not told apart.
constexpr std::size_t kMostWays = 256;

void copyDim(std::uint32_t (&to)[3], const Dim3& from) { to[0] = from.x, to[1] = from.y, to[2] = from.z; }

/// The shape of a launch and how often it was made.
void noteShape(const LaunchState& launch) {
  using Key = std::tuple<const KernelEntry*, Dim3, Dim3, std::size_t>;
  static auto* seen = new std::map<Key, wire::Launch*>;
  wire::Launch*& record =
      (*seen)[{launch.kernel, launch.config.grid, launch.config.block, launch.config.dynamicShared}];
  if (!record) {
    wire::TextRef symbol = text(launch.kernel->name);
    record = log().reserve<wire::Launch>();
    if (!record) return;
    record->kernel = launch.name;
    record->symbol = symbol;
    copyDim(record->grid, launch.config.grid);
    copyDim(record->block, launch.config.block);
    record->sharedBytes = launch.config.dynamicShared;
    record->caller = reinterpret_cast<std::uint64_t>(launch.config.caller);
    Log::complete(record->head, wire::RecordKind::Launch);
  }
  ++record->count;
}

bool isVariable(const Allocation& allocation) { return allocation.name != nullptr; }

/// The pointers into the program's allocations among the bytes of the arguments, which are zeroed there:
/// where memory lies makes no way of its own. Each lies within one parameter: two integers side by side may
/// look like a pointer.
std::vector<wire::PassedPointer> takePointers(std::byte* bytes, const KernelEntry& kernel,
                                              std::uint32_t& flags) {
  std::vector<std::uint32_t> places;
  for (const abi::ParameterInfo& parameter : std::span(kernel.parameters, kernel.parameterCount))
    for (std::uint32_t at = 0; at + sizeof(void*) <= parameter.bytes; at += sizeof(void*))
      places.push_back(parameter.offset + at);
  std::vector<wire::PassedPointer> pointers;
  std::map<std::uint64_t, std::uint64_t> numbers;
  for (const std::uint32_t at : places) {
    const void* pointer;
    std::memcpy(&pointer, bytes + at, sizeof pointer);
    if (!isDeviceAddress(pointer)) continue;
    const Allocation* allocation = find(pointer);
    if (!allocation || !allocation->live) continue;
    if (isVariable(*allocation)) flags |= wire::HidesPointer;
    pointers.push_back({at, 0, numbers.try_emplace(allocation->id, numbers.size()).first->second,
                        allocation->bytes, reinterpret_cast<std::uint64_t>(allocation->allocatedAt),
                        static_cast<const std::byte*>(pointer) - static_cast<std::byte*>(allocation->base)});
    std::memset(bytes + at, 0, sizeof pointer);
  }
  return pointers;
}

template <class T> void append(std::vector<std::byte>& to, const T* items, std::size_t count) {
  const auto* bytes = reinterpret_cast<const std::byte*>(items);
  to.insert(to.end(), bytes, bytes + count * sizeof(T));
}

/// One way to launch a kernel, as it goes into the log.
std::vector<std::byte> asRecord(const LaunchState& launch) {
  const KernelEntry& kernel = *launch.kernel;
  const auto* given = static_cast<const std::byte*>(launch.arguments);
  std::vector<std::byte> bytes(given, given + kernel.argumentBytes);
  wire::Arguments record{};
  const std::vector<wire::PassedPointer> pointers = takePointers(bytes.data(), kernel, record.flags);
  record.pointers = static_cast<std::uint32_t>(pointers.size());
  record.parameters = kernel.parameterCount;
  record.bytes = kernel.argumentBytes;
  copyDim(record.grid, launch.config.grid);
  copyDim(record.block, launch.config.block);
  record.sharedBytes = launch.config.dynamicShared;
  record.caller = reinterpret_cast<std::uint64_t>(launch.config.caller);
  std::vector<std::byte> whole;
  append(whole, &record, 1);
  append(whole, pointers.data(), pointers.size());
  static_assert(sizeof(wire::PassedParameter) == sizeof(abi::ParameterInfo));
  append(whole, kernel.parameters, kernel.parameterCount);
  append(whole, bytes.data(), bytes.size());
  return whole;
}

void noteArguments(const LaunchState& launch) {
  struct Ways {
    std::set<std::vector<std::byte>> known;
    wire::Arguments* last = nullptr;
  };
  static auto* seen = new std::map<const KernelEntry*, Ways>;
  Ways& ways = (*seen)[launch.kernel];
  if (ways.last && ways.last->flags & wire::MoreLaunches) return;
  const auto [way, isNew] = ways.known.insert(asRecord(launch));
  if (!isNew) return;
  if (ways.known.size() > kMostWays) {
    ways.last->flags |= wire::MoreLaunches;
    return;
  }
  const wire::TextRef symbol = text(launch.kernel->name);
  auto* record = log().reserve<wire::Arguments>(way->size() - sizeof(wire::Arguments));
  if (!record) return;
  const wire::Record head = record->head;
  std::memcpy(record, way->data(), way->size());
  record->head = head;
  record->symbol = symbol;
  Log::complete(record->head, wire::RecordKind::Arguments);
  ways.last = record;
}

} // namespace

void noteLaunch(const LaunchState& launch) {
  log().header().kernelsLaunched++;
  noteShape(launch);
  noteArguments(launch);
}

} // namespace kcheck::runtime
