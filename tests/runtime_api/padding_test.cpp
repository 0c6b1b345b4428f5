// Which unwritten bytes of a copy are padding of structures, and which are words that somebody forgot.
#include "instrument/runtime/api/padding.h"

#include <gtest/gtest.h>

using namespace kcheck::runtime::api;

namespace {

/// The gaps of one element, repeated.
std::vector<Gap> repeated(std::vector<Gap> element, std::size_t period, std::size_t count) {
  std::vector<Gap> gaps;
  for (std::size_t i = 0; i < count; ++i)
    for (const Gap& gap : element) gaps.push_back({gap.begin + i * period, gap.end + i * period});
  return gaps;
}

TEST(Padding, OfStructuresIsRecognised) {
  EXPECT_TRUE(arePadding(repeated({{12, 16}}, 16, 100), 1600));       // double, int
  EXPECT_TRUE(arePadding(repeated({{1, 4}, {20, 24}}, 24, 10), 240)); // char, int, double, int
  EXPECT_TRUE(arePadding(repeated({{1, 2}}, 4, 50), 200));            // char, short
  EXPECT_TRUE(arePadding(repeated({{12, 16}}, 16, 1), 16));           // one structure alone
  EXPECT_TRUE(arePadding(repeated({{4, 16}}, 32, 8), 256));           // float, float4
}

TEST(Padding, ForgottenWordsAreNone) {
  EXPECT_FALSE(arePadding({{252, 256}}, 256)) << "the last of many";
  EXPECT_FALSE(arePadding(repeated({{4, 8}}, 8, 32), 256)) << "every other word: nothing needs the alignment";
  EXPECT_FALSE(arePadding(repeated({{0, 4}}, 16, 10), 160)) << "the first word of each element";
  EXPECT_FALSE(arePadding({{0, 8}}, 16)) << "a whole member";
  EXPECT_FALSE(arePadding({{12, 16}, {60, 64}}, 128)) << "not in every element";
  EXPECT_FALSE(arePadding({{3, 4}}, 300)) << "one byte of many";
}

} // namespace
