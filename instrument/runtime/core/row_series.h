// Reads that a short loop makes when it is written out: the same site, one logged address, several distances
// from it. Where they go to shared memory a row stands for all of them.
#pragma once

#include "instrument/abi.h"

#include <cstdint>
#include <vector>

namespace kcheck::runtime {

struct RowSeries {
  const abi::LoggedAccess* first;
  std::uint32_t count;
  std::int32_t lowest, highest; ///< distances from the logged address
  bool dense;                   ///< the accesses of one lane lie one behind the other
};

/// The series among the reads at the start of a segment, before it changes anything.
class SegmentSeries {
public:
  static constexpr std::uint8_t kNone = 0xFF;
  SegmentSeries() = default;
  explicit SegmentSeries(const abi::LogSegment& segment, const abi::LoggedAccess* accesses);
  const std::vector<RowSeries>& all() const { return series; }
  /// The number of the series that the n-th access of the segment belongs to, or kNone.
  std::uint8_t of(std::uint32_t access) const { return access < member.size() ? member[access] : kNone; }

private:
  std::vector<RowSeries> series;
  std::vector<std::uint8_t> member;
};

/// By segment; made when first asked for.
class SeriesTable {
public:
  const SegmentSeries& of(std::uint32_t segment, const abi::ModuleEntry& module);

private:
  struct Entry {
    bool known = false;
    SegmentSeries series;
  };
  const abi::ModuleEntry* owner = nullptr;
  std::vector<Entry> entries;
};

} // namespace kcheck::runtime
