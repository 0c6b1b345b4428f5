#include "instrument/runtime/core/row_series.h"

#include <algorithm>

namespace kcheck::runtime {
namespace {

constexpr std::size_t kFewest = 4;

bool fits(const abi::LoggedAccess& access, const abi::LoggedAccess& first) {
  std::int32_t distance = access.offset - first.offset;
  return access.row == first.row && !access.distance && access.bytes == first.bytes &&
         access.site == first.site && distance % access.bytes == 0;
}

} // namespace

SegmentSeries::SegmentSeries(const abi::LogSegment& segment, const abi::LoggedAccess* accesses) {
  const abi::LoggedAccess* from = accesses + segment.first;
  const abi::LoggedAccess* to = std::find_if(from, from + segment.count, [](const abi::LoggedAccess& access) {
    return access.kind != abi::SiteKind::Read;
  });
  member.assign(static_cast<std::size_t>(to - from), kNone);
  for (const abi::LoggedAccess* first = from; first != to && series.size() < kNone; ++first) {
    if (member[static_cast<std::size_t>(first - from)] != kNone || first->bytes < 4 || first->distance)
      continue;
    std::vector<std::int32_t> offsets;
    for (const abi::LoggedAccess* access = first; access != to; ++access)
      if (fits(*access, *first)) offsets.push_back(access->offset);
    if (offsets.size() < kFewest) continue;
    for (const abi::LoggedAccess* access = first; access != to; ++access)
      if (fits(*access, *first))
        member[static_cast<std::size_t>(access - from)] = static_cast<std::uint8_t>(series.size());
    std::sort(offsets.begin(), offsets.end());
    bool dense = true;
    for (std::size_t i = 1; i < offsets.size(); ++i) dense &= offsets[i] == offsets[i - 1] + first->bytes;
    series.push_back(
        {first, static_cast<std::uint32_t>(offsets.size()), offsets.front(), offsets.back(), dense});
  }
  if (series.empty()) member.clear();
}

const SegmentSeries& SeriesTable::of(std::uint32_t segment, const abi::ModuleEntry& module) {
  if (owner != &module) {
    owner = &module;
    entries.assign(module.segmentCount, {});
  }
  Entry& entry = entries[segment];
  if (!entry.known) entry = {true, SegmentSeries(module.segments[segment], module.accesses)};
  return entry.series;
}

} // namespace kcheck::runtime
