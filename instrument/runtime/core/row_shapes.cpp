// How the addresses of a row lie, and what the request costs: the common shapes without looking at each lane.
#include "instrument/runtime/core/rows.h"

#include <bit>

namespace kcheck::runtime {
namespace {

constexpr std::uint32_t kFull = ~std::uint32_t{0};
constexpr Address kSector = 32;

bool neighbours(std::uint32_t mask) {
  mask >>= std::countr_zero(mask);
  return (mask & (mask + 1)) == 0;
}

struct Differences {
  Address fromRun, fromFirst; ///< 0 when contiguous, uniform
};

Differences differences(const Address* addresses, std::uint32_t lanes, std::uint32_t bytes) {
  Differences result{0, 0};
  for (std::uint32_t i = 1; i < lanes; ++i) {
    Address distance = addresses[i] - addresses[0];
    result.fromRun |= distance ^ (Address{i} * bytes);
    result.fromFirst |= distance;
  }
  return result;
}

RowShape shapeOf(const Address* addresses, std::uint32_t lanes, std::uint32_t bytes) {
  Differences found = differences(addresses, lanes, bytes);
  return !found.fromRun ? RowShape::Contiguous : !found.fromFirst ? RowShape::Uniform : RowShape::Other;
}

std::uint64_t sectorsOf(Address first, std::uint64_t bytes) {
  return (first + bytes - 1) / kSector - first / kSector + 1;
}

Traffic emptyCost(std::uint32_t mask, std::uint32_t bytes) {
  Traffic traffic;
  traffic.requests = 1;
  traffic.lanes = static_cast<std::uint64_t>(std::popcount(mask));
  traffic.bytes = traffic.lanes * bytes;
  return traffic;
}

/// The two halves' ranges when each is contiguous or uniform.
struct Range {
  Address first, end;
};
Range rangeOf(const Address* addresses, RowShape shape, std::uint32_t lanes, std::uint32_t bytes) {
  return {addresses[0], addresses[0] + (shape == RowShape::Uniform ? bytes : Address{lanes} * bytes)};
}

/// Each lane in sectors of its own, which follow each other upwards: what a column of a row-major matrix is.
bool ascendingApart(const Address* addresses, std::uint32_t bytes) {
  Address wrong = 0;
  for (std::uint32_t lane = 1; lane < 32; ++lane)
    wrong |= (addresses[lane] / kSector <= (addresses[lane - 1] + bytes - 1) / kSector) ? 1u : 0u;
  return !wrong;
}

/// The cost of accesses that lie anywhere, each within one sector.
void addScattered(Traffic& traffic, const Address* addresses, std::uint32_t mask, std::uint32_t bytes) {
  constexpr std::uint32_t slots = 64;
  std::uint8_t index[slots]{};
  Address number[32];
  std::uint32_t asked[32], used = 0;
  std::uint32_t bits = (1u << bytes) - 1;
  for (; mask; mask &= mask - 1) {
    Address address = addresses[std::countr_zero(mask)], sector = address / kSector;
    auto slot = static_cast<std::uint32_t>(sector * 0x9E3779B97F4A7C15u >> 58);
    while (index[slot] && number[index[slot] - 1] != sector) slot = (slot + 1) % slots;
    if (!index[slot]) {
      number[used] = sector;
      asked[used] = 0;
      index[slot] = static_cast<std::uint8_t>(++used);
    }
    asked[index[slot] - 1] |= bits << address % kSector;
  }
  std::uint32_t distinct = 0;
  for (std::uint32_t i = 0; i < used; ++i) distinct += static_cast<std::uint32_t>(std::popcount(asked[i]));
  traffic.sectors = used;
  traffic.idealSectors = (distinct + kSector - 1) / kSector;
}

bool eachWithinSector(const Address* addresses, std::uint32_t mask, std::uint32_t bytes) {
  Address odd = 0;
  for (; mask; mask &= mask - 1) odd |= addresses[std::countr_zero(mask)];
  return !(odd & (bytes - 1));
}

/// Whether no two lanes need different words of one bank; words of 4 bytes.
bool withoutConflict(const Address* addresses, std::uint32_t mask) {
  Address word[32];
  std::uint32_t met = 0;
  for (std::uint32_t left = mask; left; left &= left - 1) {
    Address here = addresses[std::countr_zero(left)] / 4;
    std::uint32_t bank = here % 32;
    if ((met >> bank & 1) && word[bank] != here) return false;
    word[bank] = here;
    met |= 1u << bank;
  }
  return true;
}

} // namespace

RowClass classify(const Address* addresses, std::uint32_t mask, std::uint32_t bytes) {
  if (!neighbours(mask)) return {RowShape::Other, {}};
  auto first = static_cast<std::uint32_t>(std::countr_zero(mask));
  auto lanes = static_cast<std::uint32_t>(std::popcount(mask));
  RowShape whole = shapeOf(addresses + first, lanes, bytes);
  if (whole != RowShape::Other || mask != kFull) return {whole, {}};
  RowShape low = shapeOf(addresses, 16, bytes), high = shapeOf(addresses + 16, 16, bytes);
  if (low == RowShape::Other || high == RowShape::Other) return {RowShape::Other, {}};
  return {RowShape::Halves, {low, high}};
}

Traffic costOfRow(const Address* addresses, std::uint32_t mask, std::uint32_t bytes, bool shared,
                  const RowClass& row) {
  Traffic traffic = emptyCost(mask, bytes);
  Address first = addresses[std::countr_zero(mask)];
  if (shared) {
    traffic.bankWays = 1;
    bool sameHalves =
        row.shape == RowShape::Halves && row.half[0] == row.half[1] && addresses[0] == addresses[16];
    bool whole = row.shape == RowShape::Uniform || (row.shape == RowShape::Contiguous && bytes == 4) ||
                 (sameHalves && bytes == 4);
    bool twoWords = row.shape == RowShape::Halves && row.half[0] == RowShape::Uniform &&
                    row.half[1] == RowShape::Uniform && bytes == 4;
    if (twoWords) {
      Address one = addresses[0] / 4, other = addresses[16] / 4;
      traffic.bankWays = one != other && one % 32 == other % 32 ? 2 : 1;
      return traffic;
    }
    if (whole || (bytes == 4 && withoutConflict(addresses, mask))) return traffic;
    return costOfShared(addresses, mask, bytes);
  }
  if (row.shape == RowShape::Contiguous) {
    traffic.sectors = sectorsOf(first, traffic.bytes);
    traffic.idealSectors = (traffic.bytes + kSector - 1) / kSector;
    return traffic;
  }
  if (row.shape == RowShape::Uniform) {
    traffic.sectors = sectorsOf(first, bytes);
    traffic.idealSectors = (bytes + kSector - 1) / kSector;
    return traffic;
  }
  if (row.shape == RowShape::Halves) {
    Range low = rangeOf(addresses, row.half[0], 16, bytes),
          high = rangeOf(addresses + 16, row.half[1], 16, bytes);
    bool apart =
        (low.end - 1) / kSector < high.first / kSector || (high.end - 1) / kSector < low.first / kSector;
    if (apart) {
      traffic.sectors =
          sectorsOf(low.first, low.end - low.first) + sectorsOf(high.first, high.end - high.first);
      traffic.idealSectors = (low.end - low.first + high.end - high.first + kSector - 1) / kSector;
      return traffic;
    }
  }
  if (mask == kFull && ascendingApart(addresses, bytes)) {
    for (std::uint32_t lane = 0; lane < 32; ++lane) traffic.sectors += sectorsOf(addresses[lane], bytes);
    traffic.idealSectors = bytes; // 32 lanes in sectors of 32 bytes
    return traffic;
  }
  if (!eachWithinSector(addresses, mask, bytes)) return costOfGlobal(addresses, mask, bytes);
  addScattered(traffic, addresses, mask, bytes);
  return traffic;
}

} // namespace kcheck::runtime
