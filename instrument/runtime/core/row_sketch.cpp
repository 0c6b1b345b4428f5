#include "instrument/runtime/core/row_sketch.h"

#include "instrument/runtime/core/row_firsts.h"
#include "instrument/runtime/core/row_words.h"
#include "instrument/runtime/core/vectors.h"

#include <bit>
#include <cstring>
#include <limits>

namespace kcheck::runtime {
namespace {

using Pair = Address __attribute__((vector_size(32)));
using Eight = std::int32_t __attribute__((vector_size(32)));

} // namespace

KCHECK_VECTORS bool sketchLanes(const Address* at, std::uint32_t count, std::uint32_t bytes, RowSketch& row) {
  // As numbers of 32 bits around the first one's sector.
  const Address origin = at[0] & ~(kSector - 1), lowest = origin - (Address{1} << 31);
  constexpr std::uint32_t vectors = kWarpSize / 8;
  alignas(32) std::uint32_t near[kWarpSize];
  Eight all[vectors], misaligned{};
  Pair far{};
  for (std::uint32_t i = 0; i < vectors; ++i) {
    Pair low, high;
    std::memcpy(&low, at + std::size_t{8} * i, sizeof low);
    std::memcpy(&high, at + std::size_t{8} * i + 4, sizeof high);
    low -= lowest;
    high -= lowest;
    far |= low | high;
    all[i] = __builtin_shufflevector(reinterpret_cast<Eight>(low), reinterpret_cast<Eight>(high), 0, 2, 4, 6,
                                     8, 10, 12, 14) ^
             std::numeric_limits<std::int32_t>::min();
    misaligned |= all[i];
  }
  if (__builtin_reduce_or(far) >> 32) return false;
  Eight lower{}, gaps{}, steps{}, before = __builtin_shufflevector(all[0], all[0], 0, 0, 1, 2, 3, 4, 5, 6);
  Eight position = {0, 1, 2, 3, 4, 5, 6, 7};
  for (std::uint32_t i = 0; i < vectors; ++i) {
    if (i) before = __builtin_shufflevector(all[i - 1], all[i], 7, 8, 9, 10, 11, 12, 13, 14);
    const Eight distance = all[i] - before;
    lower |= all[i] < before;
    gaps |= (distance ^ static_cast<std::int32_t>(bytes)) & (position > 0) &
            (position < static_cast<std::int32_t>(count));
    steps += ((distance != 0) & 1) + (((all[i] ^ before) >= static_cast<std::int32_t>(kSector)) & 0x100) +
             (((all[i] ^ before) < 0) & 0x100);
    position += 8;
  }
  const auto counted = static_cast<std::uint32_t>(__builtin_reduce_add(steps));
  row.first = at[0];
  row.bytes = bytes;
  row.count = count;
  row.aligned = !(static_cast<std::uint32_t>(__builtin_reduce_or(misaligned)) & (bytes - 1));
  row.inRun = !__builtin_reduce_or(gaps) || !(counted & 0xFF);
  row.low = at[0];
  row.high = at[count - 1];
  row.different = 1 + (counted & 0xFF);
  row.sectors = 1 + (counted >> 8);
  if (!__builtin_reduce_or(lower)) return true;
  Eight least = all[0], most = all[0];
  for (const Eight& some : all) {
    least = __builtin_elementwise_min(least, some);
    most = __builtin_elementwise_max(most, some);
  }
  row.low = origin + static_cast<Address>(std::int64_t{__builtin_reduce_min(least)});
  row.high = origin + static_cast<Address>(std::int64_t{__builtin_reduce_max(most)});
  alignas(32) std::uint32_t sectors[kWarpSize];
  for (std::uint32_t i = 0; i < vectors; ++i) {
    const Eight sector = all[i] >> std::countr_zero(kSector);
    std::memcpy(near + std::size_t{8} * i, &all[i], sizeof all[i]);
    std::memcpy(sectors + std::size_t{8} * i, &sector, sizeof sector);
  }
  row.sectors = static_cast<std::uint32_t>(std::popcount(firstOnes(sectors, count)));
  row.different =
      row.sectors == count ? count : static_cast<std::uint32_t>(std::popcount(firstOnes(near, count)));
  return true;
}

#ifdef KCHECK_HAS_CONFLICTS
namespace {

/// A function that others of this file are made of.
#define KCHECK_PART KCHECK_CONFLICTS __attribute__((always_inline)) inline

/// The numbers of 32 lanes.
struct Numbers {
  __m512i low, high;
};

/// How many of the first `count` numbers none before them equals.
KCHECK_PART std::uint32_t countDifferent(Numbers values, std::uint32_t count) {
  const auto valid = static_cast<std::uint32_t>((std::uint64_t{1} << count) - 1);
  const __m512i none = _mm512_setzero_si512();
  std::uint32_t first = _mm512_cmpeq_epi32_mask(_mm512_conflict_epi32(values.low), none);
  if (count <= 16) return static_cast<std::uint32_t>(std::popcount(first & valid));
  __mmask16 known = 0;
  const __m512i next = _mm512_set_epi32(0, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1);
  __m512i others = values.low;
  for (int i = 0; i < 16; ++i) {
    known |= _mm512_cmpeq_epi32_mask(values.high, others);
    others = _mm512_permutexvar_epi32(next, others);
  }
  std::uint32_t second = _mm512_cmpeq_epi32_mask(_mm512_conflict_epi32(values.high), none) &
                         static_cast<std::uint32_t>(static_cast<std::uint16_t>(~known));
  return static_cast<std::uint32_t>(std::popcount((first | second << 16) & valid));
}

/// Those of the lanes in `mask`, side by side.
KCHECK_PART Numbers packed(Numbers values, std::uint32_t mask) {
  const auto lower = static_cast<__mmask16>(mask), upper = static_cast<__mmask16>(mask >> 16);
  const __m512i position = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const int count = std::popcount(mask & 0xFFFF);
  const __m512i low = _mm512_maskz_compress_epi32(lower, values.low),
                high = _mm512_maskz_compress_epi32(upper, values.high);
  // Position p holds the (p - count)-th of the upper ones, which permutes count from 16.
  const __m512i behind = _mm512_add_epi32(position, _mm512_set1_epi32(16 - count));
  const __mmask16 fromLow = static_cast<__mmask16>((1u << count) - 1);
  return {_mm512_mask_permutex2var_epi32(low, static_cast<__mmask16>(~fromLow), behind, high),
          _mm512_permutexvar_epi32(behind, high)};
}

/// Of the addresses in `at`, each 64 bits of a lane.
KCHECK_PART bool sketchOf(const __m512i* at, std::uint32_t mask, std::uint32_t bytes, Address first,
                          RowSketch& row) {
  // As numbers of 32 bits from the middle of a range around the first one, whose start is that of a sector.
  const Address origin = (first & ~(kSector - 1)) - (Address{1} << 31);
  const __m512i from = _mm512_set1_epi64(static_cast<long long>(origin));
  const __m512i beyond = _mm512_set1_epi64(-(1LL << 32));
  __m512i near[4];
  std::uint32_t far = 0;
  for (int i = 0; i < 4; ++i) {
    near[i] = _mm512_sub_epi64(at[i], from);
    far |= static_cast<std::uint32_t>(_mm512_test_epi64_mask(near[i], beyond)) << 8 * i;
  }
  if (far & mask) return false;
  Numbers all{_mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(near[0])),
                                 _mm512_cvtepi64_epi32(near[1]), 1),
              _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(near[2])),
                                 _mm512_cvtepi64_epi32(near[3]), 1)};
  const auto count = static_cast<std::uint32_t>(std::popcount(mask));
  if (count != kWarpSize) all = packed(all, mask);
  const auto valid = static_cast<std::uint32_t>((std::uint64_t{1} << count) - 1);
  const std::uint32_t pairs = valid & ~1u;

  const __m512i step = _mm512_set_epi32(14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0);
  const Numbers before{_mm512_permutexvar_epi32(step, all.low), _mm512_alignr_epi32(all.high, all.low, 15)};
  const __m512i odd = _mm512_set1_epi32(static_cast<int>(bytes - 1)),
                apart = _mm512_set1_epi32(static_cast<int>(bytes)),
                sector = _mm512_set1_epi32(~static_cast<int>(kSector - 1));
  auto both = [](__mmask16 low, __mmask16 high) __attribute__((always_inline)) {
    return static_cast<std::uint32_t>(low) | static_cast<std::uint32_t>(high) << 16;
  };
  const std::uint32_t misaligned =
                          both(_mm512_test_epi32_mask(all.low, odd), _mm512_test_epi32_mask(all.high, odd)),
                      lower = both(_mm512_cmplt_epu32_mask(all.low, before.low),
                                   _mm512_cmplt_epu32_mask(all.high, before.high)),
                      differs = both(_mm512_cmpneq_epi32_mask(all.low, before.low),
                                     _mm512_cmpneq_epi32_mask(all.high, before.high)),
                      adjoins = both(_mm512_cmpeq_epi32_mask(_mm512_sub_epi32(all.low, before.low), apart),
                                     _mm512_cmpeq_epi32_mask(_mm512_sub_epi32(all.high, before.high), apart)),
                      moves = both(_mm512_test_epi32_mask(_mm512_xor_si512(all.low, before.low), sector),
                                   _mm512_test_epi32_mask(_mm512_xor_si512(all.high, before.high), sector));
  row.first = first;
  row.bytes = bytes;
  row.count = count;
  row.aligned = !(misaligned & valid);
  row.inRun = !(pairs & ~adjoins) || !(pairs & differs);
  if (!(lower & pairs)) {
    row.different = 1 + static_cast<std::uint32_t>(std::popcount(differs & pairs));
    row.sectors = 1 + static_cast<std::uint32_t>(std::popcount(moves & pairs));
    row.low = first;
    const __m512i end = count > 16 ? all.high : all.low;
    const __m512i last = _mm512_permutexvar_epi32(_mm512_set1_epi32(static_cast<int>(count - 1) & 15), end);
    row.high = origin + static_cast<std::uint32_t>(_mm512_cvtsi512_si32(last));
    return true;
  }
  const Numbers sectors{_mm512_and_si512(all.low, sector), _mm512_and_si512(all.high, sector)};
  row.sectors = countDifferent(sectors, count);
  row.different = row.sectors == count ? count : countDifferent(all, count);
  const auto lowHalf = static_cast<__mmask16>(valid), highHalf = static_cast<__mmask16>(valid >> 16);
  const __m512i least = _mm512_mask_min_epu32(all.low, highHalf, all.low, all.high),
                most = _mm512_mask_max_epu32(all.low, highHalf, all.low, all.high);
  row.low = origin + _mm512_mask_reduce_min_epu32(lowHalf, least);
  row.high = origin + _mm512_mask_reduce_max_epu32(lowHalf, most);
  return true;
}

KCHECK_CONFLICTS bool sketchWords(const Word* words, std::uint32_t mask, std::uint32_t bytes,
                                  RowSketch& row) {
  const __m512i bits = _mm512_set1_epi64(static_cast<long long>(kAddressBits));
  __m512i at[4];
  for (int i = 0; i < 4; ++i) at[i] = _mm512_and_si512(_mm512_loadu_si512(words + 8 * i), bits);
  return sketchOf(at, mask, bytes, words[std::countr_zero(mask)] & kAddressBits, row);
}

KCHECK_CONFLICTS bool sketchGroup(const Word* rows, const RowGroup& group, std::uint32_t number,
                                  std::uint32_t bytes, RowSketch& row) {
  const __m512i bits = _mm512_set1_epi64(static_cast<long long>(kAddressBits));
  const Word* start = rows + std::size_t{number} * abi::kLogLanes;
  __m512i at[4], lane = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
  for (int i = 0; i < 4; ++i) {
    const __m512i steps =
        _mm512_cvtepu16_epi64(_mm_loadu_si128(reinterpret_cast<const __m128i*>(group.row + 8 * i)));
    const __m512i index = _mm512_add_epi64(_mm512_slli_epi64(steps, 5), lane);
    const __m512i words = _mm512_mask_i64gather_epi64(
        _mm512_setzero_si512(), static_cast<__mmask8>(group.mask >> 8 * i), index, start, sizeof(Word));
    at[i] = _mm512_and_si512(words, bits);
    lane = _mm512_add_epi64(lane, _mm512_set1_epi64(8));
  }
  static_assert(abi::kLogLanes == 1 << 5);
  const auto first = static_cast<std::uint32_t>(std::countr_zero(group.mask));
  return sketchOf(at, group.mask, bytes,
                  start[std::size_t{group.row[first]} * abi::kLogLanes + first] & kAddressBits, row);
}

} // namespace

const bool sketchesWords = hasConflicts();

bool sketch(const Word* words, std::uint32_t mask, std::uint32_t bytes, RowSketch& row) {
  return sketchWords(words, mask, bytes, row);
}

bool sketch(const Word* rows, const RowGroup& group, std::uint32_t number, std::uint32_t bytes,
            RowSketch& row) {
  return sketchGroup(rows, group, number, bytes, row);
}

#else

const bool sketchesWords = false;

bool sketch(const Word*, std::uint32_t, std::uint32_t, RowSketch&) { return false; }
bool sketch(const Word*, const RowGroup&, std::uint32_t, std::uint32_t, RowSketch&) { return false; }

#endif

} // namespace kcheck::runtime
