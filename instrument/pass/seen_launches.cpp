#include "instrument/pass/seen_launches.h"

namespace kcheck::instrument {
namespace {

struct Behind {
  std::span<const wire::PassedPointer> pointers;
  std::span<const wire::PassedParameter> parameters;
  std::span<const std::uint8_t> bytes;
};

/// What follows the record; the reader has made sure that it is there.
Behind behind(const wire::Arguments& record) {
  const auto* pointers = reinterpret_cast<const wire::PassedPointer*>(&record + 1);
  const auto* parameters = reinterpret_cast<const wire::PassedParameter*>(pointers + record.pointers);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(parameters + record.parameters);
  return {{pointers, record.pointers}, {parameters, record.parameters}, {bytes, record.bytes}};
}

/// Whether all of the parameter's bytes are there.
bool isWithin(const wire::PassedParameter& parameter, const Behind& given) {
  return std::uint64_t{parameter.at} + parameter.bytes <= given.bytes.size();
}

Argument argument(const wire::PassedParameter& parameter, const Behind& given, std::size_t firstAllocation) {
  Argument result;
  PassedValue passed;
  passed.bytes.assign(given.bytes.begin() + parameter.at,
                      given.bytes.begin() + parameter.at + parameter.bytes);
  for (const wire::PassedPointer& pointer : given.pointers) {
    if (pointer.at < parameter.at || pointer.at + sizeof(void*) > parameter.at + parameter.bytes) continue;
    const std::uint32_t at = pointer.at - parameter.at;
    for (std::uint32_t i = 0; i < sizeof(void*); ++i) passed.bytes[at + i].reset();
    passed.pointers.push_back({at, firstAllocation + pointer.allocation, pointer.offset});
  }
  if (parameter.bytes == sizeof(void*) && !passed.pointers.empty()) {
    result.allocation = passed.pointers.front().allocation;
    result.byteOffset = passed.pointers.front().byteOffset;
  }
  result.passed = std::move(passed);
  return result;
}

Extent extent(const std::uint32_t (&axes)[3]) { return Dim3{axes[0], axes[1], axes[2]}; }

} // namespace

SeenLaunches seenLaunches(const WireReader& reader, const std::function<Location(std::uint64_t)>& place,
                          const std::function<std::string(const Location&)>& name) {
  SeenLaunches seen;
  for (const wire::Arguments* record : reader.arguments) {
    Launch launch;
    launch.kernel = reader.text(record->symbol);
    const Behind given = behind(*record);
    bool isKnown = !(record->flags & (wire::MoreLaunches | wire::HidesPointer)) && !reader.truncated;
    for (const wire::PassedParameter& parameter : given.parameters) isKnown &= isWithin(parameter, given);
    for (const wire::PassedPointer& pointer : given.pointers)
      isKnown &= pointer.allocation < record->pointers;
    if (!isKnown) {
      seen.incomplete.insert(launch.kernel);
      continue;
    }
    launch.where = place(record->caller);
    launch.grid = extent(record->grid);
    launch.block = extent(record->block);
    launch.sharedBytes = record->sharedBytes;
    const std::size_t firstAllocation = seen.allocations.size();
    for (const wire::PassedPointer& pointer : given.pointers) {
      const std::size_t number = firstAllocation + pointer.allocation;
      if (number >= seen.allocations.size()) seen.allocations.resize(number + 1);
      Allocation& allocation = seen.allocations[number];
      allocation.bytes = pointer.bytes;
      allocation.where = place(pointer.allocatedBy);
      allocation.name = name(allocation.where);
    }
    for (const wire::PassedParameter& parameter : given.parameters)
      launch.arguments.push_back(argument(parameter, given, firstAllocation));
    seen.launches.push_back(std::move(launch));
  }
  return seen;
}

} // namespace kcheck::instrument
