// Sectors, efficiency and bank ways: the cost of one row, and sums over whole launches, divergent ones
// included.
#include "device.h"

#include "instrument/runtime/core/metric_log.h"

#include <gtest/gtest.h>

namespace kcheck::test {
namespace {

using runtime::Address;
using runtime::costOfGlobal;
using runtime::costOfShared;

constexpr std::uint32_t kFull = ~0u;

std::vector<Address> rowOf(Address base, std::int64_t stride) {
  std::vector<Address> row(32);
  for (int lane = 0; lane < 32; ++lane) row[std::size_t(lane)] = base + Address(lane * stride);
  return row;
}

TEST(RowCost, StridesAndOffsets) {
  auto sectors = [](std::int64_t stride, Address base = 4096, std::uint32_t bytes = 4) {
    return costOfGlobal(rowOf(base, stride).data(), kFull, bytes).sectors;
  };
  EXPECT_EQ(sectors(4), 4u);
  EXPECT_EQ(sectors(8), 8u);
  EXPECT_EQ(sectors(16), 16u);
  EXPECT_EQ(sectors(32), 32u);
  EXPECT_EQ(sectors(128), 32u);
  EXPECT_EQ(sectors(0), 1u);
  EXPECT_EQ(sectors(-4, 8192 - 4), 4u);
  EXPECT_EQ(sectors(4, 4096 + 4), 5u);
  EXPECT_EQ(sectors(4, 4096 + 32), 4u);
  EXPECT_EQ(sectors(4, 4096 + 132), 5u);
  EXPECT_EQ(sectors(16, 4096, 16), 16u);
  EXPECT_EQ(sectors(8, 4096, 8), 8u);
  EXPECT_EQ(costOfGlobal(rowOf(4096, 16).data(), kFull, 4).idealSectors, 4u);
  EXPECT_EQ(costOfGlobal(rowOf(4096, 4).data(), 0xff, 4).sectors, 1u);
}

TEST(RowCost, BankWays) {
  auto ways = [](std::int64_t stride, std::uint32_t bytes = 4) {
    return costOfShared(rowOf(4096, stride).data(), kFull, bytes).bankWays;
  };
  EXPECT_EQ(ways(4), 1u);
  EXPECT_EQ(ways(8), 2u);
  EXPECT_EQ(ways(16), 4u);
  EXPECT_EQ(ways(128), 32u);
  EXPECT_EQ(ways(132), 1u);
  EXPECT_EQ(ways(0), 1u);
  EXPECT_EQ(ways(1, 1), 1u);
  EXPECT_EQ(ways(8, 8), 1u);   // two halves of the warp
  EXPECT_EQ(ways(16, 16), 1u); // four quarters
  EXPECT_EQ(ways(256, 8), 16u);
}

const wire::Metric* metricOf(const std::string& name, std::uint32_t site) {
  for (const auto* metric : records<wire::Metric>(wire::RecordKind::Metric))
    if (textAt(metric->kernel) == name && metric->site == site) return metric;
  return nullptr;
}

TEST(Metrics, DivergentGuardsAndLoops) {
  int *a = zeroedArray<int>(4096), *b = deviceArray<int>(4096);
  run(testName(), {{2}, {64}}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    std::uint32_t x = device.x();
    if (x % 2) device.read(a + x, 1);                                     // 16 lanes of each warp, 4 sectors
    device.write(b + device.global(), 1, 2);                              // full warps
    for (std::uint32_t i = 0; i < x % 4; ++i) device.read(a + 32 * i, 3); // lanes leave one after the other
    co_return;
  });
  const auto* odd = metricOf(testName(), 1);
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->requests, 4u);
  EXPECT_EQ(odd->sectors, 16u);
  EXPECT_EQ(odd->bytesRequested, 4u * 16 * 4);
  EXPECT_EQ(odd->idealSectors, 8u);
  const auto* full = metricOf(testName(), 2);
  ASSERT_TRUE(full);
  EXPECT_EQ(full->requests, 4u);
  EXPECT_EQ(full->sectors, 16u);
  const auto* loop = metricOf(testName(), 3);
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->requests, 12u);
  EXPECT_EQ(loop->lanes, 4u * (24 + 16 + 8));
}

TEST(Metrics, TransposeThroughATile) {
  constexpr std::uint32_t n = 64;
  int *in = zeroedArray<int>(n * n), *out = deviceArray<int>(n * n);
  run(testName(), {{2, 2}, {32, 8}, 32 * 32 * 4}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    int* tile = device.shared<int>();
    std::uint32_t tx = thread->threadIdx[0], ty = thread->threadIdx[1];
    std::uint32_t bx = thread->block->blockIdx[0] * 32, by = thread->block->blockIdx[1] * 32;
    for (std::uint32_t j = 0; j < 32; j += 8) {
      int value = device.read(in + (by + ty + j) * n + bx + tx, 1);
      device.write(tile + (ty + j) * 32 + tx, value, 2);
    }
    co_await device.barrier();
    for (std::uint32_t j = 0; j < 32; j += 8) {
      int value = device.read(tile + tx * 32 + ty + j, 3);
      device.write(out + (bx + ty + j) * n + by + tx, value, 4);
    }
  });
  EXPECT_EQ(metricOf(testName(), 1)->sectors, 4u * 128);
  EXPECT_EQ(metricOf(testName(), 1)->requests, 128u);
  EXPECT_EQ(metricOf(testName(), 4)->sectors, 4u * 128);
  EXPECT_EQ(metricOf(testName(), 2)->bankWays, 1u);
  EXPECT_EQ(metricOf(testName(), 3)->bankWays, 32u);
  EXPECT_TRUE(findingsOf(testName()).empty());
}

} // namespace
} // namespace kcheck::test
