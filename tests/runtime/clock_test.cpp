// What threads know of each other: raised and joined clocks against tables that are copied as a whole.
#include "instrument/runtime/core/clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace kcheck::runtime {
namespace {

/// Threads of blocks that are neighbours and of others, whole blocks, and words.
std::vector<std::uint64_t> keys() {
  std::vector<std::uint64_t> result;
  for (std::uint64_t block : {0u, 1u, 63u, 64u, 4096u}) {
    result.push_back(Clock::blockKey(block));
    for (std::uint32_t thread : {0u, 1u, 62u, 63u, 64u, 1023u})
      result.push_back(Clock::threadKey(block, thread));
  }
  for (Address word : {0x1000u, 0x1004u, 0x1100u, 0x100000u}) result.push_back(Clock::wordKey(word));
  return result;
}

TEST(Clock, SaysTheLatestOfAllThatItHasHeard) {
  const std::vector<std::uint64_t> all = keys();
  std::minstd_rand random(7);
  const auto below = [&](std::size_t count) { return std::size_t(random()) % count; };
  std::vector<Clock> clocks(8);
  std::vector<std::map<std::uint64_t, Token>> tables(clocks.size());
  for (unsigned step = 0; step < 4'000; ++step) {
    const std::size_t one = below(clocks.size()), other = below(clocks.size());
    switch (below(8)) {
    case 0:
      clocks[one].join(clocks[other]);
      for (const auto& [key, token] : tables[other]) tables[one][key] = std::max(tables[one][key], token);
      break;
    case 1:
      clocks[one] = clocks[other];
      tables[one] = tables[other];
      break;
    case 2:
      if (below(16)) break;
      clocks[one].clear();
      tables[one].clear();
      break;
    default: {
      const std::uint64_t key = all[below(all.size())];
      const Token token = Token(1 + below(1'000'000));
      clocks[one].raise(key, token);
      tables[one][key] = std::max(tables[one][key], token);
    }
    }
    for (std::uint64_t key : all) {
      const auto known = tables[one].find(key);
      ASSERT_EQ(clocks[one].at(key), known == tables[one].end() ? 0 : known->second) << "step " << step;
    }
  }
}

TEST(Clock, SharesItsTableWithOneThatSaysAllThatItSays) {
  Clock less, more;
  less.raise({{Clock::blockKey(3), 10}, {Clock::threadKey(3, 70), 20}});
  more.join(less);
  EXPECT_TRUE(more.sharesTableWith(less)) << "it knew nothing";
  more.raise(Clock::threadKey(5, 0), 30);
  EXPECT_FALSE(more.sharesTableWith(less));
  EXPECT_EQ(less.at(Clock::threadKey(5, 0)), 0u) << "what they share is not changed";
  less.join(more);
  EXPECT_TRUE(less.sharesTableWith(more));
}

TEST(Clock, CoversThreadsByTheirBlockAndByThemselves) {
  Clock clock;
  EXPECT_FALSE(clock.covers(2, 5, 1));
  clock.raise(Clock::threadKey(2, 5), 10);
  EXPECT_TRUE(clock.covers(2, 5, 10));
  EXPECT_FALSE(clock.covers(2, 5, 11));
  EXPECT_FALSE(clock.covers(2, 6, 10));
  clock.raise(Clock::blockKey(2), 40);
  EXPECT_TRUE(clock.covers(2, 6, 40));
}

} // namespace
} // namespace kcheck::runtime
