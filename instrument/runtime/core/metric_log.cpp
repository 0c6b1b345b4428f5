#include "instrument/runtime/core/metric_log.h"
#include "instrument/runtime/core/vectors.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace kcheck::runtime {
namespace {

constexpr std::uint32_t kFull = ~std::uint32_t{0};

/// All lanes active, each right behind the one before.
bool isContiguous(const Address* addresses, std::uint32_t bytes) {
  Address wrong = 0;
  for (std::uint32_t lane = 1; lane < 32; ++lane)
    wrong |= addresses[lane] ^ (addresses[0] + Address{lane} * bytes);
  return wrong == 0;
}

KCHECK_INLINE bool isUniform(const Address* addresses, std::uint32_t mask) {
  Address first = addresses[std::countr_zero(mask)], wrong = 0;
  for (std::uint32_t lane = 0; lane < 32; ++lane)
    if (mask >> lane & 1) wrong |= addresses[lane] ^ first;
  return wrong == 0;
}

std::uint64_t sectorsOf(Address first, std::uint64_t bytes) {
  return (first + bytes - 1) / kSector - first / kSector + 1;
}

/// The sectors that a request touches, each with the bytes of it that are asked for.
class SectorSet {
public:
  void add(Address address, std::uint32_t bytes) {
    while (bytes) {
      std::uint32_t offset = address % kSector, here = std::min<std::uint32_t>(bytes, kSector - offset);
      std::uint32_t mask = (here == 32 ? kFull : (1u << here) - 1) << offset;
      find(address / kSector) |= mask;
      address += here;
      bytes -= here;
    }
  }
  std::uint32_t count() const { return used; }
  std::uint64_t distinctBytes() const {
    std::uint64_t bytes = 0;
    for (std::uint32_t i = 0; i < used; ++i) bytes += static_cast<std::uint64_t>(std::popcount(masks[i]));
    return bytes;
  }

private:
  std::uint32_t& find(Address sector) {
    std::uint32_t slot = static_cast<std::uint32_t>(sector * 0x9E3779B1u >> 3) % kSlots;
    while (index[slot] && numbers[index[slot] - 1] != sector) slot = (slot + 1) % kSlots;
    if (!index[slot]) {
      numbers[used] = sector;
      masks[used] = 0;
      index[slot] = static_cast<std::uint8_t>(++used);
    }
    return masks[index[slot] - 1];
  }
  static constexpr std::uint32_t kSlots = 128;
  std::uint8_t index[kSlots]{};
  Address numbers[64];
  std::uint32_t masks[64];
  std::uint32_t used = 0;
};

/// The most distinct words of one bank among some lanes.
std::uint32_t bankWays(const Address* addresses, std::uint32_t mask, std::uint32_t wordsPerLane) {
  Address words[64];
  std::uint32_t count = 0;
  for (std::uint32_t lane = 0; lane < 32; ++lane)
    if (mask >> lane & 1)
      for (std::uint32_t word = 0; word < wordsPerLane; ++word) words[count++] = addresses[lane] / 4 + word;
  std::sort(words, words + count);
  count = static_cast<std::uint32_t>(std::unique(words, words + count) - words);
  std::uint32_t ways[32]{}, most = 0;
  for (std::uint32_t i = 0; i < count; ++i) most = std::max(most, ++ways[words[i] % 32]);
  return most;
}

} // namespace

RequestCost costOfGlobal(const Address* addresses, std::uint32_t mask, std::uint32_t bytes) {
  RequestCost cost;
  if (mask == kFull && isContiguous(addresses, bytes)) {
    cost.sectors = sectorsOf(addresses[0], 32 * bytes);
    cost.idealSectors = bytes;
    return cost;
  }
  if (isUniform(addresses, mask)) {
    cost.sectors = sectorsOf(addresses[std::countr_zero(mask)], bytes);
    cost.idealSectors = (bytes + kSector - 1) / kSector;
    return cost;
  }
  SectorSet sectors;
  for (std::uint32_t lane = 0; lane < 32; ++lane)
    if (mask >> lane & 1) sectors.add(addresses[lane], bytes);
  cost.sectors = sectors.count();
  cost.idealSectors = (sectors.distinctBytes() + kSector - 1) / kSector;
  return cost;
}

/// 8-byte accesses are served in two halves of the warp, 16-byte accesses in four quarters.
RequestCost costOfShared(const Address* addresses, std::uint32_t mask, std::uint32_t bytes) {
  RequestCost cost;
  cost.bankWays = 1;
  if ((mask == kFull && bytes >= 4 && isContiguous(addresses, bytes)) || isUniform(addresses, mask))
    return cost;
  std::uint32_t wordsPerLane = std::max<std::uint32_t>(1, bytes / 4), parts = wordsPerLane;
  for (std::uint32_t part = 0; part < parts; ++part) {
    std::uint32_t width = 32 / parts;
    std::uint32_t lanes = width == 32 ? kFull : ((1u << width) - 1) << (part * width);
    if (mask & lanes)
      cost.bankWays = std::max(cost.bankWays, bankWays(addresses, mask & lanes, wordsPerLane));
  }
  return cost;
}

KCHECK_VECTORS std::uint32_t turnsOf(const Address* addresses, std::uint32_t mask) {
  if (isUniform(addresses, mask)) return static_cast<std::uint32_t>(std::popcount(mask));
  Address around[64]; // twice, so that each lane is compared with all that follow it in the circle
  for (std::uint32_t lane = 0; lane < 32; ++lane)
    around[lane] = around[lane + 32] = mask >> lane & 1 ? addresses[lane] : ~Address{lane};
  std::uint32_t same[32]{}, most = 0;
  for (std::uint32_t distance = 1; distance < 32; ++distance)
    for (std::uint32_t lane = 0; lane < 32; ++lane)
      same[lane] += around[lane] == around[lane + distance] ? 1u : 0u;
  for (std::uint32_t count : same) most = std::max(most, count);
  return most + 1;
}

void AccessLog::grow() {
  rows.push_back(std::make_unique_for_overwrite<Row[]>(kChunk));
  made += kChunk;
}

bool AccessLog::empty() const {
  return std::all_of(used, used + kLanes, [](std::uint32_t count) { return count == 0; });
}

bool AccessLog::convergent(const Row& row, std::uint32_t mask) const {
  std::uint32_t first = row.entry[std::countr_zero(mask)].site, wrong = 0;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane)
    if (mask >> lane & 1) wrong |= row.entry[lane].site ^ first;
  return wrong == 0;
}

void AccessLog::sortBySite() {
  visits.clear();
  std::size_t hint = 0; // lanes come by the same sites one after the other
  auto visitsOf = [&](std::uint32_t site) -> Visits& {
    for (std::size_t tried = 0; tried < visits.size(); ++tried, ++hint) {
      if (hint >= visits.size()) hint = 0;
      if (visits[hint].site == site) return visits[hint++];
    }
    hint = visits.size() + 1;
    return visits.emplace_back(Visits{site});
  };
  auto eachEntry = [&](auto take) {
    for (std::uint32_t lane = 0; lane < kLanes; ++lane)
      for (std::uint32_t row = 0; row < used[lane]; ++row) {
        const Entry& entry = rows[row / kChunk][row % kChunk].entry[lane];
        take(visitsOf(entry.site), lane, entry.addressAndBytes);
      }
  };
  eachEntry([](Visits& here, std::uint32_t lane, std::uint64_t) { ++here.count[lane]; });
  std::uint32_t next = 0;
  for (Visits& one : visits)
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      one.first[lane] = next;
      next += std::exchange(one.count[lane], 0);
    }
  sorted.resize(next);
  eachEntry([&](Visits& here, std::uint32_t lane, std::uint64_t entry) {
    sorted[here.first[lane] + here.count[lane]++] = entry;
  });
}

} // namespace kcheck::runtime
