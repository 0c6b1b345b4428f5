// The shapes of rows and their quick costs, against the careful count on random rows.
#include "instrument/runtime/core/row_sketch.h"
#include "instrument/runtime/core/rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <random>
#include <vector>

namespace kcheck::runtime {
namespace {

constexpr std::uint32_t kAll = ~std::uint32_t{0};

struct Row {
  Address addresses[32];
  std::uint32_t mask = kAll, bytes = 4;
};

bool same(const RequestCost& a, const RequestCost& b) {
  return a.sectors == b.sectors && a.idealSectors == b.idealSectors && a.bankWays == b.bankWays;
}

/// Shapes as kernels make them, with a random start, size and mask.
Row randomRow(std::mt19937& random, bool shared) {
  Row row;
  row.bytes = 1u << random() % 5;
  Address start = (shared ? kSharedBase : kArenaBase) + 4096 + random() % 64 * row.bytes;
  auto kind = random() % 7;
  Address stride = row.bytes * (1 + random() % 40), other = start + random() % 512 * row.bytes;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    Address& at = row.addresses[lane];
    switch (kind) {
    case 0: at = start + Address{lane} * row.bytes; break;
    case 1: at = start; break;
    case 2: at = start + lane * stride; break;
    case 3: at = lane < 16 ? start : other; break;
    case 4: at = (lane < 16 ? start : other) + Address{lane % 16} * row.bytes; break;
    case 5: at = start + (31 - Address{lane}) * stride; break;
    default: at = start + random() % 256 * row.bytes; break;
    }
  }
  if (random() % 2) row.mask = static_cast<std::uint32_t>(random()) | 1u << random() % 32;
  if (random() % 4 == 0) row.mask = (1u << (1 + random() % 31)) - 1;
  return row;
}

/// The addresses of the lanes in `mask` side by side, as the rows have them.
struct Packed {
  RowLanes lanes;
  Address at[32];
  RowClass shape;
  Packed(const Address* addresses, std::uint32_t mask, std::uint32_t bytes) : lanes(mask) {
    for (std::uint32_t i = 0; i < 32; ++i) at[i] = addresses[lanes.lane[std::min(i, lanes.count - 1)]];
    classify(shape, at, lanes, bytes);
  }
};

TEST(Rows, QuickCostsAreExact) {
  std::mt19937 random(5);
  for (int i = 0; i < 20000; ++i)
    for (bool shared : {false, true}) {
      Row row = randomRow(random, shared);
      RequestCost careful = shared ? costOfShared(row.addresses, row.mask, row.bytes)
                                   : costOfGlobal(row.addresses, row.mask, row.bytes);
      Packed packed(row.addresses, row.mask, row.bytes);
      RequestCost quick = costOfRow(packed.at, packed.lanes, row.bytes, shared, packed.shape);
      ASSERT_TRUE(same(quick, careful))
          << "row " << i << (shared ? " shared" : " global") << ", " << row.bytes << " bytes, mask "
          << std::hex << row.mask << std::dec << ": " << quick.sectors << "/" << careful.sectors
          << " sectors, " << quick.idealSectors << "/" << careful.idealSectors << " ideal, " << quick.bankWays
          << "/" << careful.bankWays << " ways";
    }
}

/// What the sketch of a row says of it at any distance, against the careful count.
void expectExact(const RowSketch& sketched, const Row& row, std::mt19937& random) {
  Address low = ~Address{0}, high = 0;
  for (std::uint32_t lane = 0; lane < 32; ++lane)
    if (row.mask >> lane & 1) {
      low = std::min(low, row.addresses[lane]);
      high = std::max(high, row.addresses[lane]);
    }
  ASSERT_EQ(sketched.low, low);
  ASSERT_EQ(sketched.high, high);
  ASSERT_EQ(sketched.first, row.addresses[std::countr_zero(row.mask)]);
  ASSERT_EQ(sketched.count, static_cast<std::uint32_t>(std::popcount(row.mask)));
  for (Address distance :
       {Address{0}, Address{32} * (random() % 64), Address{0} - row.bytes, Address{random() % 99}}) {
    Row moved = row;
    for (Address& at : moved.addresses) at += distance;
    bool aligned = true;
    for (std::uint32_t lane = 0; lane < 32; ++lane)
      aligned &= !(row.mask >> lane & 1) || moved.addresses[lane] % row.bytes == 0;
    if (!sketched.holdsAt(distance)) {
      ASSERT_FALSE(aligned && distance % kSector == 0);
      continue;
    }
    ASSERT_TRUE(aligned);
    RequestCost careful = costOfGlobal(moved.addresses, row.mask, row.bytes);
    RequestCost quick = sketched.costAt(distance);
    ASSERT_TRUE(same(quick, careful))
        << row.bytes << " bytes, mask " << std::hex << row.mask << std::dec << ": " << quick.sectors << "/"
        << careful.sectors << " sectors, " << quick.idealSectors << "/" << careful.idealSectors << " ideal";
  }
}

/// The sketches from the words of a log, whose lanes stand in one row of it or in several.
void expectSameOfWords(const Row& row, bool isTold, std::mt19937& random) {
  std::vector<Word> log(64 * abi::kLogLanes);
  for (Word& word : log) word = Word{random()} << 32 | random();
  const std::uint64_t segment = std::uint64_t{random() % 9} << 48;
  RowGroup group{};
  group.mask = row.mask;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    group.row[lane] = static_cast<std::uint16_t>(random() % 60);
    if (row.mask >> lane & 1) log[lane] = row.addresses[lane] | segment;
  }
  RowSketch sketched;
  ASSERT_EQ(sketch(log.data(), row.mask, row.bytes, sketched), isTold);
  if (isTold) expectExact(sketched, row, random);
  for (std::uint32_t lane = 0; lane < 32; ++lane)
    log[(group.row[lane] + 2u) * abi::kLogLanes + lane] = row.addresses[lane] | segment;
  ASSERT_EQ(sketch(log.data(), group, 2, row.bytes, sketched), isTold);
  if (isTold) expectExact(sketched, row, random);
}

TEST(Rows, SketchesAreExact) {
  std::mt19937 random(9);
  std::uint32_t told = 0;
  for (int i = 0; i < 20000; ++i) {
    Row row = randomRow(random, false);
    if (random() % 8 == 0) row.addresses[random() % 32] ^= Address{1} << random() % 36;
    const RowLanes lanes(row.mask);
    alignas(64) Address at[32];
    for (std::uint32_t i = 0; i < 32; ++i) at[i] = row.addresses[lanes.lane[i]];
    RowSketch sketched;
    const bool isTold = sketchLanes(at, lanes.count, row.bytes, sketched);
    told += isTold;
    if (isTold) expectExact(sketched, row, random);
    if (sketchesWords) expectSameOfWords(row, isTold, random);
    if (HasFatalFailure()) FAIL() << "row " << i;
  }
  EXPECT_GT(told, 15000u);
}

TEST(Rows, TurnsAtOneAddressAreCounted) {
  std::mt19937 random(6);
  for (int i = 0; i < 5000; ++i) {
    Row row = randomRow(random, false);
    std::map<Address, std::uint32_t> met;
    std::uint32_t most = 0;
    for (std::uint32_t lane = 0; lane < 32; ++lane)
      if (row.mask >> lane & 1) most = std::max(most, ++met[row.addresses[lane]]);
    ASSERT_EQ(turnsOf(row.addresses, row.mask), most) << "row " << i << ", mask " << std::hex << row.mask;
  }
}

TEST(Rows, ShapesAreTold) {
  Row row;
  for (std::uint32_t lane = 0; lane < 32; ++lane) row.addresses[lane] = kArenaBase + 4 * lane;
  EXPECT_EQ(Packed(row.addresses, kAll, 4).shape.shape, RowShape::Contiguous);
  EXPECT_EQ(Packed(row.addresses, 0xFF0, 4).shape.shape, RowShape::Contiguous);
  EXPECT_EQ(Packed(row.addresses, 0xFF1, 4).shape.shape, RowShape::Other) << "a gap between active lanes";
  EXPECT_EQ(Packed(row.addresses, kAll, 8).shape.shape, RowShape::Other) << "accesses overlap";
  for (std::uint32_t lane = 0; lane < 32; ++lane) row.addresses[lane] = kArenaBase + 4 * (lane % 16);
  EXPECT_EQ(Packed(row.addresses, kAll, 4).shape.shape, RowShape::Halves);
  for (Address& address : row.addresses) address = kArenaBase;
  EXPECT_EQ(Packed(row.addresses, kAll, 4).shape.shape, RowShape::Uniform);
}

} // namespace
} // namespace kcheck::runtime
