#include "analyzer/traffic/cost.h"

#include <algorithm>
#include <bit>

namespace kcheck::analyzer {
namespace {

constexpr std::int64_t kSector = 32;

/// The most distinct words of one bank among some lanes.
std::uint32_t waysOf(const LaneProgram::Row& offsets, std::uint32_t mask, std::uint32_t wordsPerLane) {
  std::array<std::int64_t, 4 * LaneProgram::kLanes> words;
  std::size_t count = 0;
  for (unsigned lane = 0; lane < LaneProgram::kLanes; ++lane)
    if (mask >> lane & 1)
      for (std::uint32_t word = 0; word < wordsPerLane; ++word) words[count++] = (offsets[lane] >> 2) + word;
  std::sort(words.begin(), words.begin() + count);
  const auto end = std::unique(words.begin(), words.begin() + count);
  std::array<std::uint32_t, 32> ways{};
  std::uint32_t most = 0;
  for (auto word = words.begin(); word != end; ++word) most = std::max(most, ++ways[std::size_t(*word & 31)]);
  return most;
}

} // namespace

RequestCost costOfGlobal(const LaneProgram::Row& offsets, std::uint32_t mask, std::uint32_t bytes) {
  RequestCost cost;
  cost.bytes = std::uint64_t(std::popcount(mask)) * bytes;
  // Intervals in order: sectors and distinct bytes can be counted in one go.
  std::array<std::int64_t, LaneProgram::kLanes> sorted;
  std::size_t count = 0;
  bool inOrder = true;
  for (unsigned lane = 0; lane < LaneProgram::kLanes; ++lane)
    if (mask >> lane & 1) {
      inOrder &= count == 0 || sorted[count - 1] <= offsets[lane];
      sorted[count++] = offsets[lane];
    }
  if (!inOrder) std::sort(sorted.begin(), sorted.begin() + count);
  std::int64_t nextSector = INT64_MIN, nextByte = INT64_MIN;
  std::uint64_t distinct = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t end = sorted[i] + bytes, from = std::max(sorted[i], nextByte);
    if (end > from) distinct += std::uint64_t(end - from), nextByte = end;
    const std::int64_t first = std::max(sorted[i] >> 5, nextSector), last = (end - 1) >> 5;
    if (last >= first) cost.sectors += std::uint64_t(last - first + 1), nextSector = last + 1;
  }
  cost.idealSectors = (distinct + kSector - 1) / kSector;
  return cost;
}

/// 8-byte accesses are served in two halves of the warp, 16-byte accesses in four quarters.
RequestCost costOfShared(const LaneProgram::Row& offsets, std::uint32_t mask, std::uint32_t bytes) {
  RequestCost cost;
  cost.bytes = std::uint64_t(std::popcount(mask)) * bytes;
  cost.bankWays = 1;
  const unsigned first = unsigned(std::countr_zero(mask));
  bool same = true;
  for (unsigned lane = 0; lane < LaneProgram::kLanes; ++lane)
    same &= !(mask >> lane & 1) || offsets[lane] == offsets[first];
  if (same) return cost;
  const std::uint32_t parts = std::max<std::uint32_t>(1, bytes / 4), width = 32 / parts;
  for (std::uint32_t part = 0; part < parts; ++part) {
    const std::uint32_t lanes = width == 32 ? ~std::uint32_t{0} : ((1U << width) - 1) << (part * width);
    if (mask & lanes) cost.bankWays = std::max(cost.bankWays, waysOf(offsets, mask & lanes, parts));
  }
  return cost;
}

} // namespace kcheck::analyzer
