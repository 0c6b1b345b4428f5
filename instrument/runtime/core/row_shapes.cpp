// How the addresses of a row lie, and what the request costs: the common shapes without looking at each lane.
#include "instrument/runtime/core/row_firsts.h"
#include "instrument/runtime/core/rows.h"
#include "instrument/runtime/core/vectors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace kcheck::runtime {
namespace {

KCHECK_INLINE std::uint32_t firstPositions(std::uint32_t count) { return ~std::uint32_t{0} >> (32 - count); }

struct Differences {
  Address fromRun, fromFirst; ///< 0 when contiguous, uniform
};

/// Of `count` addresses; what lies behind, up to `width`, repeats the last.
template <std::uint32_t width>
KCHECK_INLINE Differences differences(const Address* at, std::uint32_t count, std::uint32_t bytes) {
  Differences result{0, 0};
  for (std::uint32_t i = 0; i < width; ++i) {
    Address distance = at[i] - at[0];
    result.fromRun |= i < count ? distance ^ (Address{i} * bytes) : 0;
    result.fromFirst |= distance;
  }
  return result;
}

template <std::uint32_t width>
KCHECK_INLINE RowShape shapeOf(const Address* at, std::uint32_t count, std::uint32_t bytes) {
  Differences found = differences<width>(at, count, bytes);
  return !found.fromRun ? RowShape::Contiguous : !found.fromFirst ? RowShape::Uniform : RowShape::Other;
}

KCHECK_INLINE std::uint32_t sectorsOf(Address first, std::uint64_t bytes) {
  return static_cast<std::uint32_t>((first + bytes - 1) / kSector - first / kSector + 1);
}

KCHECK_INLINE std::uint32_t idealSectorsOf(std::uint64_t bytes) {
  return static_cast<std::uint32_t>((bytes + kSector - 1) / kSector);
}

/// The two halves' ranges when each is contiguous or uniform.
struct Range {
  Address first, end;
};
KCHECK_INLINE Range rangeOf(const Address* at, RowShape shape, std::uint32_t lanes, std::uint32_t bytes) {
  return {at[0], at[0] + (shape == RowShape::Uniform ? bytes : Address{lanes} * bytes)};
}

/// The positions whose address none before them has.
KCHECK_INLINE std::uint32_t firstAmong(const Address* values, std::uint32_t count) {
  std::uint32_t firsts = 0;
  for (std::uint32_t i = 0; i < count; ++i) firsts |= static_cast<std::uint32_t>(isFirst(values, i)) << i;
  return firsts;
}

#ifdef KCHECK_HAS_CONFLICTS
/// The same, by the instruction made for it.
KCHECK_CONFLICTS std::uint32_t firstByConflicts(const std::uint32_t* values, std::uint32_t count) {
  __m512i low = _mm512_loadu_si512(values), high = _mm512_loadu_si512(values + 16);
  auto first =
      static_cast<std::uint32_t>(_mm512_testn_epi32_mask(_mm512_conflict_epi32(low), _mm512_set1_epi32(-1)));
  if (count <= 16) return first & firstPositions(count);
  __mmask16 known = 0;
  for (std::uint32_t i = 0; i < 16; ++i)
    known |= _mm512_cmpeq_epi32_mask(high, _mm512_set1_epi32(static_cast<int>(values[i])));
  std::uint32_t second = static_cast<std::uint32_t>(
                             _mm512_testn_epi32_mask(_mm512_conflict_epi32(high), _mm512_set1_epi32(-1))) &
                         ~known;
  return (first | second << 16) & firstPositions(count);
}
const bool findsConflicts = hasConflicts();
#endif

KCHECK_INLINE std::uint32_t firstOfEach(const Address* values, std::uint32_t count) {
  std::uint32_t near[32], far = 0;
  for (std::uint32_t i = 0; i < 32; ++i) {
    Address distance = values[i] - values[0] + 0x7FFF'FFFF;
    near[i] = static_cast<std::uint32_t>(distance);
    far |= static_cast<std::uint32_t>(distance >> 32) | static_cast<std::uint32_t>(near[i] == ~0u);
  }
  if (far) return firstAmong(values, count);
#ifdef KCHECK_HAS_CONFLICTS
  if (findsConflicts) return firstByConflicts(near, count);
#endif
  return firstOnes(near, count);
}

/// The positions whose address differs from the one before, without its lowest `shift` bits; `ascending`:
/// none is lower.
template <unsigned shift> KCHECK_INLINE std::uint32_t steps(const Address* at, bool& ascending) {
  std::uint32_t different = 1, lower = 0;
  for (std::uint32_t i = 1; i < 32; ++i) {
    different |= static_cast<std::uint32_t>(((at[i] ^ at[i - 1]) >> shift) != 0) << i;
    lower |= static_cast<std::uint32_t>(at[i] < at[i - 1]);
  }
  ascending = !lower;
  return different;
}

/// The first positions with each sector.
KCHECK_INLINE std::uint32_t sectorsOfEach(const Address* at, std::uint32_t count, bool ascending) {
  if (ascending) return steps<kSectorBits>(at, ascending);
  Address sectors[32];
  for (std::uint32_t i = 0; i < 32; ++i) sectors[i] = at[i] / kSector;
  return firstOfEach(sectors, count);
}

/// Lanes that have nothing in common with a run.
KCHECK_INLINE void makeScattered(RowClass& row, const Address* at, std::uint32_t count) {
  row.shape = RowShape::Other;
  row.first = steps<0>(at, row.ascending);
  row.sectors = sectorsOfEach(at, count, row.ascending);
  row.origin = at[0];
  row.odd = 0;
  for (std::uint32_t i = 0; i < 32; ++i) row.odd |= at[i];
  if (row.ascending) return;
  bool apart = row.sectors == firstPositions(count); // and so are the addresses
  row.first = apart ? row.sectors : firstOfEach(at, count);
}

/// Each lane in sectors of its own, which follow each other upwards: what a column of a row-major matrix is.
KCHECK_INLINE bool ascendingApart(const Address* at, std::uint32_t bytes) {
  Address wrong = 0;
  for (std::uint32_t i = 1; i < 32; ++i)
    wrong |= (at[i] / kSector <= (at[i - 1] + bytes - 1) / kSector) ? 1u : 0u;
  return !wrong;
}

/// The same distance between any two neighbours of 32, not 0.
KCHECK_INLINE bool evenlyApart(const Address* at) {
  Address distance = at[1] - at[0], wrong = 0;
  for (std::uint32_t i = 1; i < 32; ++i) wrong |= at[i] ^ (at[0] + Address{i} * distance);
  return distance && !wrong;
}

/// Whether no two lanes need different words of one bank; words of 4 bytes.
KCHECK_INLINE bool withoutConflict(const Address* at, std::uint32_t count) {
  Address word[32];
  std::uint32_t met = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    Address here = at[i] / 4;
    std::uint32_t bank = here % 32;
    if ((met >> bank & 1) && word[bank] != here) return false;
    word[bank] = here;
    met |= 1u << bank;
  }
  return true;
}

/// The careful count, which goes by halves and quarters of the warp where accesses are wide.
std::uint32_t countWays(const Address* at, const RowLanes& lanes, std::uint32_t bytes) {
  Address byLane[kWarpSize]{};
  for (std::uint32_t i = 0; i < lanes.count; ++i) byLane[lanes.lane[i]] = at[i];
  return costOfShared(byLane, lanes.mask, bytes).bankWays;
}

KCHECK_INLINE std::uint32_t waysOfRow(const Address* at, const RowLanes& lanes, std::uint32_t bytes,
                                      const RowClass& row) {
  if (row.shape == RowShape::Uniform) return 1;
  if (bytes != 4) return countWays(at, lanes, bytes);
  if (row.shape == RowShape::Contiguous) return 1;
  if (row.shape == RowShape::Halves && row.half[0] == row.half[1]) {
    if (at[0] == at[16]) return 1;
    Address one = at[0] / 4, other = at[16] / 4;
    if (row.half[0] == RowShape::Uniform) return one != other && one % 32 == other % 32 ? 2 : 1;
  }
  if (lanes.count == kWarpSize && evenlyApart(at) && !((at[1] - at[0]) % 4))
    return std::uint32_t{1} << std::countr_zero((at[1] - at[0]) / 4 | 32);
  return withoutConflict(at, lanes.count) ? 1 : countWays(at, lanes, bytes);
}

/// The positions of the bits of a byte, one byte each.
constexpr std::array<std::uint64_t, 256> kLanesOfByte = [] {
  std::array<std::uint64_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte)
    for (std::uint64_t bit = 0, count = 0; bit < 8; ++bit)
      if (byte >> bit & 1) table[byte] |= bit << (8 * count++);
  return table;
}();

} // namespace

RowLanes::RowLanes(std::uint32_t active) : mask(active), count(0) {
  for (std::uint32_t first = 0; first < kWarpSize; first += 8) {
    const std::uint8_t bits = static_cast<std::uint8_t>(mask >> first);
    std::uint64_t eight = kLanesOfByte[bits] + first * 0x0101'0101'0101'0101;
    std::memcpy(lane + count, &eight, sizeof eight); // what is too much is written over
    count += static_cast<std::uint32_t>(std::popcount(bits));
  }
  std::fill(lane + count, lane + kWarpSize, count ? lane[count - 1] : std::uint8_t{0});
  std::uint32_t run = count ? mask >> lane[0] : 0;
  neighbours = (run & (run + 1)) == 0;
}

KCHECK_VECTORS void classify(RowClass& row, const Address* at, const RowLanes& lanes, std::uint32_t bytes) {
  row.shape = shapeOf<32>(at, lanes.count, bytes);
  if (row.shape == RowShape::Uniform || (row.shape == RowShape::Contiguous && lanes.neighbours)) return;
  if (lanes.count == kWarpSize) {
    row.half[0] = shapeOf<16>(at, 16, bytes);
    row.half[1] = shapeOf<16>(at + 16, 16, bytes);
    row.shape = RowShape::Halves;
    if (row.half[0] != RowShape::Other && row.half[1] != RowShape::Other) return;
  }
  makeScattered(row, at, lanes.count);
}

KCHECK_VECTORS RequestCost costOfRow(const Address* at, const RowLanes& lanes, std::uint32_t bytes,
                                     bool shared, const RowClass& row) {
  RequestCost cost;
  if (shared) {
    cost.bankWays = waysOfRow(at, lanes, bytes, row);
    return cost;
  }
  if (row.shape == RowShape::Contiguous) {
    cost.sectors = sectorsOf(at[0], Address{lanes.count} * bytes);
    cost.idealSectors = idealSectorsOf(Address{lanes.count} * bytes);
    return cost;
  }
  if (row.shape == RowShape::Uniform) {
    cost.sectors = sectorsOf(at[0], bytes);
    cost.idealSectors = idealSectorsOf(bytes);
    return cost;
  }
  if (row.shape == RowShape::Halves) {
    Range low = rangeOf(at, row.half[0], 16, bytes), high = rangeOf(at + 16, row.half[1], 16, bytes);
    bool apart =
        (low.end - 1) / kSector < high.first / kSector || (high.end - 1) / kSector < low.first / kSector;
    if (apart) {
      cost.sectors = sectorsOf(low.first, low.end - low.first) + sectorsOf(high.first, high.end - high.first);
      cost.idealSectors = idealSectorsOf(low.end - low.first + high.end - high.first);
      return cost;
    }
  }
  if (row.shape != RowShape::Other && ascendingApart(at, bytes)) { // halves
    for (std::uint32_t i = 0; i < 32; ++i) cost.sectors += sectorsOf(at[i], bytes);
    cost.idealSectors = bytes; // 32 lanes in sectors of 32 bytes
    return cost;
  }
  RowClass scattered = row;
  if (row.shape != RowShape::Other) makeScattered(scattered, at, lanes.count);
  if (!scattered.isAligned(at[0], bytes)) return costOfGlobal(at, firstPositions(lanes.count), bytes);
  if (at[0] != scattered.origin) scattered.sectors = sectorsOfEach(at, lanes.count, scattered.ascending);
  return costOfScattered(scattered, bytes);
}

} // namespace kcheck::runtime
