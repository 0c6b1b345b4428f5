// How the threads of a crew divide a launch among them: every block is run once, every line has one owner.
#include "instrument/runtime/core/block_range.h"
#include "instrument/runtime/core/line_owners.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace kcheck::runtime {
namespace {

TEST(BlockRange, GivesItsBlocksInOrderAndHalfOfTheRestAway) {
  BlockRange own, other;
  own.assign(10, 17);
  EXPECT_EQ(own.takeFirst(), 10u);
  EXPECT_EQ(own.count(), 6u);
  ASSERT_TRUE(other.takeHalfOf(own));
  EXPECT_EQ(other.count(), 3u);
  EXPECT_EQ(other.takeFirst(), 14u);
  EXPECT_EQ(own.takeFirst(), 11u);
}

TEST(BlockRange, GivesItsLastBlockToEither) {
  BlockRange own, other;
  own.assign(4, 5);
  ASSERT_TRUE(other.takeHalfOf(own));
  EXPECT_EQ(own.takeFirst(), std::nullopt);
  EXPECT_FALSE(own.takeHalfOf(own));
  EXPECT_EQ(other.takeFirst(), 4u);
  EXPECT_EQ(other.takeFirst(), std::nullopt);
}

TEST(BlockRange, GivesEachBlockOnceToManyThreads) {
  constexpr std::uint64_t blocks = 200'000, threads = 4;
  BlockRange ranges[threads];
  for (std::uint64_t i = 0; i < threads; ++i)
    ranges[i].assign(blocks * i / threads, blocks * (i + 1) / threads);
  std::vector<std::atomic<int>> runs(blocks);
  auto work = [&](std::uint64_t mine) {
    while (true) {
      while (auto block = ranges[mine].takeFirst()) ++runs[*block];
      bool any = false;
      for (std::uint64_t i = 1; i < threads && !any; ++i)
        any = ranges[mine].takeHalfOf(ranges[(mine + i) % threads]);
      if (!any) return;
    }
  };
  std::vector<std::thread> crew;
  for (std::uint64_t i = 0; i < threads; ++i) crew.emplace_back(work, i);
  for (std::thread& one : crew) one.join();
  EXPECT_TRUE(std::ranges::all_of(runs, [](const auto& count) { return count == 1; }));
}

TEST(LineOwners, KeepALineForTheFirstThatComes) {
  LineOwners owners;
  owners.meetLaunch();
  EXPECT_TRUE(owners.take(kArenaBase + 64, 0));
  EXPECT_TRUE(owners.take(kArenaBase + 127, 0));
  EXPECT_FALSE(owners.take(kArenaBase + 100, 1));
  EXPECT_TRUE(owners.take(kArenaBase + 128, 255));
  EXPECT_FALSE(owners.take(kArenaBase + 128, 0));
  owners.meetLaunch();
  EXPECT_TRUE(owners.take(kArenaBase + 100, 1));
  EXPECT_FALSE(owners.take(kArenaBase + 64, 0));
}

} // namespace
} // namespace kcheck::runtime
