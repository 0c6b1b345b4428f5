// What a block remembers of tokens that come before it.
#include "instrument/runtime/core/epochs.h"

#include <gtest/gtest.h>

namespace kcheck::runtime {
namespace {

TEST(TokenRanges, HoldNothingAtFirst) {
  TokenRanges ranges;
  for (Token token : {Token{0}, kFirstToken, Token{1000}, kLastToken}) EXPECT_FALSE(ranges.holds(token));
}

TEST(TokenRanges, HoldWhatWasNotedToItsEnds) {
  TokenRanges ranges;
  ranges.note(1000, 990, 1010);
  EXPECT_TRUE(ranges.holds(1000));
  EXPECT_TRUE(ranges.holds(990));
  EXPECT_TRUE(ranges.holds(1009));
  EXPECT_FALSE(ranges.holds(1010));
  EXPECT_FALSE(ranges.holds(989));
  ranges.clear();
  EXPECT_FALSE(ranges.holds(1000));
}

TEST(TokenRanges, FarTokensOfOneSlotAreNotTakenForEachOther) {
  TokenRanges ranges;
  ranges.note(1000, 990, 1010);
  EXPECT_FALSE(ranges.holds(1000 + 64 * 64));
  ranges.note(1000 + 64 * 64, 1000 + 64 * 64, 1002 + 64 * 64);
  EXPECT_TRUE(ranges.holds(1001 + 64 * 64));
  EXPECT_FALSE(ranges.holds(1000)); // the later one has its place
}

TEST(Epochs, OwnersSayWhereTheirThreadsEnd) {
  Epochs epochs;
  const Token interval = epochs.takeInterval(3, 64), thread = epochs.takeThread(3, 5),
              warp = epochs.takeWarp(3, 1);
  EXPECT_EQ(epochs.ownerOf(interval + 2, 64).threadsEnd, interval + 128);
  EXPECT_EQ(epochs.ownerOf(thread, 64).threadsEnd, thread + 2);
  EXPECT_EQ(epochs.ownerOf(warp + 10, 64).threadsEnd, warp + 64);
  EXPECT_EQ(epochs.ownerOf(interval + 128, 64).thread, kWholeBlock);
}

} // namespace
} // namespace kcheck::runtime
