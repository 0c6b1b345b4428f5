// How the addresses of a row lie, and what the request costs: the common shapes without looking at each lane.
#include "instrument/runtime/core/rows.h"
#include "instrument/runtime/core/vectors.h"

#include <bit>

namespace kcheck::runtime {
namespace {

constexpr std::uint32_t kFull = ~std::uint32_t{0};
constexpr Address kSector = 32;

KCHECK_INLINE bool neighbours(std::uint32_t mask) {
  mask >>= std::countr_zero(mask);
  return (mask & (mask + 1)) == 0;
}

struct Differences {
  Address fromRun, fromFirst; ///< 0 when contiguous, uniform
};

KCHECK_INLINE Differences differences(const Address* addresses, std::uint32_t lanes, std::uint32_t bytes) {
  Differences result{0, 0};
  for (std::uint32_t i = 1; i < lanes; ++i) {
    Address distance = addresses[i] - addresses[0];
    result.fromRun |= distance ^ (Address{i} * bytes);
    result.fromFirst |= distance;
  }
  return result;
}

KCHECK_INLINE RowShape shapeOf(const Address* addresses, std::uint32_t lanes, std::uint32_t bytes) {
  Differences found = differences(addresses, lanes, bytes);
  return !found.fromRun ? RowShape::Contiguous : !found.fromFirst ? RowShape::Uniform : RowShape::Other;
}

KCHECK_INLINE std::uint64_t sectorsOf(Address first, std::uint64_t bytes) {
  return (first + bytes - 1) / kSector - first / kSector + 1;
}

KCHECK_INLINE Traffic emptyCost(std::uint32_t mask, std::uint32_t bytes) {
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
KCHECK_INLINE Range rangeOf(const Address* addresses, RowShape shape, std::uint32_t lanes,
                            std::uint32_t bytes) {
  return {addresses[0], addresses[0] + (shape == RowShape::Uniform ? bytes : Address{lanes} * bytes)};
}

/// Lanes enter themselves in a small table by their value, the first one last; whoever finds another value in
/// its place tries again with those that are left.
KCHECK_INLINE std::uint32_t firstOfEach(const Address* values, std::uint32_t mask) {
  constexpr std::uint32_t shift = 24;
  std::uint8_t place[32], table[1u << (32 - shift)];
  for (std::uint32_t lane = 0; lane < 32; ++lane)
    place[lane] = static_cast<std::uint8_t>(
        static_cast<std::uint32_t>(values[lane] ^ values[lane] >> 32) * 0x9E3779B1u >> shift);
  std::uint32_t first = 0;
  while (mask) {
    for (std::uint32_t left = mask; left;) {
      std::uint32_t lane = 31 - static_cast<std::uint32_t>(std::countl_zero(left));
      table[place[lane]] = static_cast<std::uint8_t>(lane);
      left ^= 1u << lane;
    }
    std::uint32_t again = 0;
    for (std::uint32_t left = mask; left; left &= left - 1) {
      auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
      std::uint32_t holder = table[place[lane]];
      first |= static_cast<std::uint32_t>(holder == lane) << lane;
      again |= static_cast<std::uint32_t>(values[holder] != values[lane]) << lane;
    }
    mask = again;
  }
  return first;
}

/// The lanes whose value differs from that of the lane before; `ascending`: none is lower.
KCHECK_INLINE std::uint32_t steps(const Address* values, bool& ascending) {
  std::uint32_t different = 1, lower = 0;
  for (std::uint32_t lane = 1; lane < 32; ++lane) {
    different |= static_cast<std::uint32_t>(values[lane] != values[lane - 1]) << lane;
    lower |= static_cast<std::uint32_t>(values[lane] < values[lane - 1]);
  }
  ascending = !lower;
  return different;
}

/// Lanes that have nothing in common with a run.
KCHECK_INLINE void makeScattered(RowClass& row, const Address* addresses, std::uint32_t mask) {
  row.shape = RowShape::Other;
  fillGaps(addresses, mask, row.filled);
  std::uint32_t first = steps(row.filled, row.ascending);
  row.first = row.ascending ? (first & ~1u) | (mask & -mask) : firstOfEach(row.filled, mask);
}

/// The cost of accesses that lie anywhere, aligned to their size: two of them have all bytes in common or
/// none. `distance`: from the addresses in `row`.
KCHECK_INLINE bool addScattered(Traffic& traffic, const RowClass& row, Address distance,
                                std::uint32_t bytes) {
  Address sectors[32], odd = 0;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    odd |= row.filled[lane] + distance;
    sectors[lane] = (row.filled[lane] + distance) / kSector;
  }
  if (odd & (bytes - 1)) return false;
  bool ascending = true;
  std::uint32_t first = row.ascending ? steps(sectors, ascending) : firstOfEach(sectors, row.first);
  traffic.sectors = static_cast<std::uint32_t>(std::popcount(first));
  traffic.idealSectors =
      (static_cast<std::uint32_t>(std::popcount(row.first)) * bytes + kSector - 1) / kSector;
  return true;
}

/// Each lane in sectors of its own, which follow each other upwards: what a column of a row-major matrix is.
KCHECK_INLINE bool ascendingApart(const Address* addresses, std::uint32_t bytes) {
  Address wrong = 0;
  for (std::uint32_t lane = 1; lane < 32; ++lane)
    wrong |= (addresses[lane] / kSector <= (addresses[lane - 1] + bytes - 1) / kSector) ? 1u : 0u;
  return !wrong;
}

/// Whether no two lanes need different words of one bank; words of 4 bytes.
KCHECK_INLINE bool withoutConflict(const Address* addresses, std::uint32_t mask) {
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

KCHECK_VECTORS void classify(RowClass& row, const Address* addresses, std::uint32_t mask,
                             std::uint32_t bytes) {
  if (!neighbours(mask)) return makeScattered(row, addresses, mask);
  auto first = static_cast<std::uint32_t>(std::countr_zero(mask));
  auto lanes = static_cast<std::uint32_t>(std::popcount(mask));
  row.shape = shapeOf(addresses + first, lanes, bytes);
  if (row.shape != RowShape::Other) return;
  if (mask == kFull) {
    row.half[0] = shapeOf(addresses, 16, bytes);
    row.half[1] = shapeOf(addresses + 16, 16, bytes);
    row.shape = RowShape::Halves;
    if (row.half[0] != RowShape::Other && row.half[1] != RowShape::Other) return;
  }
  makeScattered(row, addresses, mask);
}

KCHECK_VECTORS Traffic costOfRow(const Address* addresses, std::uint32_t mask, std::uint32_t bytes,
                                 bool shared, const RowClass& row) {
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
  bool added = false;
  if (row.shape == RowShape::Other) {
    added = addScattered(traffic, row, first - row.filled[0], bytes);
  } else {
    RowClass other;
    makeScattered(other, addresses, mask);
    added = addScattered(traffic, other, 0, bytes);
  }
  return added ? traffic : costOfGlobal(addresses, mask, bytes);
}

} // namespace kcheck::runtime
